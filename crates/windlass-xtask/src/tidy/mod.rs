//! The tree's rules. Each rule is a pure function from what was read to violations.
//!
//! Not here: style that clippy and rustfmt check. Called by the `tidy` verb and by
//! the test below, so that plain `cargo test` enforces the layers too.

mod chain;
mod documents;
mod domains;
mod gate;
mod held;
mod layers;
mod links;
mod manifests;
mod processes;
mod read;
mod sources;
mod suites;
mod words;
mod writes;

use std::fmt;

pub use read::read;

/// Everything the rules look at, read once.
pub struct Tree {
    pub crates: Vec<Crate>,
    /// Every file of the checkout that is not built or fetched, sorted by path.
    pub files: Vec<SourceFile>,
}

/// One package of the workspace.
pub struct Crate {
    pub name: String,
    /// The name of its folder below `crates/`.
    pub folder: String,
    /// `[package.metadata.windlass] layer`.
    pub layer: Option<String>,
    /// The text of its manifest.
    pub manifest: String,
    /// Its dependencies on other packages of the workspace.
    pub dependencies: Vec<Dependency>,
}

/// One edge between two packages of the workspace.
pub struct Dependency {
    pub name: String,
    pub kind: DependencyKind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DependencyKind {
    /// Part of the shipped code, or of its build script.
    Shipped,
    /// Used by tests only.
    Test,
}

/// One file, with its path from the root written with `/`.
pub struct SourceFile {
    pub path: String,
    /// `None` for a file that is not UTF-8 text.
    pub text: Option<String>,
}

/// One broken rule.
#[derive(Debug, PartialEq, Eq)]
pub struct Violation {
    /// A path, or `path:line`.
    pub place: String,
    pub message: String,
}

impl Violation {
    fn new(place: impl Into<String>, message: impl Into<String>) -> Violation {
        Violation {
            place: place.into(),
            message: message.into(),
        }
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}: {}", self.place, self.message)
    }
}

/// Applies every rule.
pub fn check(tree: &Tree) -> Vec<Violation> {
    let mut violations = Vec::new();
    violations.extend(manifests::check(&tree.crates));
    violations.extend(layers::check(&tree.crates));
    violations.extend(chain::check(&tree.crates));
    violations.extend(gate::check(&tree.crates, &tree.files));
    violations.extend(domains::check(&tree.crates, &tree.files));
    violations.extend(processes::check(&tree.crates, &tree.files));
    violations.extend(writes::check(&tree.crates, &tree.files));
    violations.extend(sources::check(&tree.files));
    violations.extend(suites::check(&tree.files));
    violations.extend(words::check(&tree.files));
    violations.extend(documents::check(&tree.crates, &tree.files));
    violations.extend(held::check(&tree.files));
    violations.extend(links::check(&tree.files));
    violations
}

/// The layer of the crate that a shipped source file belongs to.
fn shipped_layer<'a>(crates: &'a [Crate], path: &str) -> Option<&'a str> {
    let rest = path.strip_prefix("crates/")?;
    let (folder, file) = rest.split_once('/')?;
    if !file.starts_with("src/") || file.ends_with("_tests.rs") || !file.ends_with(".rs") {
        return None;
    }
    let own = crates.iter().find(|own| own.folder == folder)?;
    own.layer.as_deref()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::repo::Repo;

    #[test]
    fn this_workspace_is_tidy() {
        let repo = Repo::load().unwrap();
        let tree = read(&repo).unwrap();
        let shown: Vec<String> = check(&tree).iter().map(ToString::to_string).collect();
        assert!(shown.is_empty(), "\n{}", shown.join("\n"));
    }
}

/// Small trees for the tests of the rules.
#[cfg(test)]
mod sample {
    use super::*;

    pub fn file(path: &str, text: &str) -> SourceFile {
        SourceFile {
            path: path.into(),
            text: Some(text.into()),
        }
    }

    pub fn messages(violations: &[Violation]) -> Vec<String> {
        violations.iter().map(ToString::to_string).collect()
    }

    pub fn own(name: &str, layer: &str) -> Crate {
        Crate {
            name: name.into(),
            folder: name.into(),
            layer: Some(layer.into()),
            manifest: String::new(),
            dependencies: Vec::new(),
        }
    }
}
