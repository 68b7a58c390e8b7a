//! What a proposal comes to, as the answer of `evolve propose` has it.

use std::path::PathBuf;

use serde::{Serialize, Serializer, ser::SerializeStruct};
use serde_json::{Value, json};
use windlass_pack_deploy::state::FileAction;
use windlass_pack_model::{Target, fault};

use crate::evolve::{scope::Scope, skip::SkippedItem};

/// An edit that is captured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Candidate {
    /// The module.
    pub module_id: String,
    /// The target whose output was edited.
    pub target: Target,
    /// The output, absolute.
    pub path: PathBuf,
}

impl Serialize for Candidate {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut view = serializer.serialize_struct("Candidate", 4)?;
        view.serialize_field("module_id", &self.module_id)?;
        view.serialize_field("path", &self.path.display().to_string())?;
        view.serialize_field("path_posix", &fault::posix(&self.path))?;
        view.serialize_field("target", &self.target)?;
        view.end()
    }
}

/// How many of each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ProposeSummary {
    /// Edits that are captured.
    pub drifted_proposeable: u64,
    /// Files that differ and are not.
    pub drifted_skipped: u64,
    /// Those of them whose outputs were edited in ways that contradict each other.
    #[serde(skip_serializing_if = "is_zero")]
    pub skipped_conflicting: u64,
    /// Those that are not there.
    pub skipped_missing: u64,
    /// Those of several modules.
    pub skipped_multi_module: u64,
    /// Files that could not be read.
    pub skipped_read_error: u64,
}

fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// Edits of deployed files, as changes of overlays.
#[derive(Clone, Debug)]
pub struct Proposal {
    /// Into which overlays.
    pub scope: Scope,
    /// The branch for them.
    pub branch: String,
    /// The edits, by module and path.
    pub candidates: Vec<Candidate>,
    /// What is left out, by reason, target and path.
    pub skipped: Vec<SkippedItem>,
    /// The count.
    pub summary: ProposeSummary,
    /// Warnings for people.
    pub warnings: Vec<String>,
    /// What to write to the repository; empty only without candidates.
    pub writes: Vec<FileAction>,
    /// The files written, relative to the repository, sorted, each once.
    pub files: Vec<String>,
}

impl Proposal {
    /// Why there is nothing to propose, if so.
    pub fn nothing(&self) -> Option<&'static str> {
        if !self.candidates.is_empty() {
            None
        } else if self.skipped.is_empty() {
            Some("no_drift")
        } else {
            Some("no_proposeable_drift")
        }
    }

    /// The answer when there is nothing to propose.
    pub fn nothing_data(&self, reason: &str) -> Value {
        json!({
            "created": false,
            "reason": reason,
            "skipped": self.skipped,
            "summary": self.summary,
        })
    }

    /// The answer to a dry run.
    pub fn dry_run_data(&self) -> Value {
        match self.nothing() {
            Some(reason) => self.nothing_data(reason),
            None => json!({
                "candidates": self.candidates,
                "created": false,
                "reason": "dry_run",
                "skipped": self.skipped,
                "summary": self.summary,
            }),
        }
    }

    /// The answer once the branch holds the commit.
    pub fn created_data(&self) -> Value {
        json!({
            "branch": self.branch,
            "committed": true,
            "created": true,
            "files": self.files,
            "files_posix": self.files,
            "scope": self.scope,
        })
    }
}
