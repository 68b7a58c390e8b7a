//! Homes that version 0.9.1 wrote.

use serde_json::json;
use windlass_pack_deploy::Adoption;
use windlass_pack_model::Target::{ClaudeCode, Codex};
use windlass_types::Digest;

use super::world::{World, lines, want};

const SHA: fn(&str) -> String = |text| Digest::of(text.as_bytes()).to_string();

fn key(path: &str) -> String {
    Digest::of(path.as_bytes()).to_string()[..16].to_owned()
}

/// Writes what 0.9.1 leaves after deploying some files of codex into one root.
fn v1_deploy(
    world: &World,
    id: &str,
    kind: &str,
    target: &str,
    root: &str,
    files: &[(&str, &str, &str)],
) {
    let home = world.path("home/.agentpack/state/snapshots");
    let path = |name: &str| world.path(root).join(name).to_str().unwrap().to_owned();
    let manifest = json!({
        "schema_version": 1, "generated_at": "2025-01-01T00:00:00Z", "tool": target, "snapshot_id": id,
        "managed_files": files.iter().map(|(name, text, module)| json!({
            "path": name, "sha256": SHA(text), "module_ids": [module],
        })).collect::<Vec<_>>(),
    });
    let manifest_text = format!("{:#}\n", manifest);
    let manifest_path = path(&format!(".agentpack.manifest.{target}.json"));
    let mut changes = Vec::new();
    for (name, text, _) in files {
        world.write(&format!("{root}/{name}"), text);
        world.chmod(&format!("{root}/{name}"), 0o600);
        let state = home
            .join(id)
            .join("state")
            .join(target)
            .join(key(&path(name)));
        fs_err::create_dir_all(state.parent().unwrap()).unwrap();
        fs_err::write(state, text).unwrap();
        changes.push(json!({"target": target, "op": "create", "path": path(name), "after_sha256": SHA(text)}));
    }
    fs_err::create_dir_all(world.path(root)).unwrap();
    fs_err::write(&manifest_path, &manifest_text).unwrap();
    fs_err::create_dir_all(home.join(id).join("state").join(target)).unwrap();
    fs_err::write(
        home.join(id)
            .join("state")
            .join(target)
            .join(key(&manifest_path)),
        &manifest_text,
    )
    .unwrap();
    changes.push(json!({"target": target, "op": "create", "path": manifest_path, "after_sha256": SHA(&manifest_text)}));
    let snapshot = json!({
        "kind": kind, "id": id, "created_at": "2025-01-01T00:00:00Z", "targets": [target],
        "managed_files": files.iter().map(|(name, text, _)| json!({
            "target": target, "path": path(name), "sha256": SHA(text),
        })).collect::<Vec<_>>(),
        "changes": changes, "lockfile_sha256": null,
        "backup_root": home.join(id).join("backup").to_str().unwrap(),
    });
    fs_err::write(home.join(format!("{id}.json")), format!("{snapshot:#}\n")).unwrap();
}

#[test]
fn an_old_deployment_is_simply_there() {
    let world = World::new();
    v1_deploy(
        &world,
        "1600000000000000000",
        "deploy",
        "codex",
        "a",
        &[
            ("AGENTS.md", "one", "instructions:x"),
            ("run.sh", "run", "skill:x"),
        ],
    );
    let roots = [(Codex, "a")];
    let mut script = want(Codex, "a/run.sh", "run");
    script.executable = true;
    let same = world.desired(
        &roots,
        &[
            want(Codex, "a/AGENTS.md", "one"),
            want(Codex, "a/run.sh", "run"),
        ],
    );
    assert!(world.plan(&same).is_empty(), "0600 is no difference");
    let with_script = world.desired(&roots, &[want(Codex, "a/AGENTS.md", "one"), script]);
    assert!(
        world.status(&with_script).summary.is_clean(),
        "a bit 0.9.1 never set is no drift"
    );
    assert_eq!(
        lines(&world, &world.plan(&with_script).changes),
        ["update a/run.sh managed_update: mode differs"]
    );
    world.deploy(&with_script);
    assert_eq!(world.mode("a/run.sh"), 0o700);
}

#[test]
fn old_snapshots_can_be_rolled_back_to() {
    let world = World::new();
    let first = "1600000000000000000";
    v1_deploy(
        &world,
        first,
        "deploy",
        "codex",
        "a",
        &[("AGENTS.md", "one", "m:x"), ("old.md", "old", "m:x")],
    );
    let roots = [(Codex, "a")];
    world.deploy(&world.desired(
        &roots,
        &[
            want(Codex, "a/AGENTS.md", "two"),
            want(Codex, "a/new.md", "new"),
        ],
    ));
    world.rollback(first);
    assert_eq!(
        world.tree("a").into_iter().collect::<Vec<_>>(),
        [
            ("AGENTS.md".to_owned(), "one".to_owned()),
            ("old.md".to_owned(), "old".to_owned()),
        ]
    );
    let manifest = world.read("a/.agentpack.manifest.codex.json").unwrap();
    assert!(
        manifest.contains("m:x"),
        "module ids come from the old manifest"
    );
    let again = world.desired(
        &roots,
        &[
            want(Codex, "a/AGENTS.md", "one"),
            want(Codex, "a/old.md", "old"),
        ],
    );
    assert!(world.plan(&again).is_empty());
}

#[test]
fn must_1_old_snapshots_of_another_project_are_not_ours() {
    let world = World::new();
    v1_deploy(
        &world,
        "1600000000000000000",
        "deploy",
        "codex",
        "b",
        &[("AGENTS.md", "b", "m:x")],
    );
    let roots = [(Codex, "a")];
    assert!(world.plan(&world.desired(&roots, &[])).is_empty());
    // Not even when b's manifest is gone and b lies inside a.
    v1_deploy(
        &world,
        "1600000000000000001",
        "deploy",
        "codex",
        "a/inner",
        &[("AGENTS.md", "b", "m:x")],
    );
    fs_err::remove_file(world.path("a/inner/.agentpack.manifest.codex.json")).unwrap();
    assert!(world.plan(&world.desired(&roots, &[])).is_empty());
}

#[test]
fn the_old_manifest_name_is_read_and_replaced() {
    let world = World::new();
    v1_deploy(
        &world,
        "1600000000000000000",
        "deploy",
        "codex",
        "a",
        &[("AGENTS.md", "one", "m:x")],
    );
    let legacy = world.path("a/.agentpack.manifest.json");
    fs_err::rename(world.path("a/.agentpack.manifest.codex.json"), &legacy).unwrap();
    let roots = [(Codex, "a")];
    let same = world.desired(&roots, &[want(Codex, "a/AGENTS.md", "one")]);
    let plan = world.plan(&same);
    assert!(!plan.warnings.is_empty());
    assert!(
        plan.approve(&Adoption::none()).unwrap().is_noop(),
        "a legacy manifest is one"
    );
    let id = world.deploy(&world.desired(&roots, &[want(Codex, "a/AGENTS.md", "two")]));
    assert!(!legacy.exists());
    assert!(world.path("a/.agentpack.manifest.codex.json").exists());
    world.undo(&id);
    assert_eq!(world.read("a/AGENTS.md").unwrap(), "one");
    assert!(world.plan(&same).is_empty());
}

#[test]
fn must_2_operator_assets_of_0_9_1_are_kept() {
    let world = World::new();
    let root = "home/.claude/commands";
    v1_deploy(
        &world,
        "1600000000000000000",
        "bootstrap",
        "claude_code",
        root,
        &[("ap-plan.md", "op", "command:ap-plan")],
    );
    let roots = [(ClaudeCode, root)];
    let mine = want(ClaudeCode, "home/.claude/commands/mine.md", "mine");
    let desired = world.desired(&roots, std::slice::from_ref(&mine));
    assert_eq!(world.plan(&desired).summary.delete, 0);
    world.deploy(&desired);
    assert!(world.status(&desired).summary.is_clean());
    world.deploy(&world.desired(&roots, &[]));
    assert!(world.read("home/.claude/commands/ap-plan.md").is_some());

    // A module of that name, deployed by 0.9.1, is a module's file like any other.
    let world = World::new();
    v1_deploy(
        &world,
        "1600000000000000000",
        "deploy",
        "claude_code",
        root,
        &[("ap-plan.md", "op", "command:ap-plan")],
    );
    assert_eq!(world.plan(&world.desired(&roots, &[])).summary.delete, 1);
}

#[test]
fn originals_that_0_9_1_replaced_can_come_back() {
    let world = World::new();
    let id = "1600000000000000000";
    v1_deploy(
        &world,
        id,
        "deploy",
        "codex",
        "a",
        &[("AGENTS.md", "ours", "m:x")],
    );
    let path = world
        .path("home/.agentpack/state/snapshots")
        .join(format!("{id}.json"));
    let mut snapshot: serde_json::Value =
        serde_json::from_slice(&fs_err::read(&path).unwrap()).unwrap();
    let backup = world
        .path("home/.agentpack/state/snapshots")
        .join(id)
        .join("backup/codex/x");
    fs_err::create_dir_all(backup.parent().unwrap()).unwrap();
    fs_err::write(&backup, "theirs").unwrap();
    snapshot["changes"][0]["op"] = json!("update");
    snapshot["changes"][0]["before_sha256"] = json!(SHA("theirs"));
    snapshot["changes"][0]["backup_path"] = json!(backup.to_str().unwrap());
    fs_err::write(&path, snapshot.to_string()).unwrap();
    let desired = world.desired(&[(Codex, "a")], &[want(Codex, "a/AGENTS.md", "newer")]);
    world.deploy(&desired);
    world.uninstall(&desired, true);
    assert_eq!(world.read("a/AGENTS.md").unwrap(), "theirs");
}
