//! Two projects with one home, options switched off, modules removed: no other file is ever
//! touched.

use std::path::{Path, PathBuf};

use serde_json::json;

use super::place::{Client, PackPlace, picture};
use crate::suite::support::directory::{fill, read_tree};

/// A project next to the first one.
fn other(place: &PackPlace) -> PathBuf {
    let path = place.root().join("other");
    std::fs::create_dir(&path).unwrap();
    path
}

fn remove_manifests(directory: &Path) {
    for name in read_tree(directory).into_keys() {
        if name.contains(".agentpack.manifest.") {
            fs_err::remove_file(directory.join(name)).unwrap();
        }
    }
}

fn planned(client: &mut Client, place: &PackPlace) -> Vec<String> {
    client.call("plan", json!({})).changes(place)
}

#[test]
fn must_1_a_deploy_in_one_project_never_plans_anothers_deletes() {
    for with_manifests in [true, false] {
        let place = PackPlace::new();
        let second = other(&place);
        let (mut a, mut b) = (place.serve(), place.serve_in(&second));
        a.deploy();
        // The user's files are deployed already; b's own are not.
        assert_eq!(
            planned(&mut b, &place),
            [
                "create ROOT/other/.claude/commands/greet.md",
                "create ROOT/other/.codex/skills/demo/SKILL.md",
                "create ROOT/other/.codex/skills/demo/run.sh",
                "create ROOT/other/AGENTS.md",
            ]
        );
        b.deploy();
        if !with_manifests {
            remove_manifests(&place.project());
            remove_manifests(&second);
        }
        let of_a = picture(&place.project());
        // Nothing is wanted in projects any more.
        place.edit_manifest("scope: both", "scope: user");
        let changes = planned(&mut b, &place);
        assert_eq!(changes.len(), 4, "manifests {with_manifests}: {changes:?}");
        assert!(
            changes
                .iter()
                .all(|line| line.starts_with("delete ROOT/other/")),
            "{changes:?}"
        );
        b.deploy();
        assert_eq!(picture(&place.project()), of_a);
        let left: Vec<String> = read_tree(&second).into_keys().collect();
        let files: Vec<&String> = left
            .iter()
            .filter(|name| !name.contains(".agentpack.manifest."))
            .filter(|name| !name.ends_with('/'))
            .collect();
        assert!(files.is_empty(), "{left:?}");
        assert_eq!(planned(&mut b, &place), Vec::<String>::new());
        assert_eq!(planned(&mut a, &place).len(), 4);
    }
}

#[test]
fn must_1_a_rollback_in_one_project_leaves_the_other() {
    let place = PackPlace::new();
    let second = other(&place);
    let (mut a, mut b) = (place.serve(), place.serve_in(&second));
    let first = a.deploy();
    b.deploy();
    place.repo_file("modules/base/AGENTS.md", "# Second\n");
    a.deploy();
    let of_b = picture(&second);
    let tool_reply = a.call("rollback", json!({ "to": first, "yes": true }));
    assert_eq!(
        tool_reply.data()["rolled_back_to"],
        first,
        "{:#}",
        tool_reply.0
    );
    assert_eq!(picture(&second), of_b);
    assert_eq!(read_tree(&place.project())["AGENTS.md"], "# Base\n");
    // A rollback event is no state to go back to.
    let event = tool_reply.data()["event_snapshot_id"].clone();
    let tool_reply = a.call("rollback", json!({ "to": event, "yes": true }));
    tool_reply.refused_for("E_UNEXPECTED", "snapshot_is_rollback_event");
}

#[test]
fn must_11_a_snapshot_of_another_repository_is_refused() {
    let place = PackPlace::new();
    let mut client = place.serve();
    let id = client.deploy();
    let elsewhere = place.root().join("repo2");
    fill(&elsewhere, &[("agentpack.yaml", super::place::MANIFEST)]);
    let before = place.picture();
    let tool_reply = client.call(
        "rollback",
        json!({ "to": id, "yes": true, "repo": elsewhere }),
    );
    tool_reply.refused_for("E_UNEXPECTED", "snapshot_not_found");
    assert_eq!(place.picture(), before);
}

#[test]
fn must_9_switching_an_option_or_target_off_plans_its_deletes() {
    let place = PackPlace::new();
    let mut client = place.serve();
    client.deploy();
    fill(
        &place.project(),
        &[(".codex/skills/mine/SKILL.md", "mine\n")],
    );
    place.edit_manifest(
        "options: {}\n  claude",
        "options:\n      write_repo_skills: false\n  claude",
    );
    assert_eq!(
        planned(&mut client, &place),
        [
            "delete ROOT/project/.codex/skills/demo/SKILL.md",
            "delete ROOT/project/.codex/skills/demo/run.sh",
        ]
    );
    client.deploy();
    let tree = read_tree(&place.project());
    assert_eq!(tree[".codex/skills/mine/SKILL.md"], "mine\n");
    assert!(!tree.contains_key(".codex/skills/demo/"), "{tree:?}");
    // A whole target.
    place.edit_manifest(
        "  claude_code:\n    mode: files\n    scope: both\n    options: {}\n",
        "",
    );
    assert_eq!(
        planned(&mut client, &place),
        [
            "delete ROOT/project/.claude/commands/greet.md",
            "delete ROOT/user/.claude/commands/greet.md",
        ]
    );
    client.deploy();
    assert!(!place.user().join(".claude/commands/greet.md").exists());
    assert_eq!(planned(&mut client, &place), Vec::<String>::new());
}

#[test]
fn a_removed_module_is_deleted_and_foreign_files_stay() {
    let place = PackPlace::new();
    let mut client = place.serve();
    client.deploy();
    fill(
        &place.user(),
        &[
            (".codex/skills/demo/notes.txt", "mine\n"),
            (".codex/config.toml", "model = \"x\"\n"),
        ],
    );
    let text = fs_err::read_to_string(place.repo().join("agentpack.yaml")).unwrap();
    let (before, after) = text.split_once("  - id: skill:demo").unwrap();
    let (_, after) = after.split_once("  - id: command:greet").unwrap();
    place.repo_file(
        "agentpack.yaml",
        &format!("{before}  - id: command:greet{after}"),
    );
    client.deploy();
    let tree = read_tree(&place.user());
    assert_eq!(tree[".codex/skills/demo/notes.txt"], "mine\n");
    assert_eq!(tree[".codex/config.toml"], "model = \"x\"\n");
    assert!(!tree.contains_key(".codex/skills/demo/SKILL.md"));
    let project = read_tree(&place.project());
    assert!(!project.contains_key(".codex/skills/demo/"), "{project:?}");
    assert!(project.contains_key("AGENTS.md"));
}

#[test]
fn must_3_an_identical_file_of_the_user_is_not_taken_over() {
    let place = PackPlace::new();
    fill(&place.project(), &[("AGENTS.md", "# Base\n")]);
    let mut client = place.serve();
    let changes = planned(&mut client, &place);
    assert!(
        !changes
            .iter()
            .any(|line| line.ends_with("project/AGENTS.md")),
        "{changes:?}"
    );
    client.deploy();
    // No module wants it any more: it stays, since it was never ours.
    place.edit_manifest(
        "tags: [base]\n    source:\n      local_path:\n        path: modules/base\n",
        "tags: [other]\n    source:\n      local_path:\n        path: modules/base\n",
    );
    let changes = planned(&mut client, &place);
    assert_eq!(changes, ["delete ROOT/user/.codex/AGENTS.md"]);
    client.deploy();
    assert_eq!(read_tree(&place.project())["AGENTS.md"], "# Base\n");
}

#[test]
fn must_13_modes_follow_the_source() {
    use std::os::unix::fs::PermissionsExt as _;
    let place = PackPlace::new();
    let script = place.repo().join("modules/demo/run.sh");
    let set = |mode: u32| {
        std::fs::set_permissions(&script, std::fs::Permissions::from_mode(mode)).unwrap();
    };
    let deployed = place.project().join(".codex/skills/demo/run.sh");
    let mode = || std::fs::metadata(&deployed).unwrap().permissions().mode() & 0o777;
    set(0o755);
    let mut client = place.serve();
    client.deploy();
    assert_eq!(mode() & 0o111, 0o111);
    assert_eq!(
        std::fs::metadata(place.project().join("AGENTS.md"))
            .unwrap()
            .permissions()
            .mode()
            & 0o077,
        0o044,
        "not forced to 0600"
    );
    set(0o644);
    let tool_reply = client.call("plan", json!({}));
    assert_eq!(
        tool_reply.data()["changes"][0]["reason"],
        "mode differs",
        "{:#}",
        tool_reply.0
    );
    client.deploy();
    assert_eq!(mode() & 0o111, 0);
}
