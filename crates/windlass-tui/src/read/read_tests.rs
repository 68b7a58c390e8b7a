//! Answers as the operations give them, and what becomes of them.

use std::sync::Arc;

use serde_json::json;

use super::*;
use crate::{
    event::Adopt,
    listing::{Item, Row},
};

pub(crate) fn short() -> ShortPath {
    Arc::new(|path: &str| {
        let path = path.replace("/home/ada/src/shop", ".");
        path.replace("./", "").replace("/home/ada", "~")
    })
}

fn read(call: &Call, data: Value) -> Reply {
    reply(call, &data, &short()).unwrap()
}

fn listed(call: &Call, data: Value) -> String {
    let Reply::Listing(listing) = read(call, data) else {
        panic!("{call:?} lists nothing");
    };
    let mut text = format!("{}\n", listing.summary);
    for row in listing.rows() {
        match row {
            Row::Heading { name, place } => text.push_str(&format!("{name}  {place}\n")),
            Row::Item(Item {
                sign,
                text: path,
                note,
                detail,
                ..
            }) => {
                text.push_str(&format!("  {sign} {path}  [{note}]  {detail:?}\n"));
            }
        }
    }
    text
}

pub(crate) fn preview() -> Value {
    json!({
        "plan": { "changes": [
            { "target": "claude_code", "op": "delete", "path": "/home/ada/src/shop/.claude/commands/old.md",
              "reason": "no longer managed" },
            { "target": "codex", "op": "create", "path": "/home/ada/.codex/AGENTS.md", "reason": "file missing" },
            { "target": "codex", "op": "update", "path": "/home/ada/.codex/config.toml", "reason": "content differs",
              "update_kind": "managed_update", "keys": [{ "op": "create", "pointer": "/mcp_servers/git" }] },
            { "target": "codex", "op": "update", "path": "/home/ada/.codex/prompts/mine.md",
              "reason": "would overwrite unmanaged existing file", "update_kind": "adopt_update" },
            { "target": "codex", "op": "update", "path": "/home/ada/src/shop/.codex/skills/x/run.sh",
              "reason": "mode differs", "before_mode": "0644", "after_mode": "0755" },
        ] },
        "diff": { "files": [
            { "root": "/home/ada/src/shop", "path": ".claude/commands/old.md" },
            { "root": "/home/ada/.codex", "path": "AGENTS.md",
              "unified": "--- /dev/null\n+++ b/AGENTS.md\n@@ -0,0 +1,2 @@\n+# Base\n+\tBe brief.\n" },
            { "root": "/home/ada/.codex", "path": "config.toml" },
            { "root": "/home/ada/.codex/prompts", "path": "mine.md",
              "unified": "--- a/mine.md\n+++ b/mine.md\n@@ -1 +1 @@\n-mine\n+ours\n" },
            { "root": "/home/ada/src/shop/.codex/skills", "path": "x/run.sh" },
        ] },
        "warnings": ["unknown key `profile`"],
    })
}

pub(crate) fn status() -> Value {
    json!({ "drift": [
        { "kind": "modified", "target": "codex", "root": "/home/ada/.codex/prompts", "path": "/home/ada/.codex/prompts/mine.md" },
        { "kind": "missing", "target": "codex", "root": "/home/ada/.codex", "path": "/home/ada/.codex/AGENTS.md", "deployed": false },
        { "kind": "extra", "target": "claude_code", "root": "/home/ada/.claude/commands", "path": "/home/ada/.claude/commands/x\u{1b}[2J.md" },
        { "kind": "modified", "target": "codex", "root": "/home/ada/.codex", "path": "/home/ada/.codex/run.sh",
          "expected_mode": "0755", "actual_mode": "0644" },
    ] })
}

pub(crate) fn snapshots() -> Value {
    json!({ "snapshots": [
        { "id": "1700000000000000002", "kind": "rollback", "created_at": "2026-01-02T03:04:05Z", "targets": ["codex"],
          "summary": { "update": 1, "delete": 3 }, "head": true, "rolled_back_to": "1700000000000000001" },
        { "id": "1700000000000000001", "kind": "deploy", "created_at": "2026-01-01T03:04:05Z",
          "targets": ["claude_code", "codex"], "summary": { "create": 5 }, "head": false },
    ] })
}

#[test]
fn a_plan_is_grouped_by_target_and_root() {
    insta::assert_snapshot!(listed(&Call::Plan, preview()), @r#"
    1 to create, 3 to update, 1 to delete; 1 file not written by pack (!)
    claude_code  project
      - .claude/commands/old.md  [no longer managed]  Text("The file is deleted.")
    codex  .codex/skills
      ~ x/run.sh  [mode 0644 → 0755]  Text("mode 0644 → 0755")
    codex  ~/.codex
      + AGENTS.md  []  Text("--- /dev/null\n+++ b/AGENTS.md\n@@ -0,0 +1,2 @@\n+# Base\n+\tBe brief.\n")
      ~ config.toml  [create /mcp_servers/git]  Text("Too long for a diff, or not text.")
    codex  ~/.codex/prompts
      ! mine.md  [would overwrite unmanaged existing file]  Text("--- a/mine.md\n+++ b/mine.md\n@@ -1 +1 @@\n-mine\n+ours\n")
    "#);
}

#[test]
fn drift_has_kinds() {
    insta::assert_snapshot!(listed(&Call::Drift, status()), @r#"
    2 modified, 1 missing, 1 extra
    claude_code  ~/.claude/commands
      ? x�[2J.md  [extra]  AsPlanned("Pack did not write this file and leaves it alone.")
    codex  ~/.codex
      - AGENTS.md  [missing; not deployed yet]  AsPlanned("No diff: the plan does not restore this file.")
      ~ run.sh  [modified; mode 0644, should be 0755]  AsPlanned("No diff: the plan does not change this file.")
    codex  ~/.codex/prompts
      ~ mine.md  [modified]  AsPlanned("No diff: the plan does not change this file.")
    "#);
}

#[test]
fn history_shows_what_is_in_force() {
    insta::assert_snapshot!(listed(&Call::History, snapshots()), @"
    2 snapshots
      * 2026-01-02 03:04  rollback   1700000000000000002  [1 updated, 3 deleted; codex; in force; back to 1700000000000000001]  Unread
        2026-01-01 03:04  deploy     1700000000000000001  [5 created; claude_code, codex]  Unread
    ");
}

#[test]
fn details_of_an_event() {
    let data = json!({ "snapshot": {
        "id": "17", "kind": "deploy", "created_at": "2026-01-02T03:04:05Z", "profile": "default",
        "repo": "/home/ada/.agentpack/repo", "run_id": "run_1",
        "changes": [
            { "target": "codex", "op": "create", "path": "/home/ada/.codex/AGENTS.md" },
            { "target": "codex", "op": "delete", "path": "/home/ada/.codex/old.md" },
        ],
    } });
    let Reply::Details(text) = read(&Call::Details("17".to_owned()), data) else {
        panic!("no details");
    };
    insta::assert_snapshot!(text, @"
    snapshot    17
    kind        deploy
    when        2026-01-02 03:04
    profile     default
    repository  ~/.agentpack/repo
    run         run_1

    + ~/.codex/AGENTS.md
    - ~/.codex/old.md
    ");
}

fn asked(call: &Call, data: Value) -> String {
    let Reply::Question(question) = read(call, data) else {
        panic!("{call:?} asks nothing");
    };
    format!(
        "{}\n{}\n{:?}",
        question.title,
        question.lines.join("\n"),
        question.ask
    )
}

#[test]
fn the_question_before_applying_names_edits_and_files_in_the_way() {
    let mut data = json!({ "changes": preview()["plan"]["changes"] });
    data["local_edits"] = json!([{ "path": "/home/ada/.codex/config.toml" }]);
    insta::assert_snapshot!(asked(&Call::TryApply, data), @r#"
    Apply 5 changes?
    1 to create, 3 to update, 1 to delete
    1 file edited here since the last deploy:
    ~ ~/.codex/config.toml
    1 file not written by pack; asked about next
    Apply { unmanaged: [Unmanaged { path: "/home/ada/.codex/prompts/mine.md", shown: "~/.codex/prompts/mine.md" }] }
    "#);
    insta::assert_snapshot!(asked(&Call::TryApply, json!({ "changes": [] })), @"
    No file would change. Apply anyway?
    Manifests that are missing are written.
    Apply { unmanaged: [] }
    ");
}

#[test]
fn the_questions_before_taking_back_name_the_event() {
    let changes: Vec<Value> = (0..9)
        .map(|index| json!({ "op": "delete", "path": format!("/home/ada/.codex/{index}.md") }))
        .collect();
    let data = json!({ "undone": "17", "changes": changes, "warnings": ["2 files were edited"] });
    insta::assert_snapshot!(asked(&Call::TryUndo, data), @r#"
    Undo 17?
    - ~/.codex/0.md
    - ~/.codex/1.md
    - ~/.codex/2.md
    - ~/.codex/3.md
    - ~/.codex/4.md
    - ~/.codex/5.md
    … and 3 more
    2 files were edited
    Undo("17")
    "#);
    let data = json!({ "rolled_back_to": "16", "changes": [] });
    insta::assert_snapshot!(asked(&Call::TryRollback("16".to_owned()), data), @r#"
    Restore the state after 16?
    No file would change.
    Rollback("16")
    "#);
}

#[test]
fn what_was_done_is_a_sentence() {
    let id = || "16".to_owned();
    let one = json!([{ "op": "create", "path": "/a" }]);
    for (call, data, expected) in [
        (
            Call::Apply(Adopt::Nothing),
            json!({ "applied": true, "snapshot_id": "17", "changes": one }),
            "Applied 1 change; snapshot 17. u undoes it.",
        ),
        (
            Call::Apply(Adopt::Nothing),
            json!({ "applied": false, "reason": "no_changes", "changes": [] }),
            "Nothing to change.",
        ),
        (
            Call::Undo(id()),
            json!({ "applied": true, "snapshot_id": "17", "undone": "16" }),
            "Undone: 16; snapshot 17.",
        ),
        (
            Call::Rollback(id()),
            json!({ "rolled_back_to": "16", "event_snapshot_id": "17" }),
            "Rolled back to 16; snapshot 17.",
        ),
        (
            Call::Rollback(id()),
            json!({ "rolled_back_to": "16", "event_snapshot_id": null, "reason": "no_changes" }),
            "Nothing to change.",
        ),
    ] {
        assert_eq!(read(&call, data), Reply::Done(expected.to_owned()));
    }
}

#[test]
fn an_answer_of_another_shape_is_a_failure() {
    let problem = reply(&Call::Plan, &json!({ "plan": 3 }), &short()).unwrap_err();
    assert_eq!(problem.code().name, "INTERNAL");
}

#[test]
fn all_warnings_are_listed_where_the_footer_has_no_room() {
    let mut data = preview();
    assert!(!listed(&Call::Plan, data.clone()).contains("warnings"));
    data["warnings"] = json!([
        "unknown key `profile`",
        "unknown key `tag`",
        "overlay drift"
    ]);
    let text = listed(&Call::Plan, data.clone());
    let rows = text.split_once("warnings").unwrap().1;
    for warning in [
        "! unknown key `profile`",
        "! unknown key `tag`",
        "! overlay drift",
    ] {
        assert!(rows.contains(warning), "{rows}");
    }
    data["warnings"] = json!(["long ".repeat(40)]);
    assert!(listed(&Call::Plan, data).contains("warnings"));
}
