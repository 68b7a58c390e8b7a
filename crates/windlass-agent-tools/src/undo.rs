//! Taking a call's changes to files back.

use std::path::Path;

use windlass_files::{Access, Directory, FileError};
use windlass_ports::BlobStore;

use crate::{
    Code, Failure, FileChange, FileState, Places,
    files::{self, Content, MOST_BYTES},
};

/// What undo did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Undone {
    /// Paths that are again what they were.
    pub restored: Vec<String>,
    /// Paths that are not, and why.
    pub left: Vec<(String, String)>,
}

/// Restores what was before these changes, the last one first. A path that others changed since is
/// left as it is and told. Harmless when repeated.
pub async fn undo(changes: &[FileChange], places: &Places, blobs: &dyn BlobStore) -> Undone {
    let mut undone = Undone::default();
    for change in changes.iter().rev() {
        match undo_one(change, places, blobs).await {
            Ok(()) => undone.restored.push(change.path.clone()),
            Err(failure) => undone.left.push((change.path.clone(), failure.message)),
        }
    }
    undone
}

async fn undo_one(
    change: &FileChange,
    places: &Places,
    blobs: &dyn BlobStore,
) -> Result<(), Failure> {
    let located = places.locate_to_write(&change.path)?;
    let held = located.hold(false)?;
    let (parent, name) = (&held.parent, held.name.as_path());
    let now = state(parent, name)?;
    if is_alike(&now, &change.before) {
        return Ok(());
    }
    if !is_alike(&now, &change.after) {
        return Err(Failure::new(
            Code::WriteError,
            "it was changed since, so it stays as it is",
        ));
    }
    let failed = |error: FileError| Failure::of_file(error, Code::WriteError);
    match &change.before {
        FileState::Absent => match change.after {
            FileState::Directory { .. } => parent.remove_directory(name).map(drop),
            _ => parent.remove_file(name).map(drop),
        }
        .map_err(failed),
        FileState::File { digest, mode } => {
            let bytes = blobs.get(*digest).await;
            let bytes =
                bytes.map_err(|error| Failure::new(Code::BackupError, error.to_string()))?;
            if now == FileState::Absent {
                return files::write_new(parent, name, &bytes, Some(*mode))
                    .map(drop)
                    .map_err(failed);
            }
            parent.write(name, &bytes, Access::Usual).map_err(failed)
        }
        FileState::Directory { mode } => {
            parent.create_directory(name).map_err(failed)?;
            let made = parent.directory(name).map_err(failed)?;
            files::set_mode(&made, *mode)
                .map_err(|error| Failure::new(Code::WriteError, error.to_string()))
        }
        FileState::Link { target } => parent.link(Path::new(target), name).map_err(failed),
    }
}

/// What is at a path now.
fn state(parent: &Directory, name: &Path) -> Result<FileState, Failure> {
    let failed = |error| Failure::of_file(error, Code::ReadError);
    use rustix::fs::FileType;
    Ok(match parent.kind(name).map_err(failed)? {
        None => FileState::Absent,
        Some(FileType::Directory) => FileState::Directory { mode: 0 },
        Some(FileType::Symlink) => FileState::Link {
            target: String::new(),
        },
        Some(_) => {
            let content = files::read(parent, name, MOST_BYTES).map_err(failed)?;
            content.as_ref().map_or(FileState::Absent, Content::state)
        }
    })
}

/// Whether one state is the other as far as it can be overwritten: a file has its content, others are
/// of their kind.
fn is_alike(now: &FileState, then: &FileState) -> bool {
    match (now, then) {
        (FileState::File { digest, .. }, FileState::File { digest: then, .. }) => digest == then,
        (FileState::Absent, FileState::Absent)
        | (FileState::Directory { .. }, FileState::Directory { .. })
        | (FileState::Link { .. }, FileState::Link { .. }) => true,
        _ => false,
    }
}

#[cfg(test)]
#[path = "undo_tests.rs"]
mod tests;
