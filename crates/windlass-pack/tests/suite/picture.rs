//! What a scene looks like: every file outside pack's own records, with its mode, and of the
//! records whatever is not a diary. Two worlds with the same picture are in the same state.

use std::{fmt::Write as _, os::unix::fs::PermissionsExt as _, path::Path};

use serde_json::Value;

use super::scene::Scene;

impl Scene {
    /// One line per entry, and what pack remembers.
    pub(super) fn picture(&self) -> String {
        let mut lines = String::new();
        for place in ["user", "project"] {
            self.list(Path::new(place), &mut lines);
        }
        let state = self.state();
        for left in windlass_pack_deploy::state::pending(&state).unwrap() {
            writeln!(lines, "half done: {}", left.run_id).unwrap();
        }
        let (remembered, damaged) = state.remembered().unwrap();
        assert_eq!(damaged, None);
        let known = remembered.known_roots.iter();
        let mut known: Vec<_> = known.map(|root| (root.target, &root.root)).collect();
        known.sort();
        for (target, root) in known {
            writeln!(lines, "known: {target} {}", root.display()).unwrap();
        }
        for directory in &remembered.directories {
            writeln!(lines, "made: {directory}").unwrap();
        }
        lines.replace(&self.scratch.path().display().to_string(), "SCRATCH")
    }

    /// Every event: what kind, and what it did.
    pub(super) fn diary(&self) -> Vec<String> {
        let state = self.state();
        let ids = state.snapshot_ids().unwrap();
        ids.iter()
            .map(|id| {
                let event = state.snapshot(id).unwrap();
                let changes: Vec<String> = event
                    .changes
                    .iter()
                    .map(|change| {
                        let path = change.path.strip_prefix(self.scratch.path()).unwrap();
                        format!("{:?} {}", change.op, path.display())
                    })
                    .collect();
                format!("{:?}: {}", event.kind, changes.join(", "))
            })
            .collect()
    }

    fn list(&self, below: &Path, lines: &mut String) {
        let mut entries: Vec<_> = fs_err::read_dir(self.scratch.path().join(below))
            .unwrap()
            .map(Result::unwrap)
            .collect();
        entries.sort_by_key(fs_err::DirEntry::file_name);
        for entry in entries {
            let path = below.join(entry.file_name());
            if path == Path::new("user/.agentpack/state") {
                continue;
            }
            let mode = entry.metadata().unwrap().permissions().mode() & 0o777;
            if entry.file_type().unwrap().is_dir() {
                writeln!(lines, "{mode:o} {}/", path.display()).unwrap();
                self.list(&path, lines);
            } else {
                let text = fs_err::read_to_string(entry.path()).unwrap();
                writeln!(lines, "{mode:o} {} {:?}", path.display(), undated(&text)).unwrap();
            }
        }
    }
}

/// A manifest without the event it was last written by: taking an event back is one too.
fn undated(text: &str) -> String {
    match serde_json::from_str::<Value>(text) {
        Ok(Value::Object(mut fields)) if fields.contains_key("managed_files") => {
            fields.remove("generated_at");
            fields.remove("snapshot_id");
            Value::Object(fields).to_string()
        }
        _ => text.to_owned(),
    }
}
