//! Relative paths that cannot leave their root.

use std::{
    fmt,
    path::{Path, PathBuf},
};

/// A relative path with `/` between its components: no `..`, no `.`, nothing absolute, no empty
/// component, no NUL, no backslash. Ordered by its bytes, as every list in the formats is.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RelPath(String);

/// Why a text is not such a path.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{path:?} is not a path inside its root: {reason}")]
pub struct PathError {
    /// The text.
    pub path: String,
    /// What is wrong with it.
    pub reason: &'static str,
}

impl RelPath {
    /// Checks a text.
    pub fn new(path: impl Into<String>) -> Result<Self, PathError> {
        let path = path.into();
        match fault(&path) {
            None => Ok(Self(path)),
            Some(reason) => Err(PathError { path, reason }),
        }
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The path below a root.
    pub fn under(&self, root: &Path) -> PathBuf {
        root.join(&self.0)
    }

    /// The components.
    pub fn components(&self) -> impl Iterator<Item = &str> {
        self.0.split('/')
    }

    /// The last component.
    pub fn file_name(&self) -> &str {
        self.0.rsplit('/').next().unwrap_or(&self.0)
    }

    /// This path below another.
    pub fn join(&self, below: &Self) -> Self {
        Self(format!("{}/{}", self.0, below.0))
    }
}

fn fault(path: &str) -> Option<&'static str> {
    if path.is_empty() {
        return Some("it is empty");
    }
    if path.starts_with('/') {
        return Some("it is absolute");
    }
    if path.contains('\0') {
        return Some("it contains NUL");
    }
    if path.contains('\\') {
        return Some("it contains a backslash");
    }
    for component in path.split('/') {
        match component {
            "" => return Some("a component is empty"),
            "." | ".." => return Some("a component is . or .."),
            _ => {}
        }
    }
    None
}

impl fmt::Display for RelPath {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}
