//! `snippet_catalog.json`: code of the repository that a page may show.
//!
//! In this order: example folders, fences of the README, fences of other documents, tests,
//! documentation comments. Nothing is generated and nothing is run; the syntax flag comes from
//! the parser.

use std::collections::BTreeSet;

use windlass_launch_model::{
    Snippet, SnippetCatalog,
    ids::slug,
    snippet::{SnippetSource, SnippetValidation},
};
use windlass_types::Digest;

use crate::{
    SCHEMA_VERSION,
    addressed::{code_gives_orders, is_for_programs},
    api::{Doc, Symbol},
    collect::Symbols,
    formats,
    input::ScoutInput,
    kind::{Use, is_markdown, language, name, use_of},
    markdown::{Block, BlockKind, blocks},
    secret::is_leaking,
    syntax::{canonical, check},
    tree::Tree,
    words::words,
};

/// No more snippets than this.
const MOST: usize = 500;

const FEWEST_LINES: usize = 3;
const MOST_LINES: usize = 500;

/// At least this share of the lines is code, in hundredths.
const CODE_SHARE: usize = 40;

/// What code is shown for, by the words near it.
const TOPICS: &[(&str, &[&str])] = &[
    ("install", &["install", "installation", "setup"]),
    (
        "quickstart",
        &[
            "quickstart",
            "quick",
            "getting",
            "started",
            "hello",
            "basic",
            "simple",
        ],
    ),
    (
        "configuration",
        &[
            "configure",
            "configuration",
            "config",
            "settings",
            "options",
        ],
    ),
    ("create", &["create", "new", "build", "generate"]),
    (
        "read",
        &["read", "open", "load", "parse", "import", "extract"],
    ),
    ("write", &["write", "save", "export", "output"]),
    ("convert", &["convert", "conversion", "transform"]),
    ("render", &["render", "draw", "print", "display"]),
    ("search", &["search", "find", "query", "filter"]),
    ("async", &["async", "await", "concurrent", "parallel"]),
    ("error-handling", &["error", "errors", "exception", "retry"]),
    (
        "authentication",
        &["auth", "authentication", "login", "token", "credentials"],
    ),
];

struct Candidate<'a> {
    origin: &'static str,
    language: String,
    path: &'a str,
    start: u64,
    end: u64,
    code: String,
    /// What stands around it, for tags.
    about: String,
}

/// Collects the catalogue.
pub(crate) fn catalog(tree: &Tree, symbols: &Symbols, input: &ScoutInput) -> SnippetCatalog {
    let mut candidates = Vec::new();
    for (path, text) in tree.texts() {
        if use_of(path, input) == Use::Example
            && let Some(language) = language(path)
        {
            let lines = text.lines().count() as u64;
            candidates.push(Candidate {
                origin: "example",
                language: language.to_owned(),
                path,
                start: 1,
                end: lines,
                code: text.to_owned(),
                about: name(path).to_owned(),
            });
        }
    }
    for (usage, origin) in [(Use::Readme, "readme"), (Use::Docs, "docs")] {
        for (path, text) in tree.texts() {
            if use_of(path, input) == usage && is_markdown(path) {
                candidates.extend(
                    blocks(text)
                        .iter()
                        .filter_map(|block| fence(block, origin, path)),
                );
            }
        }
    }
    for (path, symbols) in symbols {
        if use_of(path, input) == Use::Test
            && let (Some(text), Some(language)) = (tree.text(path), language(path))
        {
            let lines: Vec<&str> = text.lines().collect();
            candidates.extend(
                symbols
                    .iter()
                    .filter(|symbol| symbol.is_test)
                    .filter_map(|symbol| test(symbol, &lines, language, path)),
            );
        }
    }
    for (path, symbols) in symbols {
        if use_of(path, input) == Use::Source
            && let Some(language) = language(path)
        {
            for symbol in symbols.iter().filter(|symbol| symbol.is_public) {
                if let Some(doc) = &symbol.doc {
                    candidates.extend(from_doc(doc, symbol, language, path));
                }
            }
        }
    }
    let mut seen = BTreeSet::new();
    let mut snippets = Vec::new();
    for candidate in candidates {
        if snippets.len() == MOST {
            break;
        }
        // Neither is ever shown, and a catalogue is kept and read by others.
        if is_leaking(&candidate.code) || code_gives_orders(&candidate.code) {
            continue;
        }
        let Some(snippet) = finish(candidate) else {
            continue;
        };
        // The same code twice teaches nothing; the better source came first.
        if seen.insert((snippet.language.clone(), snippet.code.clone())) {
            snippets.push(snippet);
        }
    }
    SnippetCatalog {
        schema_version: SCHEMA_VERSION.to_owned(),
        snippets,
    }
}

fn fence<'a>(block: &Block, origin: &'static str, path: &'a str) -> Option<Candidate<'a>> {
    let BlockKind::Fence(info) = &block.kind else {
        return None;
    };
    let language = fence_language(info).filter(|_| !is_for_programs(&block.heading))?;
    let code: Vec<&str> = block.lines.iter().map(|(_, line)| line.as_str()).collect();
    Some(Candidate {
        origin,
        language,
        path,
        start: block.lines.first()?.0,
        end: block.lines.last()?.0,
        code: code.join("\n"),
        about: block.heading.clone(),
    })
}

/// The one name of a language that fences call by several; `None` for what is no code.
fn fence_language(info: &str) -> Option<String> {
    let language = canonical(info);
    let is_code = !matches!(
        language.as_str(),
        "" | "text" | "output" | "diff" | "mermaid" | "log" | "markdown" | "md"
    );
    is_code.then_some(language)
}

fn test<'a>(
    symbol: &Symbol,
    lines: &[&str],
    language: &str,
    path: &'a str,
) -> Option<Candidate<'a>> {
    let from = usize::try_from(symbol.line.checked_sub(1)?).ok()?;
    let to = usize::try_from(symbol.end).ok()?;
    Some(Candidate {
        origin: "test",
        language: language.to_owned(),
        path,
        start: symbol.line,
        end: symbol.end,
        code: dedent(lines.get(from..to)?),
        about: symbol.name.clone(),
    })
}

/// Lines without the white space they all begin with.
fn dedent(lines: &[&str]) -> String {
    let margin = lines
        .iter()
        .filter(|line| !line.trim().is_empty())
        .map(|line| line.len() - line.trim_start_matches([' ', '\t']).len())
        .min()
        .unwrap_or(0);
    let cut: Vec<&str> = lines
        .iter()
        .map(|line| line.get(margin..).unwrap_or_default())
        .collect();
    cut.join("\n")
}

/// The fences of a documentation comment, and Python's prompts.
fn from_doc<'a>(doc: &Doc, symbol: &Symbol, language: &str, path: &'a str) -> Vec<Candidate<'a>> {
    let candidate = |lines: &[(u64, String)], language: &str| {
        let code: Vec<&str> = lines.iter().map(|(_, line)| line.as_str()).collect();
        Some(Candidate {
            origin: "docstring",
            language: language.to_owned(),
            path,
            start: lines.first()?.0,
            end: lines.last()?.0,
            code: dedent(&code),
            about: symbol.name.clone(),
        })
    };
    let mut found = Vec::new();
    let mut open: Option<(String, Vec<(u64, String)>)> = None;
    let mut prompts: Vec<(u64, String)> = Vec::new();
    for (number, line) in &doc.lines {
        let trimmed = line.trim_start();
        if let Some(info) = trimmed.strip_prefix("```") {
            match open.take() {
                Some((language, lines)) => found.extend(candidate(&lines, &language)),
                None => {
                    let info = info.split([',', ' ']).next().unwrap_or_default();
                    // In Rust a fence without a language, or with one of its flags, is Rust.
                    let named = match info {
                        "" | "no_run" | "ignore" | "should_panic" | "compile_fail" => {
                            language.to_owned()
                        }
                        info => fence_language(info).unwrap_or_else(|| "text".to_owned()),
                    };
                    open = Some((named, Vec::new()));
                }
            }
        } else if let Some((_, lines)) = &mut open {
            // rustdoc hides lines that begin with `# `.
            if language != "rust" || !(trimmed == "#" || trimmed.starts_with("# ")) {
                lines.push((*number, line.clone()));
            }
        } else if language == "python" {
            let prompt = trimmed
                .strip_prefix(">>> ")
                .or_else(|| trimmed.strip_prefix("... "));
            match prompt {
                Some(code) => prompts.push((*number, code.to_owned())),
                None if trimmed.is_empty() => {
                    found.extend(candidate(&std::mem::take(&mut prompts), language));
                }
                None => {}
            }
        }
    }
    found.extend(candidate(&prompts, language));
    found
}

fn finish(candidate: Candidate<'_>) -> Option<Snippet> {
    let code = candidate.code.trim_end();
    let count = code.lines().count();
    if !(FEWEST_LINES..=MOST_LINES).contains(&count)
        || code_lines(code, &candidate.language) * 100 < count * CODE_SHARE
    {
        return None;
    }
    let Candidate {
        origin,
        language,
        path,
        start,
        end,
        about,
        ..
    } = candidate;
    let id = format!("{code}|{language}|{path}|{start}-{end}");
    Some(Snippet {
        snippet_id: Digest::of(id.as_bytes()).to_string(),
        tags: tags(&about, code, &language, origin),
        requirements: requirements(code, &language),
        validation: SnippetValidation {
            syntax_ok: check(&language, code).ok(),
        },
        code: code.to_owned(),
        language,
        source: SnippetSource {
            r#type: origin.to_owned(),
            path: path.to_owned(),
            start_line: start,
            end_line: end,
        },
    })
}

/// Lines that are neither blank nor only a comment.
fn code_lines(code: &str, language: &str) -> usize {
    let marks: &[&str] = match language {
        "python" | "ruby" | "bash" | "yaml" | "toml" => &["#"],
        _ => &["//", "/*", "*"],
    };
    code.lines()
        .map(str::trim)
        .filter(|line| !line.is_empty() && !marks.iter().any(|mark| line.starts_with(mark)))
        .count()
}

fn tags(about: &str, code: &str, language: &str, origin: &str) -> Vec<String> {
    let near: BTreeSet<String> = words(about)
        .flat_map(|word| {
            word.split(['_', '.', '-'])
                .map(str::to_owned)
                .collect::<Vec<_>>()
        })
        .collect();
    let mut found: BTreeSet<String> = TOPICS
        .iter()
        .filter(|(_, words)| words.iter().any(|word| near.contains(*word)))
        .map(|(topic, _)| (*topic).to_owned())
        .collect();
    let installs = found.contains("install");
    let is_shell = matches!(language, "bash" | "console" | "powershell");
    if origin != "test" && !(installs && is_shell) {
        found.insert("example".to_owned());
    }
    // A fence shows the way of working that its heading names.
    if matches!(origin, "readme" | "docs") {
        found.extend(Some(slug(about)).filter(|name| !name.is_empty()));
        found.extend(installs.then(|| "installation".to_owned()));
    }
    found.insert(language.to_owned());
    found.extend(
        formats::named(about)
            .into_iter()
            .chain(formats_in_names(code))
            .map(|format| slug(&format)),
    );
    found.into_iter().collect()
}

/// The formats of the file names a piece of code has in quotes.
fn formats_in_names(code: &str) -> BTreeSet<String> {
    code.lines()
        .flat_map(|line| line.split(['"', '\'']).skip(1).step_by(2))
        .filter_map(|quoted| quoted.rsplit_once('.'))
        .flat_map(|(_, ending)| formats::named(&format!(".{ending}")))
        .collect()
}

/// The packages and modules code names as its needs, sorted.
fn requirements(code: &str, language: &str) -> Vec<String> {
    let mut found = BTreeSet::new();
    for line in code.lines() {
        let line = line.trim();
        let named = match language {
            "python" => line
                .strip_prefix("import ")
                .or_else(|| line.strip_prefix("from "))
                .and_then(|rest| rest.split([' ', '.', ',']).next()),
            "javascript" | "typescript" | "tsx"
                if line.contains("require(") || line.starts_with("import ") =>
            {
                line.split(['"', '\'']).nth_back(1)
            }
            "rust" => line
                .strip_prefix("use ")
                .and_then(|rest| rest.split([':', ';', ' ']).next()),
            "java" => line
                .strip_prefix("import ")
                .map(|rest| rest.trim_start_matches("static ").trim_end_matches(';')),
            "csharp" => line
                .strip_prefix("using ")
                .filter(|rest| rest.ends_with(';') && !rest.contains(['=', '(', ' ']))
                .map(|rest| rest.trim_end_matches(';')),
            _ => None,
        };
        found.extend(named.filter(|name| !name.is_empty()).map(str::to_owned));
    }
    found.into_iter().collect()
}

#[cfg(test)]
#[path = "snippets_tests.rs"]
mod tests;
