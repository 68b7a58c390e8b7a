//! What a verb returns: data to show, and writes to carry out.

use std::path::{Path, PathBuf};

use windlass_pack_deploy::state::FileAction;
use windlass_types::Timestamp;

/// The outcome of a verb that has not touched a file yet.
#[derive(Clone, Debug)]
pub struct Authored<T> {
    /// The `data` of the answer.
    pub data: T,
    /// The files to write, all or none of them.
    pub writes: Vec<FileAction>,
    /// The directories to lock for that; every write is below one of them.
    pub roots: Vec<PathBuf>,
    /// What a person should know.
    pub warnings: Vec<String>,
}

impl<T> Authored<T> {
    /// Writes inside one directory.
    pub(crate) fn inside(root: &Path, data: T, writes: Vec<FileAction>) -> Self {
        let roots = match writes.is_empty() {
            true => Vec::new(),
            false => vec![root.to_owned()],
        };
        Self {
            data,
            writes,
            roots,
            warnings: Vec::new(),
        }
    }

    /// The same with warnings.
    pub(crate) fn warned(mut self, warnings: Vec<String>) -> Self {
        self.warnings.extend(warnings);
        self
    }
}

/// A moment as the files have it: RFC 3339 in UTC with nine digits of a second.
pub fn stamp(now: Timestamp) -> String {
    let text = now.to_string();
    match text.strip_suffix('Z') {
        Some(millis) => format!("{millis}000000Z"),
        None => text,
    }
}

/// A path as the answers show it; see also [`windlass_pack_model::fault::posix`].
pub(crate) fn shown(path: &Path) -> String {
    path.display().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_have_nanoseconds() {
        let moment = Timestamp::from_millis(1_700_000_000_123);
        assert_eq!(stamp(moment), "2023-11-14T22:13:20.123000000Z");
    }
}
