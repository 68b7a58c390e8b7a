//! What a rebase did, file by file.

use serde::Serialize;
use windlass_pack_model::RelPath;

/// The files of a rebase by what became of them; each list is sorted.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct RebaseReport {
    /// Both sides changed the same lines.
    pub conflicts: Vec<String>,
    /// Removed from the overlay.
    pub deleted: Vec<String>,
    /// Left as they are: not in the baseline, or without a file to follow.
    pub skipped: Vec<String>,
    /// The count.
    pub summary: RebaseSummary,
    /// Rewritten.
    pub updated: Vec<String>,
}

/// How many of each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct RebaseSummary {
    /// Conflicts.
    pub conflict_files: u64,
    /// Deleted.
    pub deleted_files: u64,
    /// All that were looked at.
    pub processed_files: u64,
    /// Skipped.
    pub skipped_files: u64,
    /// Updated.
    pub updated_files: u64,
}

impl RebaseReport {
    pub(crate) fn processed(&mut self) {
        self.summary.processed_files += 1;
    }

    pub(crate) fn conflict(&mut self, path: &RelPath) {
        self.summary.conflict_files += 1;
        self.conflicts.push(path.to_string());
    }

    pub(crate) fn deleted(&mut self, path: &RelPath) {
        self.summary.deleted_files += 1;
        self.deleted.push(path.to_string());
    }

    pub(crate) fn skipped(&mut self, path: &RelPath) {
        self.summary.skipped_files += 1;
        self.skipped.push(path.to_string());
    }

    pub(crate) fn updated(&mut self, path: &RelPath) {
        self.summary.updated_files += 1;
        self.updated.push(path.to_string());
    }

    pub(crate) fn sort(&mut self) {
        for list in [
            &mut self.conflicts,
            &mut self.deleted,
            &mut self.skipped,
            &mut self.updated,
        ] {
            list.sort_unstable();
        }
    }
}
