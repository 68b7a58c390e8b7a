//! Rollback, undo, uninstall, restore.

use windlass_pack_deploy::{PathPattern, UndoRequest, gather_disk, plan_restore, undo};
use windlass_pack_model::{NoHashCache, SnapshotKind, SnapshotOp, Target::Codex};

use super::world::{World, lines, want};

const ROOTS: [(windlass_pack_model::Target, &str); 1] = [(Codex, "a")];

#[test]
fn a_rollback_restores_the_state_after_a_snapshot() {
    let world = World::new();
    let mut script = want(Codex, "a/run.sh", "#!/bin/sh");
    script.executable = true;
    let first_wants = [want(Codex, "a/AGENTS.md", "one"), script];
    let first = world.deploy(&world.desired(&ROOTS, &first_wants));
    world.deploy(&world.desired(
        &ROOTS,
        &[
            want(Codex, "a/AGENTS.md", "two"),
            want(Codex, "a/new.md", "new"),
        ],
    ));
    world.write("a/AGENTS.md", "edited");
    world.write("a/own.md", "the user's own");
    let event = world.plan_rollback(&first, None).unwrap();
    insta::assert_debug_snapshot!(lines(&world, &event.changes), @r#"
    [
        "update a/AGENTS.md managed_update: differs from the snapshot",
        "delete a/new.md: not in the snapshot",
        "create a/run.sh: differs from the snapshot",
    ]
    "#);
    assert_eq!(event.local_edits.len(), 1);
    let id = world.apply(&event);
    assert_eq!(world.read("a/AGENTS.md").unwrap(), "one");
    assert_eq!(world.mode("a/run.sh") & 0o100, 0o100);
    assert_eq!(world.read("a/own.md").unwrap(), "the user's own");
    assert!(world.plan(&world.desired(&ROOTS, &first_wants)).is_empty());
    let snapshot = world.state.snapshot(&id).unwrap();
    assert_eq!(snapshot.kind, SnapshotKind::Rollback);
    assert_eq!(snapshot.rolled_back_to.as_deref(), Some(first.as_str()));
    assert!(
        snapshot
            .changes
            .iter()
            .any(|change| change.op == SnapshotOp::RollbackDelete)
    );

    // The event is no state to go to, and undoing it brings even the edit back.
    let problem = world.plan_rollback(&id, None).unwrap_err();
    assert_eq!(
        problem.details()["reason_code"],
        "snapshot_is_rollback_event"
    );
    assert!(problem.message().contains(&first));
    world.undo(&id);
    assert_eq!(world.read("a/AGENTS.md").unwrap(), "edited");
    assert_eq!(world.read("a/new.md").unwrap(), "new");
}

#[test]
fn a_rollback_to_where_we_are_does_nothing() {
    let world = World::new();
    let first = world.deploy(&world.desired(&ROOTS, &[want(Codex, "a/AGENTS.md", "one")]));
    assert!(world.plan_rollback(&first, None).unwrap().is_noop());
    assert_eq!(
        world.plan_rollback("12", None).unwrap_err().details()["reason_code"],
        "snapshot_not_found"
    );
}

#[test]
fn a_rollback_over_a_foreign_file_can_be_undone() {
    let world = World::new();
    let first = world.deploy(&world.desired(&ROOTS, &[want(Codex, "a/AGENTS.md", "one")]));
    world.deploy(&world.desired(&ROOTS, &[]));
    world.write("a/AGENTS.md", "the user's own");
    let id = world.rollback(&first);
    assert_eq!(world.read("a/AGENTS.md").unwrap(), "one");
    world.undo(&id);
    assert_eq!(world.read("a/AGENTS.md").unwrap(), "the user's own");
    assert!(
        world.plan(&world.desired(&ROOTS, &[])).is_empty(),
        "and it is not ours"
    );
}

#[test]
fn undoing_an_old_event_leaves_newer_work_alone() {
    let world = World::new();
    world.deploy(&world.desired(&ROOTS, &[want(Codex, "a/x.md", "x1")]));
    let second = world.deploy(&world.desired(
        &ROOTS,
        &[want(Codex, "a/x.md", "x2"), want(Codex, "a/y.md", "y")],
    ));
    world.deploy(&world.desired(
        &ROOTS,
        &[
            want(Codex, "a/x.md", "x2"),
            want(Codex, "a/y.md", "y"),
            want(Codex, "a/z.md", "z"),
        ],
    ));
    world.undo(&second);
    assert_eq!(world.read("a/x.md").unwrap(), "x1");
    assert_eq!(world.read("a/y.md"), None);
    assert_eq!(world.read("a/z.md").unwrap(), "z");
    let now = world.desired(
        &ROOTS,
        &[want(Codex, "a/x.md", "x1"), want(Codex, "a/z.md", "z")],
    );
    assert!(world.plan(&now).is_empty(), "ownership follows");
}

#[test]
fn undo_twice_is_redo() {
    let world = World::new();
    world.deploy(&world.desired(&ROOTS, &[want(Codex, "a/x.md", "x1")]));
    let second = world.deploy(&world.desired(&ROOTS, &[want(Codex, "a/y.md", "y")]));
    let undone = world.undo(&second);
    assert_eq!(world.tree("a").into_keys().collect::<Vec<_>>(), ["x.md"]);
    world.undo(&undone);
    assert_eq!(world.tree("a").into_keys().collect::<Vec<_>>(), ["y.md"]);
    assert!(
        world
            .plan(&world.desired(&ROOTS, &[want(Codex, "a/y.md", "y")]))
            .is_empty()
    );
}

#[test]
fn one_path_of_an_event_can_be_undone() {
    let world = World::new();
    let id = world.deploy(&world.desired(
        &ROOTS,
        &[want(Codex, "a/x.md", "x"), want(Codex, "a/y.md", "y")],
    ));
    let event = world.state.snapshot(&id).unwrap();
    let only = [PathPattern::new(world.path("a/y.md").to_str().unwrap())];
    let request = UndoRequest {
        event: &event,
        only: &only,
    };
    world.apply(&undo(&world.state, &request, &NoHashCache).unwrap());
    assert_eq!(world.tree("a").into_keys().collect::<Vec<_>>(), ["x.md"]);
    assert!(
        world
            .plan(&world.desired(&ROOTS, &[want(Codex, "a/x.md", "x")]))
            .is_empty()
    );
    let nowhere = [PathPattern::new("/nowhere")];
    let request = UndoRequest {
        event: &event,
        only: &nowhere,
    };
    assert!(undo(&world.state, &request, &NoHashCache).is_err());
}

#[test]
fn undo_does_not_delete_what_pack_no_longer_manages() {
    let world = World::new();
    let id = world.deploy(&world.desired(&ROOTS, &[want(Codex, "a/x.md", "x")]));
    world.deploy(&world.desired(&ROOTS, &[]));
    world.write("a/x.md", "the user's own");
    world.undo(&id);
    assert_eq!(world.read("a/x.md").unwrap(), "the user's own");
}

#[test]
fn must_12_an_unreadable_snapshot_is_skipped() {
    let world = World::new();
    let desired = world.desired(&ROOTS, &[want(Codex, "a/x.md", "x")]);
    world.deploy(&desired);
    fs_err::write(
        world.state.home().snapshot_file("1800000000000000000"),
        "{ not json",
    )
    .unwrap();
    fs_err::remove_file(world.path("a/.agentpack.manifest.codex.json")).unwrap();
    let owned = world.owned(&desired, None);
    assert_eq!(owned.roots[0].files.len(), 1, "found in the older snapshot");
    assert!(
        owned
            .warnings
            .iter()
            .any(|warning| warning.contains("1800000000000000000")),
        "{:?}",
        owned.warnings
    );
}

#[test]
fn must_32_a_restore_recreates_only_what_is_missing_and_records_it() {
    let world = World::new();
    let desired = world.desired(
        &ROOTS,
        &[
            want(Codex, "a/x.md", "x"),
            want(Codex, "a/y.md", "y"),
            want(Codex, "a/z.md", "z"),
        ],
    );
    world.deploy(&desired);
    world.write("a/x.md", "edited");
    fs_err::remove_file(world.path("a/y.md")).unwrap();
    let owned = world.owned(&desired, None);
    let disk = gather_disk(&desired, &owned, &NoHashCache);
    let restore = plan_restore(&desired, &owned, &disk, None).unwrap();
    assert_eq!((restore.summary.missing, restore.summary.restored), (1, 0));
    assert_eq!(restore.summary.skipped_existing, 2);
    assert_eq!(restore.summary_applied().restored, 1);
    assert_eq!(
        lines(&world, &restore.event.changes),
        ["create a/y.md: file missing"]
    );
    let id = world.apply(&restore.event);
    assert_eq!(world.read("a/x.md").unwrap(), "edited");
    assert_eq!(world.read("a/y.md").unwrap(), "y");
    let snapshot = world.state.snapshot(&id).unwrap();
    assert_eq!(snapshot.kind, SnapshotKind::Restore);
    assert_eq!(snapshot.managed_files.len(), 3);

    // One module only; and a first restore without any deploy leaves a manifest.
    let fresh = World::new();
    let mut other = want(Codex, "a/o.md", "o");
    other.module = "skill:other".to_owned();
    let desired = fresh.desired(&ROOTS, &[want(Codex, "a/x.md", "x"), other]);
    let owned = fresh.owned(&desired, None);
    let disk = gather_disk(&desired, &owned, &NoHashCache);
    let restore = plan_restore(&desired, &owned, &disk, Some("skill:other")).unwrap();
    fresh.apply(&restore.event);
    assert_eq!(fresh.tree("a").into_keys().collect::<Vec<_>>(), ["o.md"]);
    assert!(
        fresh
            .read("a/.agentpack.manifest.codex.json")
            .unwrap()
            .contains("o.md")
    );
}

#[test]
fn must_15_directories_that_become_empty_are_removed() {
    let world = World::new();
    let roots = [(Codex, "home/.codex/skills")];
    world.write("home/.codex/skills/own/SKILL.md", "the user's own");
    world.deploy(&world.desired(
        &roots,
        &[want(Codex, "home/.codex/skills/demo/deep/x.md", "x")],
    ));
    world.deploy(&world.desired(&roots, &[]));
    assert!(!world.path("home/.codex/skills/demo").exists());
    assert!(world.path("home/.codex/skills/own").exists());
}
