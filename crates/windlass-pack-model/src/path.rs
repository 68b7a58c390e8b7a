//! Relative paths that cannot leave their root.

use std::{
    collections::HashMap,
    fmt,
    path::{Path, PathBuf},
};

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

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

    /// Whether it is another path that is the same file where case does not count.
    pub fn collides_ignoring_case(&self, other: &Self) -> bool {
        self != other && self.0.to_lowercase() == other.0.to_lowercase()
    }

    /// A path below this one.
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
            #[cfg(windows)]
            name if is_reserved_on_windows(name) => {
                return Some("a component is a name Windows reserves");
            }
            _ => {}
        }
    }
    None
}

/// Device names, whatever their extension, and names Windows changes or cannot have.
#[cfg(any(windows, test))]
fn is_reserved_on_windows(name: &str) -> bool {
    let stem = name.split('.').next().unwrap_or(name).trim_end();
    let upper = stem.to_ascii_uppercase();
    let numbered = |prefix: &str| {
        upper.strip_prefix(prefix).is_some_and(|rest| {
            matches!(
                rest,
                "0" | "1" | "2" | "3" | "4" | "5" | "6" | "7" | "8" | "9" | "¹" | "²" | "³"
            )
        })
    };
    matches!(
        upper.as_str(),
        "CON" | "PRN" | "AUX" | "NUL" | "CONIN$" | "CONOUT$"
    ) || numbered("COM")
        || numbered("LPT")
        || name.ends_with([' ', '.'])
        || name
            .chars()
            .any(|part| part.is_control() || "<>:\"|?*".contains(part))
}

/// Two different paths that are one file where case does not count.
pub fn first_case_collision<'a>(
    paths: impl IntoIterator<Item = &'a RelPath>,
) -> Option<(&'a RelPath, &'a RelPath)> {
    let mut seen: HashMap<String, &RelPath> = HashMap::new();
    for path in paths {
        match seen.insert(path.0.to_lowercase(), path) {
            Some(other) if other != path => return Some((other, path)),
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

impl Serialize for RelPath {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0)
    }
}

impl<'de> Deserialize<'de> for RelPath {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::new(text).map_err(de::Error::custom)
    }
}

#[cfg(test)]
#[path = "path_tests.rs"]
mod tests;
