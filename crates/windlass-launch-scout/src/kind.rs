//! What a path says about a file: its language, and whether it is documentation, an example, a
//! test or source. Looks at names alone.

pub(crate) use windlass_launch_model::site_path::folder;

use crate::input::ScoutInput;

/// File name endings and the language they mean, as a fence names it.
const LANGUAGES: &[(&str, &str)] = &[
    ("py", "python"),
    ("pyi", "python"),
    ("js", "javascript"),
    ("mjs", "javascript"),
    ("cjs", "javascript"),
    ("jsx", "javascript"),
    ("ts", "typescript"),
    ("mts", "typescript"),
    ("cts", "typescript"),
    ("tsx", "tsx"),
    ("rs", "rust"),
    ("go", "go"),
    ("java", "java"),
    ("cs", "csharp"),
    ("kt", "kotlin"),
    ("kts", "kotlin"),
    ("swift", "swift"),
    ("rb", "ruby"),
    ("php", "php"),
    ("c", "c"),
    ("h", "c"),
    ("cc", "cpp"),
    ("cpp", "cpp"),
    ("cxx", "cpp"),
    ("hpp", "cpp"),
    ("scala", "scala"),
    ("vb", "vb"),
    ("fs", "fsharp"),
    ("sh", "bash"),
    ("ps1", "powershell"),
];

/// Folders of examples.
const EXAMPLES: &[&str] = &["example", "examples", "sample", "samples", "demo", "demos"];
/// Folders of documentation.
const DOCS: &[&str] = &["doc", "docs", "documentation", "guide", "guides", "manual"];
/// Folders of tests.
const TESTS: &[&str] = &["test", "tests", "__tests__", "spec", "specs", "testdata"];
/// Folders of other people's code, or of what a build made.
const FOREIGN: &[&str] = &[
    "node_modules",
    "vendor",
    "third_party",
    "thirdparty",
    "dist",
    "build",
    "target",
    "bin",
    "obj",
    ".venv",
    "venv",
    "site-packages",
];
/// Documents about the project, which say nothing of what the product does.
const PROJECT_NOTES: &[&str] = &[
    "changelog",
    "changes",
    "history",
    "news",
    "releases",
    "contributing",
    "code_of_conduct",
    "code-of-conduct",
    "security",
    "governance",
    "maintainers",
    "authors",
    "contributors",
    "license",
    "licence",
    "notice",
    "support",
    "pull_request_template",
    "issue_template",
    "todo",
    "roadmap",
];

/// What a file is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Use {
    Example,
    Readme,
    Docs,
    Test,
    Source,
    /// Nothing that is read for facts.
    Other,
}

/// The last component of a path.
pub(crate) fn name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// The ending of a file's name, lower-case.
pub(crate) fn extension(path: &str) -> String {
    let name = name(path);
    match name.rsplit_once('.') {
        Some((stem, ending)) if !stem.is_empty() => ending.to_ascii_lowercase(),
        _ => String::new(),
    }
}

/// How deep a file lies; 0 in the root.
pub(crate) fn depth(path: &str) -> usize {
    path.matches('/').count()
}

/// Whether a path is a folder's or lies below it, by whole components.
pub(crate) fn is_below(path: &str, folder: &str) -> bool {
    let folder = folder.trim_start_matches("./").trim_end_matches('/');
    if folder.is_empty() || folder == "." {
        return true;
    }
    path.strip_prefix(folder)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// The language of a file.
pub(crate) fn language(path: &str) -> Option<&'static str> {
    let ending = extension(path);
    LANGUAGES
        .iter()
        .find(|(known, _)| *known == ending)
        .map(|(_, language)| *language)
}

/// Whether a dotted name is a file's and not a member's: it ends like one.
pub(crate) fn is_file_name(name: &str) -> bool {
    const OTHERS: &[&str] = &[
        "cfg", "conf", "config", "css", "csv", "env", "gif", "gz", "htm", "html", "ini", "ipynb",
        "jpeg", "jpg", "json", "jsonl", "lock", "log", "ndjson", "pdf", "png", "sql", "sqlite",
        "svg", "tar", "toml", "tsv", "xml", "yaml", "yml", "zip",
    ];
    let ending = extension(name);
    OTHERS.contains(&ending.as_str()) || language(name).is_some() || is_document(name)
}

/// Whether a file is a text people read.
pub(crate) fn is_document(path: &str) -> bool {
    matches!(
        extension(path).as_str(),
        "md" | "markdown" | "mdx" | "rst" | "txt"
    ) || is_readme(path)
}

/// Whether a file is Markdown.
pub(crate) fn is_markdown(path: &str) -> bool {
    matches!(extension(path).as_str(), "md" | "markdown" | "mdx")
        || (is_readme(path) && extension(path).is_empty())
}

/// Whether a file is a README.
pub(crate) fn is_readme(path: &str) -> bool {
    stem(path) == "readme"
}

/// A file's name without its ending, lower-case.
pub(crate) fn stem(path: &str) -> String {
    let name = name(path).to_ascii_lowercase();
    match name.split_once('.') {
        Some((stem, _)) if !stem.is_empty() => stem.to_owned(),
        _ => name,
    }
}

/// Whether a document describes the project and not the product.
pub(crate) fn is_project_note(path: &str) -> bool {
    let stem = stem(path);
    PROJECT_NOTES.contains(&stem.as_str()) || path.starts_with(".github/")
}

fn has_folder(path: &str, names: &[&str]) -> bool {
    folder(path)
        .split('/')
        .any(|part| names.contains(&part.to_ascii_lowercase().as_str()))
}

/// Whether a file is third-party, or produced by a build.
pub(crate) fn is_foreign(path: &str) -> bool {
    has_folder(path, FOREIGN)
}

/// Whether a file lies among documentation, examples or tests.
pub(crate) fn is_docs_examples_or_tests(path: &str) -> bool {
    has_folder(path, EXAMPLES) || has_folder(path, DOCS) || has_folder(path, TESTS)
}

/// Whether a name is one of a folder of examples.
pub(crate) fn names_examples(part: &str) -> bool {
    EXAMPLES.contains(&part.to_ascii_lowercase().as_str())
}

/// Whether a name is one of a folder of documentation.
pub(crate) fn names_docs(part: &str) -> bool {
    DOCS.contains(&part.to_ascii_lowercase().as_str())
}

fn is_test(path: &str) -> bool {
    let name = name(path);
    has_folder(path, TESTS)
        || name.starts_with("test_")
        || ["_test.py", "_test.go", "_tests.rs", "Test.java", "Tests.cs"]
            .iter()
            .any(|ending| name.ends_with(ending))
        || [".test.", ".spec."].iter().any(|part| name.contains(part))
}

/// What the outermost folder says that says anything: `tests/x/docs/y.md` belongs to the tests,
/// `docs/examples/x.md` to the documentation.
fn outermost(path: &str) -> Option<Use> {
    let mut in_source = false;
    folder(path).split('/').find_map(|part| {
        let part = part.to_ascii_lowercase();
        let names = |names: &[&str]| names.contains(&part.as_str());
        in_source |= part == "src";
        if names(DOCS) {
            Some(Use::Docs)
        } else if names(EXAMPLES) && (!in_source || part.starts_with("example")) {
            // Among sources, a folder called "demo" is the code of a demo command.
            Some(Use::Example)
        } else if names(TESTS) {
            Some(Use::Test)
        } else {
            None
        }
    })
}

/// What a file is for.
pub(crate) fn use_of(path: &str, input: &ScoutInput) -> Use {
    if is_foreign(path) {
        return Use::Other;
    }
    let outer = outermost(path);
    if is_document(path) {
        if is_project_note(path) {
            return Use::Other;
        }
        if is_readme(path) && depth(path) == 0 {
            return Use::Readme;
        }
        let mut hinted = input.config.repo_hints.preferred_docs_roots.iter();
        if outer == Some(Use::Docs) || hinted.any(|folder| is_below(path, folder)) {
            return Use::Docs;
        }
        let is_markup = matches!(extension(path).as_str(), "md" | "markdown" | "mdx" | "rst");
        return if is_markup && depth(path) == 0 && !is_test(path) {
            Use::Docs
        } else {
            Use::Other
        };
    }
    if language(path).is_none() {
        return Use::Other;
    }
    let is_example = input.example_folders().any(|folder| is_below(path, folder));
    match outer {
        _ if is_example => Use::Example,
        Some(Use::Docs) if has_folder(path, EXAMPLES) => Use::Example,
        Some(Use::Docs) => Use::Other,
        Some(Use::Example) => Use::Example,
        _ if is_test(path) => Use::Test,
        _ => Use::Source,
    }
}

/// Whether anything reads a file of this name.
pub(crate) fn wants_text(path: &str) -> bool {
    if language(path).is_some() || is_document(path) {
        return true;
    }
    let name = name(path);
    matches!(
        extension(path).as_str(),
        "toml"
            | "json"
            | "yaml"
            | "yml"
            | "xml"
            | "csproj"
            | "fsproj"
            | "vbproj"
            | "nuspec"
            | "props"
            | "gradle"
            | "gemspec"
            | "cfg"
            | "mod"
    ) || matches!(name, "CMakeLists.txt" | "LICENSE" | "LICENCE" | "COPYING")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_outermost_folder_decides_what_a_file_is_for() {
        for (path, expected) in [
            ("README.md", Use::Readme),
            ("docs/usage.md", Use::Docs),
            ("crates/acme/docs/usage.md", Use::Docs),
            ("docs/examples/usage.md", Use::Docs),
            ("docs/examples/usage.py", Use::Example),
            ("docs/conf.py", Use::Other),
            ("tests/products/other/docs/usage.md", Use::Other),
            ("crates/acme/tests/products/docs/usage.md", Use::Other),
            ("examples/launch/docs/usage.md", Use::Other),
            ("tests/products/other/examples/a.py", Use::Test),
            ("tests/products/other/src/a.py", Use::Test),
            ("examples/a.py", Use::Example),
            ("examples/tests/a.py", Use::Example),
            ("crates/cli/src/demo/apply.rs", Use::Source),
            ("src/examples/a.py", Use::Example),
            ("src/test_a.py", Use::Test),
            ("src/a.py", Use::Source),
            ("vendor/docs/usage.md", Use::Other),
            ("CHANGELOG.md", Use::Other),
        ] {
            assert_eq!(use_of(path, &crate::test_input()), expected, "{path}");
        }
    }
}
