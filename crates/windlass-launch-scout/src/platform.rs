//! Which platform a repository is for, and how it is laid out.
//!
//! A primary manifest scores 3, a secondary sign 1, each kind counted once. Below 2 nothing is
//! known; two families at 3 or more are `multi`. Only the outermost manifests count, so that a
//! documentation site's `package.json` does not make a Python library a Node one.

use std::collections::{BTreeMap, BTreeSet};

use crate::{
    kind::{depth, folder, is_docs_examples_or_tests, is_foreign, language, name},
    manifests::Manifest,
    tree::Tree,
};

/// A family, what marks it, and what hints at it. The order decides ties.
const FAMILIES: &[(&str, &[&str], &[&str])] = &[
    (
        "python",
        &["pyproject.toml", "setup.py", "setup.cfg"],
        &["requirements.txt", "Pipfile", "tox.ini", "environment.yml"],
    ),
    (
        "node",
        &["package.json"],
        &[
            "package-lock.json",
            "yarn.lock",
            "pnpm-lock.yaml",
            "tsconfig.json",
        ],
    ),
    (
        "dotnet",
        &["*.csproj", "*.fsproj", "*.vbproj", "*.sln"],
        &["global.json", "Directory.Build.props", "nuget.config"],
    ),
    (
        "java",
        &["pom.xml", "build.gradle", "build.gradle.kts"],
        &["settings.gradle", "settings.gradle.kts", "mvnw", "gradlew"],
    ),
    ("go", &["go.mod"], &["go.sum", "go.work"]),
    (
        "rust",
        &["Cargo.toml"],
        &["Cargo.lock", "rust-toolchain.toml", "rust-toolchain"],
    ),
    (
        "php",
        &["composer.json"],
        &["composer.lock", "phpunit.xml", "phpunit.xml.dist"],
    ),
    ("ruby", &["*.gemspec"], &["Gemfile", "Rakefile"]),
    (
        "cpp",
        &["CMakeLists.txt", "vcpkg.json", "meson.build"],
        &["conanfile.txt", "conanfile.py", "configure.ac"],
    ),
    ("swift", &["Package.swift"], &["Package.resolved"]),
];

/// What the manifests say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Platform {
    /// A family, `multi` or `unknown`.
    pub family: String,
    /// What a page is written for: the family's main language, or `other`.
    pub target: String,
    /// Points by family, for those that have any.
    pub scores: BTreeMap<&'static str, u32>,
}

fn is_named(path: &str, pattern: &str) -> bool {
    match pattern.strip_prefix('*') {
        Some(ending) => name(path).ends_with(ending),
        None => name(path) == pattern,
    }
}

/// Scores the families.
pub(crate) fn platform(tree: &Tree) -> Platform {
    let own = || {
        tree.files
            .keys()
            .map(String::as_str)
            .filter(|path| !is_foreign(path) && !is_docs_examples_or_tests(path))
    };
    let outermost = own()
        .filter(|path| is_primary(path))
        .map(depth)
        .min()
        .unwrap_or(0);
    let mut scores = BTreeMap::new();
    for (family, primary, secondary) in FAMILIES {
        let has = |pattern: &&&str| own().any(|p| depth(p) <= outermost && is_named(p, pattern));
        let points = 3 * primary.iter().filter(has).count() + secondary.iter().filter(has).count();
        if points > 0 {
            scores.insert(*family, u32::try_from(points).unwrap_or(u32::MAX));
        }
    }
    let ordered = FAMILIES
        .iter()
        .filter_map(|(family, _, _)| Some((*family, *scores.get(family)?)));
    let strong: Vec<&str> = ordered
        .clone()
        .filter(|(_, points)| *points >= 3)
        .map(|(family, _)| family)
        .collect();
    let best = ordered
        .filter(|(_, points)| *points >= 2)
        .fold(None, |best: Option<(&str, u32)>, next| match best {
            Some(best) if best.1 >= next.1 => Some(best),
            _ => Some(next),
        })
        .map(|(family, _)| family);
    let family = match (strong.as_slice(), best) {
        ([_, _, ..], _) => "multi",
        (_, Some(best)) => best,
        _ => "unknown",
    };
    let leading = if family == "multi" {
        strong.first().copied().unwrap_or("unknown")
    } else {
        family
    };
    Platform {
        family: family.to_owned(),
        target: target(tree, leading).to_owned(),
        scores,
    }
}

fn is_primary(path: &str) -> bool {
    FAMILIES
        .iter()
        .flat_map(|(_, primary, _)| primary.iter())
        .any(|pattern| is_named(path, pattern))
}

fn target(tree: &Tree, family: &str) -> &'static str {
    let count = |wanted: &[&str]| {
        tree.files
            .keys()
            .filter(|path| !is_foreign(path))
            .filter(|path| language(path).is_some_and(|found| wanted.contains(&found)))
            .count()
    };
    match family {
        "python" => "python",
        "node" if count(&["typescript", "tsx"]) > count(&["javascript"]) => "typescript",
        "node" => "javascript",
        "dotnet" => "dotnet",
        "java" if count(&["kotlin"]) > count(&["java"]) => "kotlin",
        "java" => "java",
        "go" => "go",
        "rust" => "rust",
        "php" => "php",
        "ruby" => "ruby",
        "cpp" => "cpp",
        "swift" => "swift",
        _ => "other",
    }
}

/// `{platform}_src_{manifest}`, `{platform}_flat_{manifest}`, or what stands for it.
pub(crate) fn archetype(tree: &Tree, platform: &Platform, manifests: &[Manifest]) -> String {
    let packages: BTreeSet<&str> = manifests
        .iter()
        .filter(|manifest| manifest.name.is_some() && depth(&manifest.path) > 0)
        .map(|manifest| folder(&manifest.path))
        .collect();
    // .NET keeps the one library in a folder of its own; that alone is no monorepo.
    if packages.len() >= 2 || (manifests.iter().any(|m| m.is_workspace) && !packages.is_empty()) {
        return "monorepo_multi_package".to_owned();
    }
    let has_source = tree
        .files
        .keys()
        .any(|path| language(path).is_some() && !is_foreign(path));
    if !has_source && manifests.is_empty() {
        let has_docs = tree.files.keys().any(|path| crate::kind::is_document(path));
        return if has_docs {
            "docs_only"
        } else {
            "mixed_unknown"
        }
        .to_owned();
    }
    let main = manifests
        .iter()
        .find(|manifest| manifest.platform == platform.family);
    let Some(main) = main else {
        return "mixed_unknown".to_owned();
    };
    let in_src = tree.files.keys().any(|path| {
        let below = path
            .strip_prefix(folder(&main.path))
            .unwrap_or(path)
            .trim_start_matches('/');
        (below.starts_with("src/") || path.starts_with("src/")) && language(path).is_some()
    });
    let layout = if in_src { "src" } else { "flat" };
    format!("{}_{layout}_{}", platform.family, manifest_word(&main.path))
}

fn manifest_word(path: &str) -> &'static str {
    match name(path) {
        "pyproject.toml" => "pyproject",
        "setup.py" => "setup_py",
        "setup.cfg" => "setup_cfg",
        "requirements.txt" => "requirements",
        "environment.yml" | "environment.yaml" => "conda",
        "package.json" => "package_json",
        "Cargo.toml" => "cargo",
        "go.mod" => "go_mod",
        "pom.xml" => "maven",
        "build.gradle" | "build.gradle.kts" => "gradle",
        "composer.json" => "composer",
        "CMakeLists.txt" => "cmake",
        "vcpkg.json" => "vcpkg",
        "Package.swift" => "swiftpm",
        other if other.ends_with(".gemspec") => "gemspec",
        _ => "msbuild",
    }
}

/// The folders sources lie in: what the layout calls for, else wherever most of them are.
pub(crate) fn source_roots(
    tree: &Tree,
    platform: &Platform,
    manifests: &[Manifest],
) -> Vec<String> {
    let usual: &[&str] = match platform.family.as_str() {
        "java" => &["src/main/java", "src/main/kotlin"],
        "node" => &["src", "lib"],
        "cpp" => &["src", "include"],
        "swift" => &["Sources"],
        "go" => &["pkg", "cmd"],
        "ruby" => &["lib"],
        _ => &["src"],
    };
    let mut roots = BTreeSet::new();
    for base in manifests.iter().map(|manifest| folder(&manifest.path)) {
        for part in usual {
            let root = if base.is_empty() {
                (*part).to_owned()
            } else {
                format!("{base}/{part}")
            };
            if tree.has_folder(&root) {
                roots.insert(root);
            }
        }
    }
    if platform.family == "python" && roots.is_empty() {
        roots.extend(
            tree.files
                .keys()
                .filter(|path| name(path) == "__init__.py" && depth(path) == 1)
                .filter(|path| !is_docs_examples_or_tests(path))
                .map(|path| folder(path).to_owned()),
        );
    }
    if roots.is_empty() {
        roots.extend(fullest_folder(tree));
    }
    roots.into_iter().collect()
}

/// The top folder with the most source files; `.` when they lie in the root.
fn fullest_folder(tree: &Tree) -> Option<String> {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for path in tree.files.keys() {
        if language(path).is_some() && !is_foreign(path) && !is_docs_examples_or_tests(path) {
            let top = path.split_once('/').map_or(".", |(top, _)| top);
            *counts.entry(top).or_default() += 1;
        }
    }
    let most = counts.values().max().copied()?;
    counts
        .into_iter()
        .find(|(_, count)| *count == most)
        .map(|(top, _)| top.to_owned())
}

/// What kind of product it is.
pub(crate) fn product_type(tree: &Tree, manifests: &[Manifest], product_name: &str) -> String {
    let name = product_name.to_ascii_lowercase();
    let says = |word: &str| {
        name.split(|c: char| !c.is_alphanumeric())
            .any(|part| part == word)
    };
    let has_library = manifests.iter().any(|manifest| manifest.has_library);
    let has_program = manifests.iter().any(|manifest| manifest.has_program);
    let runs_as_service = tree.files.keys().any(|path| {
        depth(path) == 0
            && (name_is(path, "docker-compose.yml")
                || name_is(path, "compose.yaml")
                || name_is(path, "Dockerfile"))
    });
    let kind = if says("sdk") {
        "sdk"
    } else if says("plugin") || says("extension") {
        "plugin"
    } else if says("cli") || (has_program && !has_library) {
        "cli"
    } else if runs_as_service && !has_library {
        "service"
    } else if has_library {
        "library"
    } else if has_program {
        "tool"
    } else {
        "other"
    };
    kind.to_owned()
}

fn name_is(path: &str, wanted: &str) -> bool {
    name(path) == wanted
}

#[cfg(test)]
#[path = "platform_tests.rs"]
mod tests;
