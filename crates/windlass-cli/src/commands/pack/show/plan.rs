//! A plan: one sign per file, grouped by target and root, and a line that sums up.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;

use super::View;
use crate::output::{Tone, counted, counts, one_line};

/// A plan with more changes folds directories into one line each.
const LONG: usize = 60;

/// What an answer with changes says.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(in crate::commands::pack) struct PlanView {
    pub(in crate::commands::pack) profile: String,
    pub(in crate::commands::pack) targets: Vec<String>,
    pub(in crate::commands::pack) changes: Vec<Change>,
    pub(in crate::commands::pack) summary: Summary,
    pub(in crate::commands::pack) local_edits: Vec<LocalEdit>,
    pub(in crate::commands::pack) applied: bool,
    pub(in crate::commands::pack) reason: String,
    pub(in crate::commands::pack) snapshot_id: Option<String>,
    pub(in crate::commands::pack) codex_home_moved: Option<MovedHome>,
}

/// A home that the plan moves.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(in crate::commands::pack) struct MovedHome {
    pub(in crate::commands::pack) from: String,
    pub(in crate::commands::pack) to: String,
}

/// How many of each.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(default)]
pub(in crate::commands::pack) struct Summary {
    pub(in crate::commands::pack) create: u64,
    pub(in crate::commands::pack) update: u64,
    pub(in crate::commands::pack) delete: u64,
}

/// One file that changes.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(in crate::commands::pack) struct Change {
    target: String,
    op: String,
    path: String,
    root: Option<String>,
    reason: String,
    update_kind: Option<String>,
    before_mode: Option<String>,
    after_mode: Option<String>,
    keys: Vec<Key>,
}

/// One key of a file that others own too.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Key {
    op: String,
    pointer: String,
}

/// A managed file that was edited since it was deployed.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(in crate::commands::pack) struct LocalEdit {
    path: String,
}

impl PlanView {
    /// How many files would be written over that pack did not write.
    pub(in crate::commands::pack) fn adoptions(&self) -> usize {
        self.changes
            .iter()
            .filter(|change| change.is_adoption())
            .count()
    }

    /// How many of each; counted where the answer does not say.
    fn tally(&self) -> Summary {
        if self.summary != Summary::default() {
            return self.summary;
        }
        let mut summary = Summary::default();
        for change in &self.changes {
            match change.op.as_str() {
                "create" => summary.create += 1,
                "delete" | "rollback_delete" => summary.delete += 1,
                _ => summary.update += 1,
            }
        }
        summary
    }

    /// The line that sums up.
    pub(in crate::commands::pack) fn summed_up(&self) -> String {
        let Summary {
            create,
            update,
            delete,
        } = self.tally();
        if create + update + delete == 0 {
            return "nothing to change".to_owned();
        }
        let mut text = counts(&[
            (create, "to create"),
            (update, "to update"),
            (delete, "to delete"),
        ]);
        let adoptions = self.adoptions();
        if adoptions > 0 {
            text.push_str(&format!(
                "; {} not written by pack (!)",
                counted(adoptions, "file")
            ));
        }
        text
    }

    /// What was done.
    pub(in crate::commands::pack) fn done(&self) -> String {
        let Summary {
            create,
            update,
            delete,
        } = self.tally();
        let parts = counts(&[
            (create, "created"),
            (update, "updated"),
            (delete, "deleted"),
        ]);
        if parts.is_empty() {
            "manifests written".to_owned()
        } else {
            parts
        }
    }

    /// Whether nothing changes.
    pub(in crate::commands::pack) fn is_empty(&self) -> bool {
        self.changes.is_empty()
    }
}

impl Change {
    fn is_adoption(&self) -> bool {
        self.update_kind.as_deref() == Some("adopt_update")
    }

    fn sign(&self) -> (Tone, &'static str) {
        match self.op.as_str() {
            _ if self.is_adoption() => (Tone::Warn, "!"),
            "create" => (Tone::Good, "+"),
            "delete" | "rollback_delete" => (Tone::Bad, "-"),
            _ => (Tone::Warn, "~"),
        }
    }

    /// What the sign does not say already.
    fn note(&self, edited: bool) -> String {
        let mut notes = Vec::new();
        match self.reason.as_str() {
            "" | "file missing" | "content differs" => {}
            "mode differs" => {
                let mode = |mode: &Option<String>| mode.clone().unwrap_or_default();
                notes.push(format!(
                    "mode {} → {}",
                    mode(&self.before_mode),
                    mode(&self.after_mode)
                ));
            }
            other => notes.push(other.to_owned()),
        }
        if edited {
            notes.push("edited here since it was deployed".to_owned());
        }
        for key in &self.keys {
            notes.push(format!("{} {}", key.op, key.pointer));
        }
        notes.join("; ")
    }
}

struct Line {
    tone: Tone,
    sign: &'static str,
    path: String,
    note: String,
    files: usize,
}

/// The plan as text, ending with the line that sums up.
pub(in crate::commands::pack) fn plan_text(plan: &PlanView, view: &View) -> String {
    let mut text = changes_text(plan, view);
    if !text.is_empty() {
        text.push('\n');
    }
    text.push_str(&format!("{}\n", plan.summed_up()));
    text
}

/// The changes of a plan as text.
pub(in crate::commands::pack) fn changes_text(plan: &PlanView, view: &View) -> String {
    let edited: BTreeSet<&str> = plan
        .local_edits
        .iter()
        .map(|edit| edit.path.as_str())
        .collect();
    let mut groups: BTreeMap<(&str, String), Vec<Line>> = BTreeMap::new();
    for change in &plan.changes {
        let (label, path) = view.places.split(&change.path, change.root.as_deref());
        let (tone, sign) = change.sign();
        groups
            .entry((change.target.as_str(), label))
            .or_default()
            .push(Line {
                tone,
                sign,
                path,
                note: change.note(edited.contains(change.path.as_str())),
                files: 1,
            });
    }
    let folds = plan.changes.len() > LONG;
    let mut text = String::new();
    for ((target, label), lines) in groups {
        let lines = if folds { folded(lines) } else { lines };
        text.push_str(&format!(
            "{}  {}\n",
            view.paint.text(Tone::Strong, &one_line(target)),
            view.paint.text(Tone::Dim, &one_line(&label))
        ));
        for line in lines {
            text.push_str(&line.render(view));
        }
    }
    text
}

impl Line {
    fn render(&self, view: &View) -> String {
        let mut text = format!(
            "  {} {}",
            view.paint.text(self.tone, self.sign),
            one_line(&self.path)
        );
        if self.files > 1 {
            let files = counted(self.files, "file");
            text.push_str(&format!("  {}", view.paint.text(Tone::Dim, &files)));
        }
        if !self.note.is_empty() {
            let note = one_line(&self.note);
            text.push_str(&format!("  {}", view.paint.text(Tone::Dim, &note)));
        }
        text.push('\n');
        text
    }
}

/// Adjacent entries of one directory with the same text become one line.
fn folded(lines: Vec<Line>) -> Vec<Line> {
    let mut folded: Vec<Line> = Vec::new();
    for line in lines {
        let directory = directory(&line.path);
        match folded.last_mut() {
            Some(last)
                if directory.is_some()
                    && last.sign == line.sign
                    && last.note == line.note
                    && (directory == Some(last.path.as_str())
                        || directory == self::directory(&last.path)) =>
            {
                last.path = directory.unwrap_or_default().to_owned();
                last.files += 1;
            }
            _ => folded.push(line),
        }
    }
    folded
}

/// The first two parts of a path that has more, with the slash behind them.
fn directory(path: &str) -> Option<&str> {
    let end = path.match_indices('/').map(|(at, _)| at + 1).take(2).last();
    end.map(|end| &path[..end])
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{super::plain, *};

    fn text(data: Value) -> String {
        plan_text(&serde_json::from_value(data).unwrap(), &plain())
    }

    #[test]
    fn a_plan_is_grouped_by_target_and_root() {
        insta::assert_snapshot!(text(json!({
            "profile": "default",
            "targets": ["claude_code", "codex"],
            "changes": [
                { "target": "claude_code", "op": "delete", "path": "/home/ada/src/shop/.claude/commands/old.md",
                  "reason": "no longer managed" },
                { "target": "codex", "op": "create", "path": "/home/ada/.codex/AGENTS.md", "reason": "file missing" },
                { "target": "codex", "op": "update", "path": "/home/ada/.codex/config.toml", "reason": "content differs",
                  "update_kind": "managed_update", "keys": [{ "op": "create", "pointer": "/mcp_servers/git" }] },
                { "target": "codex", "op": "update", "path": "/home/ada/.codex/prompts/a.md", "reason": "content differs",
                  "update_kind": "managed_update" },
                { "target": "codex", "op": "update", "path": "/home/ada/.codex/prompts/mine.md",
                  "reason": "would overwrite unmanaged existing file", "update_kind": "adopt_update" },
                { "target": "codex", "op": "update", "path": "/home/ada/src/shop/.codex/skills/x/run.sh",
                  "root": "/home/ada/src/shop/.codex/skills", "reason": "mode differs", "before_mode": "0644", "after_mode": "0755" },
            ],
            "local_edits": [{ "path": "/home/ada/.codex/prompts/a.md" }],
            "summary": { "create": 1, "update": 4, "delete": 1 },
        })), @r"
        claude_code  project
          - .claude/commands/old.md  no longer managed
        codex  .codex/skills
          ~ x/run.sh  mode 0644 → 0755
        codex  ~/.codex
          + AGENTS.md
          ~ config.toml  create /mcp_servers/git
          ~ prompts/a.md  edited here since it was deployed
          ! prompts/mine.md  would overwrite unmanaged existing file

        1 to create, 4 to update, 1 to delete; 1 file not written by pack (!)
        ");
    }

    #[test]
    fn an_empty_plan_says_so() {
        assert_eq!(
            text(json!({ "changes": [], "summary": {} })),
            "nothing to change\n"
        );
    }

    #[test]
    fn long_plans_fold_directories() {
        let skills = (0..100).map(|index| {
            let path = format!("/home/ada/.codex/skills/s{}/f{index:03}.md", index / 50);
            json!({ "target": "codex", "op": "create", "path": path, "reason": "file missing" })
        });
        let mut changes: Vec<Value> = skills.collect();
        changes.insert(
            0,
            json!({ "target": "codex", "op": "create", "path": "/home/ada/.codex/AGENTS.md" }),
        );
        insta::assert_snapshot!(text(json!({ "changes": changes, "summary": { "create": 101 } })), @r"
        codex  ~/.codex
          + AGENTS.md
          + skills/s0/  50 files
          + skills/s1/  50 files

        101 to create
        ");
    }

    #[test]
    fn names_cannot_move_the_cursor() {
        let shown = text(json!({
            "changes": [{ "target": "codex", "op": "create", "path": "/srv/\u{1b}[2J\nx" }],
            "summary": { "create": 1 },
        }));
        assert!(!shown.contains('\u{1b}'), "{shown:?}");
    }
}
