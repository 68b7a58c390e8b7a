//! Drift: what is on disk and not as it was deployed.

use serde::Deserialize;

use super::View;
use crate::output::{Table, Tone};

/// One path that drifted.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(in crate::commands::pack) struct Drift {
    kind: String,
    target: String,
    path: String,
    deployed: Option<bool>,
    expected_mode: Option<String>,
    actual_mode: Option<String>,
    keys: Vec<Key>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Key {
    pointer: String,
}

/// How many of each.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(default)]
pub(in crate::commands::pack) struct DriftSummary {
    pub(in crate::commands::pack) modified: u64,
    pub(in crate::commands::pack) missing: u64,
    pub(in crate::commands::pack) extra: u64,
}

/// The table of what drifted.
pub(in crate::commands::pack) fn drift_table(drift: &[Drift], view: &View) -> Table {
    let mut table = Table::new(&["", "KIND", "TARGET", "PATH", "NOTE"]);
    for item in drift {
        let (tone, sign) = match item.kind.as_str() {
            "modified" => (Tone::Warn, "~"),
            "missing" => (Tone::Bad, "-"),
            "extra" => (Tone::Active, "?"),
            _ => (Tone::Plain, " "),
        };
        table.toned_row([
            (tone, sign.to_owned()),
            (tone, item.kind.clone()),
            (Tone::Plain, item.target.clone()),
            (Tone::Plain, view.places.short(&item.path)),
            (Tone::Dim, item.note()),
        ]);
    }
    table
}

impl Drift {
    fn note(&self) -> String {
        let mut notes = Vec::new();
        if self.deployed == Some(false) {
            notes.push("not deployed yet".to_owned());
        }
        if let (Some(expected), Some(actual)) = (&self.expected_mode, &self.actual_mode) {
            notes.push(format!("mode {actual}, should be {expected}"));
        }
        notes.extend(self.keys.iter().map(|key| key.pointer.clone()));
        notes.join("; ")
    }
}
