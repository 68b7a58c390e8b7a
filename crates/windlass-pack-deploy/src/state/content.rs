//! The bytes behind a snapshot: from the blobs, or from the trees that old versions kept.
//!
//! Old trees are only ever read. Whatever is found is compared with the recorded digest.

use std::{ops::ControlFlow, path::PathBuf};

use windlass_pack_model::{Snapshot, SnapshotChange, SnapshotFile, fault};
use windlass_types::{Digest, Problem};

use crate::state::{
    observe::{read_following, read_regular},
    pack_state::PackState,
};

impl PackState {
    /// The content of a file as it was after a snapshot.
    pub fn content_after(
        &self,
        snapshot: &Snapshot,
        file: &SnapshotFile,
    ) -> Result<Vec<u8>, Problem> {
        let kept = self.home().v1_state(&snapshot.id, file.target, &file.path);
        if let Some(bytes) = self.find(&file.sha256, &[kept])? {
            return Ok(bytes);
        }
        // The oldest snapshots kept only what they replaced: the content is where a later event
        // replaced it, or still in place.
        let mut found = None;
        self.walk_back(|later| {
            for change in &later.changes {
                if change.before_sha256 == Some(file.sha256) {
                    found = self
                        .find(&file.sha256, &self.backups(&later, change))
                        .unwrap_or(None);
                }
            }
            match found.is_some() || later.id == snapshot.id {
                true => ControlFlow::Break(()),
                false => ControlFlow::Continue(()),
            }
        })?;
        if found.is_none() {
            found = read_with_digest(&file.path, &file.sha256);
        }
        found.ok_or_else(|| missing(snapshot, &file.path, &file.sha256))
    }

    /// The content of a file as it was before a change. `None`: there was no file.
    pub fn content_before(
        &self,
        snapshot: &Snapshot,
        change: &SnapshotChange,
    ) -> Result<Option<Vec<u8>>, Problem> {
        let backups = self.backups(snapshot, change);
        match change.before_sha256 {
            Some(digest) => match self.find(&digest, &backups)? {
                Some(bytes) => Ok(Some(bytes)),
                None => Err(missing(snapshot, &change.path, &digest)),
            },
            // A backup without a digest: some old records have no more.
            None if change.backup_path.is_some() => {
                let mut bytes = Vec::new();
                let read = backups
                    .iter()
                    .any(|path| matches!(read_regular(path, &mut bytes), Ok(Some(_))));
                match read {
                    true => Ok(Some(bytes)),
                    false => Err(missing(snapshot, &change.path, &Digest::ZERO)),
                }
            }
            None => Ok(None),
        }
    }

    /// Where old versions may have put what a change replaced.
    fn backups(&self, snapshot: &Snapshot, change: &SnapshotChange) -> Vec<PathBuf> {
        let own = self
            .home()
            .v1_backup(&snapshot.id, change.target, &change.path);
        change.backup_path.iter().cloned().chain([own]).collect()
    }

    fn find(&self, digest: &Digest, elsewhere: &[PathBuf]) -> Result<Option<Vec<u8>>, Problem> {
        let blob = self.blobs().get(digest);
        if let Ok(Some(bytes)) = blob {
            return Ok(Some(bytes));
        }
        let kept = elsewhere
            .iter()
            .find_map(|path| read_with_digest(path, digest));
        match (kept, blob) {
            (Some(bytes), _) => Ok(Some(bytes)),
            // A damaged blob is worth reporting when there is nothing else.
            (None, blob) => blob,
        }
    }
}

fn read_with_digest(path: &std::path::Path, digest: &Digest) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    match read_following(path, &mut bytes) {
        Ok(Some(_)) if Digest::of(&bytes) == *digest => Some(bytes),
        _ => None,
    }
}

fn missing(snapshot: &Snapshot, path: &std::path::Path, digest: &Digest) -> Problem {
    fault::unexpected(
        "snapshot_corrupt",
        &["list_snapshots", "retry_command"],
        format!(
            "snapshot {} has lost the content of {} ({}): neither the blobs nor the old trees have it",
            snapshot.id,
            path.display(),
            digest.short()
        ),
    )
    .with("snapshot_id", snapshot.id.clone())
    .with("path", path.display().to_string())
    .with("sha256", digest.to_string())
}
