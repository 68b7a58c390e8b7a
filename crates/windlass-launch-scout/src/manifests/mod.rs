//! Package manifests: who the product is, what it needs, how it is installed. One file per
//! ecosystem.
//!
//! Manifests are data here. The ones that are programs (`setup.py`, Gradle, gemspec, CMake,
//! `Package.swift`) are searched for literal values and never run.

mod cargo;
mod cpp;
mod dotnet;
mod go;
mod java;
mod literal;
mod node;
mod php;
mod python;
mod ruby;
mod swift;

use std::collections::BTreeSet;

use windlass_launch_model::ids::slug;

use crate::{
    input::ScoutInput,
    kind::{depth, extension, folder, is_below, is_docs_examples_or_tests, is_foreign, name},
    tree::Tree,
};

/// A value and the lines it was read in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Located {
    pub text: String,
    pub start: u64,
    pub end: u64,
}

/// A runtime the product needs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Requirement {
    /// As a reader knows it, e.g. `Python`.
    pub runtime: &'static str,
    /// As the manifest has it, e.g. `>=3.10`.
    pub spec: Located,
}

/// What one manifest says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Manifest {
    pub path: String,
    /// A platform family.
    pub platform: &'static str,
    /// What builds it, e.g. `cargo`.
    pub build_system: String,
    /// How it is published, e.g. `pip`.
    pub method: &'static str,
    pub name: Option<Located>,
    pub version: Option<Located>,
    pub description: Option<Located>,
    pub license: Option<Located>,
    /// Names alone, in the order of the manifest.
    pub dependencies: Vec<String>,
    pub runtimes: Vec<Requirement>,
    pub install: Option<String>,
    pub has_program: bool,
    pub has_library: bool,
    /// It only gathers other packages.
    pub is_workspace: bool,
    /// It says that it is in no public registry.
    pub is_private: bool,
    /// Whether it is private is said by the workspace it belongs to.
    pub inherits_privacy: bool,
    /// Files that define what is public, relative to the repository.
    pub entrypoints: Vec<String>,
    pub test_command: Option<String>,
}

/// Every manifest of the product, the outermost first, and the ones that cannot be read.
pub(crate) fn all(tree: &Tree) -> (Vec<Manifest>, Vec<String>) {
    let mut found = Vec::new();
    let mut broken = Vec::new();
    for (path, text) in tree.texts() {
        if is_foreign(path) || is_docs_examples_or_tests(path) {
            continue;
        }
        match read(path, text) {
            Some(Ok(manifest)) => found.push(manifest),
            Some(Err(())) => broken.push(path.to_owned()),
            None => {}
        }
    }
    let private: Vec<String> = found
        .iter()
        .filter(|manifest| manifest.is_workspace && manifest.is_private)
        .map(|manifest| folder(&manifest.path).to_owned())
        .collect();
    for manifest in &mut found {
        manifest.is_private |=
            manifest.inherits_privacy && private.iter().any(|root| is_below(&manifest.path, root));
        if manifest.is_private {
            manifest.install = None;
        }
    }
    found.sort_by(|left, right| {
        (depth(&left.path), &left.path).cmp(&(depth(&right.path), &right.path))
    });
    (found, broken)
}

/// The manifests that describe the product, the outermost first: of each platform the outermost,
/// and of several packages the ones that have the product's name. A workspace stands in for what
/// its packages inherit.
pub(crate) fn speaking<'a>(manifests: &'a [Manifest], input: &ScoutInput) -> Vec<&'a Manifest> {
    let named = |manifest: &&Manifest| manifest.name.is_some();
    let mut found: Vec<&Manifest> = Vec::new();
    let platforms: BTreeSet<&str> = manifests.iter().map(|one| one.platform).collect();
    for platform in platforms {
        let of_platform = || manifests.iter().filter(|one| one.platform == platform);
        let Some(outermost) = of_platform().find(named) else {
            continue;
        };
        let level = depth(&outermost.path);
        let sibling: Vec<&Manifest> = of_platform()
            .filter(|one| depth(&one.path) == level)
            .collect();
        let packages = sibling.iter().copied().filter(named).count();
        let is_gathering = packages > 1 || of_platform().any(|one| one.is_workspace);
        let own = || of_platform().filter(|one| is_gathering && bears_name(one, input));
        let chosen: Vec<&Manifest> = match own().map(|one| depth(&one.path)).min() {
            Some(nearest) => own().filter(|one| depth(&one.path) == nearest).collect(),
            None => sibling,
        };
        let is_around = |root: &&Manifest| {
            let around = folder(&root.path);
            let mut inside = chosen.iter().filter(|one| one.path != root.path);
            root.is_workspace && inside.any(|one| is_below(&one.path, around))
        };
        found.extend(of_platform().filter(is_around));
        found.extend(chosen);
    }
    found.sort_by(|left, right| {
        (depth(&left.path), &left.path).cmp(&(depth(&right.path), &right.path))
    });
    found.dedup_by(|next, first| next.path == first.path);
    found
}

/// Whether a package is called like the product or its repository.
fn bears_name(manifest: &Manifest, input: &ScoutInput) -> bool {
    let config = &input.config;
    let repository = config.github_repo_url.trim_end_matches('/');
    let repository = repository.trim_end_matches(".git").rsplit('/').next();
    let names = [&config.product_name, &config.product_slug, &config.family]
        .map(|name| slug(name))
        .into_iter()
        .chain(repository.map(slug));
    let own = manifest.name.as_ref().map(|name| {
        let last = name.text.rsplit(['/', ':']).next().unwrap_or(&name.text);
        slug(last)
    });
    own.is_some_and(|own| names.into_iter().any(|name| name == own))
}

/// Whether a version, or a command with one, is of a build that was never released.
pub(crate) fn is_snapshot(text: &str) -> bool {
    let lower = text.to_lowercase();
    let is_number = |part: &str| part.starts_with(|c: char| c.is_ascii_digit());
    lower.contains("-snapshot")
        || lower.split([' ', '=', ':', '@']).any(|word| {
            let word = word.trim_matches(['"', '\'']).trim_start_matches('v');
            is_number(word)
                && (word.contains(".dev") || word.contains("-dev") || word.contains("-nightly"))
        })
}

/// Reads one file, if it is a manifest; `Err` if it is one and cannot be read.
pub(crate) fn read(path: &str, text: &str) -> Option<Result<Manifest, ()>> {
    let manifest = match name(path) {
        "pyproject.toml" => python::pyproject(path, text),
        "setup.cfg" => python::setup_cfg(path, text),
        "setup.py" => python::setup_py(path, text),
        "requirements.txt" => python::requirements(path, text),
        "environment.yml" | "environment.yaml" => python::conda(path, text),
        "package.json" => node::package_json(path, text),
        "Cargo.toml" => cargo::cargo_toml(path, text),
        "go.mod" => go::go_mod(path, text),
        "pom.xml" => java::pom(path, text),
        "build.gradle" | "build.gradle.kts" => java::gradle(path, text),
        "composer.json" => php::composer(path, text),
        "CMakeLists.txt" => cpp::cmake(path, text),
        "vcpkg.json" => cpp::vcpkg(path, text),
        "Package.swift" => swift::package_swift(path, text),
        _ => match extension(path).as_str() {
            "csproj" | "fsproj" | "vbproj" => dotnet::project(path, text),
            "gemspec" => ruby::gemspec(path, text),
            _ => return None,
        },
    };
    Some(manifest.ok_or(()))
}

/// The lines a value stands in: those that name the key too where there are any, else the first
/// that hold the value. A value spread over several lines is found as such.
pub(crate) fn locate(text: &str, key: &str, value: &str) -> Option<Located> {
    let value = value.trim();
    if value.is_empty() {
        return None;
    }
    let at = |index: usize, count: usize| Located {
        text: if value.contains('\n') {
            value.split_whitespace().collect::<Vec<_>>().join(" ")
        } else {
            value.to_owned()
        },
        start: index as u64 + 1,
        end: (index + count) as u64,
    };
    let mut first = None;
    for (index, line) in text.lines().enumerate() {
        if line.contains(value) {
            if line.contains(key) {
                return Some(at(index, 1));
            }
            first.get_or_insert(index);
        }
    }
    if let Some(index) = first {
        return Some(at(index, 1));
    }
    spread(text, value).map(|(index, count)| at(index, count))
}

/// Where a value begins and how many lines it takes, white space not counted.
fn spread(text: &str, value: &str) -> Option<(usize, usize)> {
    const MOST_LINES: usize = 20;
    let words: Vec<&str> = value.split_whitespace().collect();
    let wanted = words.join(" ");
    let first = words.first()?;
    let lines: Vec<&str> = text.lines().collect();
    for (index, line) in lines.iter().enumerate() {
        let Some(offset) = line.find(first) else {
            continue;
        };
        let mut joined = String::new();
        for (count, next) in lines[index..].iter().take(MOST_LINES).enumerate() {
            let part = if count == 0 { &next[offset..] } else { next };
            for word in part.split_whitespace() {
                if !joined.is_empty() {
                    joined.push(' ');
                }
                joined.push_str(word);
            }
            if joined.starts_with(&wanted) {
                return Some((index, count + 1));
            }
            if joined.len() > wanted.len() && !joined.starts_with(&wanted) {
                break;
            }
        }
    }
    None
}

/// A path below the manifest's folder.
pub(crate) fn sibling(manifest: &str, file: &str) -> String {
    let folder = folder(manifest);
    let file = file.trim_start_matches("./");
    if folder.is_empty() {
        file.to_owned()
    } else {
        format!("{folder}/{file}")
    }
}

/// Whether a text is fit to stand in a command: what package names are made of.
pub(crate) fn is_plain(name: &str) -> bool {
    !name.is_empty()
        && !name.starts_with('-')
        && name
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || "@/._-:".contains(c))
}

#[cfg(test)]
#[path = "manifests_tests.rs"]
mod tests;
