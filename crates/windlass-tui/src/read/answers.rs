//! Answers of operations, as far as the screen looks at them. What is not there is empty.

use serde::Deserialize;

use crate::{
    listing::Tone,
    text::{clean, counts},
};

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Preview {
    pub(super) plan: Changes,
    pub(super) diff: Diff,
    pub(super) warnings: Vec<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Diff {
    pub(super) files: Vec<DiffFile>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct DiffFile {
    pub(super) root: String,
    pub(super) unified: Option<String>,
}

/// An answer with changes: a plan, an event, what was written.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Changes {
    pub(super) changes: Vec<Change>,
    pub(super) local_edits: Vec<Edit>,
    pub(super) warnings: Vec<String>,
    pub(super) applied: bool,
    pub(super) snapshot_id: Option<String>,
    pub(super) event_snapshot_id: Option<String>,
    pub(super) undone: String,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Change {
    pub(super) target: String,
    pub(super) op: String,
    pub(super) path: String,
    pub(super) reason: String,
    pub(super) update_kind: Option<String>,
    pub(super) before_mode: Option<String>,
    pub(super) after_mode: Option<String>,
    pub(super) keys: Vec<Key>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Key {
    pub(super) op: String,
    pub(super) pointer: String,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Edit {
    pub(super) path: String,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Status {
    pub(super) drift: Vec<Drift>,
    pub(super) warnings: Vec<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Drift {
    pub(super) kind: String,
    pub(super) target: String,
    pub(super) root: String,
    pub(super) path: String,
    pub(super) deployed: Option<bool>,
    pub(super) expected_mode: Option<String>,
    pub(super) actual_mode: Option<String>,
    pub(super) keys: Vec<Key>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Snapshots {
    pub(super) snapshots: Vec<Snapshot>,
    pub(super) warnings: Vec<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Snapshot {
    pub(super) id: String,
    pub(super) kind: String,
    pub(super) created_at: String,
    pub(super) targets: Vec<String>,
    pub(super) summary: Summary,
    pub(super) head: bool,
    pub(super) rolled_back_to: Option<String>,
}

#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Summary {
    pub(super) create: u64,
    pub(super) update: u64,
    pub(super) delete: u64,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Shown {
    pub(super) snapshot: Event,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Event {
    pub(super) id: String,
    pub(super) kind: String,
    pub(super) created_at: String,
    pub(super) profile: Option<String>,
    pub(super) repo: Option<String>,
    pub(super) project_id: Option<String>,
    pub(super) rolled_back_to: Option<String>,
    pub(super) run_id: Option<String>,
    pub(super) changes: Vec<Change>,
}

impl Change {
    pub(super) fn is_adoption(&self) -> bool {
        self.update_kind.as_deref() == Some("adopt_update")
    }

    pub(super) fn sign(&self) -> (Tone, &'static str) {
        match self.op.as_str() {
            _ if self.is_adoption() => (Tone::Warn, "!"),
            "create" => (Tone::Good, "+"),
            "delete" | "rollback_delete" => (Tone::Bad, "-"),
            _ => (Tone::Warn, "~"),
        }
    }

    pub(super) fn note(&self) -> String {
        let mut notes = Vec::new();
        match self.reason.as_str() {
            "" | "file missing" | "content differs" => {}
            "mode differs" => notes.push(format!(
                "mode {} → {}",
                self.before_mode.as_deref().unwrap_or_default(),
                self.after_mode.as_deref().unwrap_or_default()
            )),
            other => notes.push(other.to_owned()),
        }
        let keys = self.keys.iter();
        notes.extend(keys.map(|key| format!("{} {}", key.op, key.pointer)));
        clean(&notes.join("; "))
    }
}

/// How many of each, and how many files are in the way.
pub(super) fn tally(changes: &[Change]) -> String {
    let mut summary = Summary::default();
    for change in changes {
        match change.sign().1 {
            "+" => summary.create += 1,
            "-" => summary.delete += 1,
            _ => summary.update += 1,
        }
    }
    counts(&[
        (summary.create, "to create"),
        (summary.update, "to update"),
        (summary.delete, "to delete"),
    ])
}
