//! Paths relative to a repository, judged by their components and never by their text.
//!
//! Pure: symbolic links and hard links are handled by the code that opens the file.

use std::collections::HashMap;

use icu_normalizer::ComposingNormalizerBorrowed;

const LONGEST_COMPONENT: usize = 255;
const LONGEST_PATH: usize = 4096;

/// Why a text is not a path inside its repository.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PathFault {
    /// Nothing is left of it.
    #[error("it names no file")]
    Empty,
    /// It starts at the root of the machine.
    #[error("it is absolute; give it relative to the repository")]
    Absolute,
    /// `..` leads out of the repository.
    #[error("it leads out of the repository")]
    Escapes,
    /// `..` where none is taken.
    #[error("a component is '..'")]
    Parent,
    /// Two slashes, or one at the start.
    #[error("a component is empty")]
    EmptyComponent,
    /// Another system's separator.
    #[error("it contains a backslash; use '/'")]
    Backslash,
    /// NUL, a line break or another control character.
    #[error("it contains NUL or another control character")]
    Control,
    /// Longer than a file system takes.
    #[error("it is longer than a file system takes")]
    TooLong,
}

/// The components of a path with `.` and `..` taken out, as `note/en/../../x` is judged as `x`.
pub fn normalise(path: &str) -> Result<Vec<&str>, PathFault> {
    refuse_characters(path)?;
    let mut components: Vec<&str> = Vec::new();
    for component in path.split('/') {
        match component {
            "" | "." => {}
            ".." => {
                if components.pop().is_none() {
                    return Err(PathFault::Escapes);
                }
            }
            name if name.len() > LONGEST_COMPONENT => return Err(PathFault::TooLong),
            name => components.push(name),
        }
    }
    if components.is_empty() {
        return Err(PathFault::Empty);
    }
    Ok(components)
}

/// The path that another one means in a folder, with `.` and `..` taken out; none when it leads
/// out of the repository. Any name counts, also one that no repository takes.
pub fn resolve(folder: &str, path: &str) -> Option<String> {
    let mut parts: Vec<&str> = Vec::new();
    for part in folder.split('/').chain(path.split('/')) {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            other => parts.push(other),
        }
    }
    Some(parts.join("/"))
}

/// The folder a file is in; empty at the top.
pub fn folder(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}

/// Checks a folder named in a configuration: relative, no `..`, no empty component. `.` is the
/// repository itself; one trailing slash does no harm.
pub fn check_folder(path: &str) -> Result<(), PathFault> {
    if path.is_empty() {
        return Err(PathFault::Empty);
    }
    refuse_characters(path)?;
    let path = path.strip_suffix('/').unwrap_or(path);
    for component in path.split('/') {
        match component {
            "" => return Err(PathFault::EmptyComponent),
            ".." => return Err(PathFault::Parent),
            name if name.len() > LONGEST_COMPONENT => return Err(PathFault::TooLong),
            _ => {}
        }
    }
    Ok(())
}

fn refuse_characters(path: &str) -> Result<(), PathFault> {
    if path.starts_with('/') || has_drive(path) {
        return Err(PathFault::Absolute);
    }
    if path.contains('\\') {
        return Err(PathFault::Backslash);
    }
    if path.chars().any(char::is_control) {
        return Err(PathFault::Control);
    }
    if path.len() > LONGEST_PATH {
        return Err(PathFault::TooLong);
    }
    Ok(())
}

/// `C:` is a place of the machine on Windows, and no sensible folder elsewhere.
fn has_drive(path: &str) -> bool {
    matches!(path.as_bytes(), [letter, b':', ..] if letter.is_ascii_alphabetic())
}

/// Joins paths of one repository; `.` and the empty path are the repository itself.
pub fn join(base: &str, below: &str) -> String {
    let base = base.trim_end_matches('/');
    let base = base.strip_prefix("./").unwrap_or(base);
    match (base, below) {
        ("" | ".", below) => below.to_owned(),
        (base, "" | ".") => base.to_owned(),
        (base, below) => format!("{base}/{below}"),
    }
}

/// The form in which two names are one file on a system that ignores case and composition.
pub fn fold(path: &str) -> String {
    let lower = path.to_lowercase();
    ComposingNormalizerBorrowed::new_nfc()
        .normalize(&lower)
        .into_owned()
}

/// The names a site has, to find one that differs from a new name only in case.
#[derive(Clone, Debug, Default)]
pub struct CaseIndex {
    by_folded: HashMap<String, String>,
}

impl CaseIndex {
    /// An index over these files and the folders they lie in.
    pub fn new<'a>(paths: impl IntoIterator<Item = &'a str>) -> Self {
        let mut index = Self::default();
        for path in paths {
            index.insert(path);
        }
        index
    }

    /// Adds a file. The first spelling of a name stays.
    pub fn insert(&mut self, path: &str) {
        for prefix in prefixes(path) {
            self.by_folded
                .entry(fold(prefix))
                .or_insert_with(|| prefix.to_owned());
        }
    }

    /// The name already there that this one collides with: the same file or folder but for case.
    pub fn collision(&self, path: &str) -> Option<&str> {
        prefixes(path).find_map(|prefix| {
            self.by_folded
                .get(&fold(prefix))
                .map(String::as_str)
                .filter(|known| *known != prefix)
        })
    }
}

/// `a`, `a/b`, `a/b/c` for `a/b/c`.
fn prefixes(path: &str) -> impl Iterator<Item = &str> {
    path.match_indices('/')
        .map(|(at, _)| &path[..at])
        .chain(std::iter::once(path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_judged_as_what_they_resolve_to() {
        for (path, expected) in [
            ("a/b", Ok("a/b")),
            ("./a//b/", Ok("a/b")),
            ("note/en/../../x", Ok("x")),
            ("a/./b/../c", Ok("a/c")),
            ("...", Ok("...")),
            ("a/..", Err(PathFault::Empty)),
            ("", Err(PathFault::Empty)),
            (".", Err(PathFault::Empty)),
            ("..", Err(PathFault::Escapes)),
            ("a/../../a/b", Err(PathFault::Escapes)),
            ("/a", Err(PathFault::Absolute)),
            ("C:/a", Err(PathFault::Absolute)),
            ("a\\..\\b", Err(PathFault::Backslash)),
            ("a\0b", Err(PathFault::Control)),
            ("a\nb", Err(PathFault::Control)),
        ] {
            let found = normalise(path).map(|parts| parts.join("/"));
            assert_eq!(found.as_deref(), expected.as_ref().copied(), "{path:?}");
        }
        assert_eq!(normalise(&"a".repeat(256)), Err(PathFault::TooLong));
        assert_eq!(normalise(&"a/".repeat(3000)), Err(PathFault::TooLong));
    }

    #[test]
    fn links_are_resolved_in_their_folder() {
        for (folder, path, expected) in [
            ("", "a/./b/../c", Some("a/c")),
            ("", "a/../../b", None),
            ("docs", "../a/./b", Some("a/b")),
            ("docs", "../../a", None),
        ] {
            assert_eq!(
                resolve(folder, path).as_deref(),
                expected,
                "{folder} {path}"
            );
        }
        assert_eq!((folder("a/b.md"), folder("b.md")), ("a", ""));
    }

    #[test]
    fn folders_of_a_configuration() {
        for (path, expected) in [
            (".", Ok(())),
            ("content", Ok(())),
            ("content/en/", Ok(())),
            ("", Err(PathFault::Empty)),
            ("/", Err(PathFault::Absolute)),
            ("a//b", Err(PathFault::EmptyComponent)),
            ("a/../b", Err(PathFault::Parent)),
            ("a\\b", Err(PathFault::Backslash)),
        ] {
            assert_eq!(check_folder(path), expected, "{path:?}");
        }
    }

    #[test]
    fn joining() {
        for (base, below, whole) in [
            (".", "docs", "docs"),
            ("", "docs", "docs"),
            ("content/", "docs", "content/docs"),
            ("./content", "docs/x", "content/docs/x"),
            ("content", ".", "content"),
        ] {
            assert_eq!(join(base, below), whole);
        }
    }

    #[test]
    fn names_that_differ_only_in_case_collide_in_any_component() {
        let index = CaseIndex::new(["note/EN/x.md", "note/caf\u{e9}.md", "a/b.md"]);
        for (path, collides_with) in [
            ("note/EN/x.md", None),
            ("note/EN/y.md", None),
            ("note/EN/X.md", Some("note/EN/x.md")),
            ("note/en/y.md", Some("note/EN")),
            ("Note/EN/y.md", Some("note")),
            ("note/cafe\u{301}.md", Some("note/caf\u{e9}.md")),
            ("a/B.MD", Some("a/b.md")),
            ("a/c.md", None),
        ] {
            assert_eq!(index.collision(path), collides_with, "{path}");
        }
    }
}
