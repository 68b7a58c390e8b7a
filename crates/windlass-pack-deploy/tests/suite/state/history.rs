//! Listing and pruning snapshots.

use std::path::PathBuf;

use windlass_pack_deploy::state::{Kept, PruneRule};
use windlass_pack_model::{SnapshotKind, SnapshotOp, Target};
use windlass_types::Timestamp;

use super::{
    heads::{change, event, save},
    world::{World, create, delete, digest, put, reason, root, update},
};

/// Five deploys of one file, each a second apart.
fn world_with_history() -> World {
    let world = World::new();
    let path = world.codex().join("a.md");
    for second in 1..=5_u64 {
        let id = (second * 1_000_000_000).to_string();
        let after = format!("text {second}");
        let change = match second {
            1 => create(path.clone(), &after),
            _ => update(path.clone(), &format!("text {}", second - 1), &after),
        };
        world.commit(world.transaction(&id, vec![change])).unwrap();
    }
    world
}

fn ids(seconds: &[u64]) -> Vec<String> {
    let id = |second: &u64| (second * 1_000_000_000).to_string();
    seconds.iter().map(id).collect()
}

#[test]
fn must_12_an_unreadable_snapshot_is_skipped_with_a_warning() {
    let world = world_with_history();
    put(&world.state.home().snapshot_file("4000000000"), "{ half");
    put(&world.state.home().snapshot_file("3000000000"), "\u{0}");
    put(&world.state.home().snapshots().join("notes.txt"), "mine");
    let history = world.state.history().unwrap();
    assert_eq!(history.warnings.len(), 2);
    assert!(history.warnings[0].contains("4000000000.json"));
    let listed: Vec<_> = history.snapshots.iter().map(|s| s.id.clone()).collect();
    assert_eq!(listed, ids(&[5, 2, 1]));
    let problem = world.state.snapshot("4000000000").unwrap_err();
    assert_eq!(reason(&problem), "snapshot_corrupt");
    for absent in ["42", "../../etc/passwd", ""] {
        let problem = world.state.snapshot(absent).unwrap_err();
        assert_eq!(reason(&problem), "snapshot_not_found");
    }
}

#[test]
fn must_31_snapshots_are_listed() {
    let world = world_with_history();
    let history = world.state.history().unwrap();
    let newest = &history.snapshots[0];
    assert!(newest.head && !newest.originals);
    assert_eq!(
        (newest.created, newest.updated, newest.deleted, newest.files),
        (0, 1, 0, 1)
    );
    let record = fs_err::metadata(world.state.home().snapshot_file(&newest.id)).unwrap();
    // Its own content and nothing else: the one before belongs to two snapshots.
    assert_eq!(newest.bytes, record.len() + "text 5".len() as u64);
    assert_eq!(history.snapshots.iter().filter(|s| s.head).count(), 1);
}

#[test]
fn must_31_pruning_follows_its_limits() {
    let rule = PruneRule::default();
    let older = |seconds: i64| Some(Timestamp::from_millis(seconds * 1000));
    for (rule, removed) in [
        (
            PruneRule {
                keep: Some(2),
                ..rule
            },
            &[1, 2, 3][..],
        ),
        (
            PruneRule {
                keep: Some(9),
                ..rule
            },
            &[],
        ),
        (
            PruneRule {
                keep: Some(0),
                ..rule
            },
            &[1, 2, 3, 4],
        ),
        (
            PruneRule {
                older_than: older(3),
                ..rule
            },
            &[1, 2],
        ),
        (
            PruneRule {
                keep: Some(4),
                older_than: older(3),
                ..rule
            },
            &[1],
        ),
    ] {
        let world = world_with_history();
        let planned = world
            .state
            .prune(&PruneRule {
                dry_run: true,
                ..rule
            })
            .unwrap();
        assert_eq!(planned.removed, ids(removed), "{rule:?}");
        assert_eq!(world.snapshots().len(), 5, "a dry run removes nothing");
        let pruned = world.state.prune(&rule).unwrap();
        assert_eq!(pruned, planned, "{rule:?}");
        assert_eq!(world.snapshots().len(), 5 - removed.len());
        // What the remaining ones need is still there, what only the others needed is not.
        for second in 1..=5 {
            let needed = !removed.contains(&second) || !removed.contains(&(second + 1));
            let stored = world
                .state
                .blobs()
                .contains(&digest(&format!("text {second}")));
            assert_eq!(stored, needed, "{rule:?} text {second}");
        }
    }
    let problem = World::new().state.prune(&rule).unwrap_err();
    assert_eq!(reason(&problem), "invalid_arguments");
}

#[test]
fn must_31_pruning_never_takes_a_head_nor_what_says_so() {
    let world = World::new();
    let (a, b) = (
        root(Target::Codex, PathBuf::from("/a")),
        root(Target::Codex, PathBuf::from("/b")),
    );
    for (id, root) in [("1", &b), ("2", &a), ("3", &a), ("4", &a)] {
        save(
            &world,
            &event(id, SnapshotKind::Deploy, &[], std::slice::from_ref(root)),
        );
    }
    let mut back = event("5", SnapshotKind::Rollback, &[], std::slice::from_ref(&a));
    back.rolled_back_to = Some("3".to_owned());
    save(&world, &back);
    let all = PruneRule {
        keep: Some(0),
        ..PruneRule::default()
    };
    let pruned = world.state.prune(&all).unwrap();
    assert_eq!(pruned.removed, ["2", "4"]);
    let kept: Vec<_> = pruned
        .kept
        .iter()
        .map(|(id, why)| (id.as_str(), *why))
        .collect();
    assert_eq!(
        kept,
        [("1", Kept::Head), ("3", Kept::Head), ("5", Kept::Head)]
    );
    let heads = world.state.heads(&[a.clone(), b]).unwrap();
    assert_eq!(heads.by_root[&a].snapshot.id, "3");
}

#[test]
fn must_5_originals_of_adopted_files_survive_pruning() {
    let world = World::new();
    let path = world.codex().join("a.md");
    put(&path, "original");
    let mut adopt = update(path.clone(), "original", "one");
    adopt.adopted = true;
    world.commit(world.transaction("1", vec![adopt])).unwrap();
    world
        .commit(world.transaction("2", vec![update(path.clone(), "one", "two")]))
        .unwrap();
    world
        .commit(world.transaction("3", vec![delete(path, "two")]))
        .unwrap();
    let all = PruneRule {
        keep: Some(0),
        ..PruneRule::default()
    };
    let pruned = world.state.prune(&all).unwrap();
    assert_eq!(pruned.removed, ["2"]);
    assert_eq!(pruned.kept[0], ("1".to_owned(), Kept::Originals));
    let snapshot = world.state.snapshot("1").unwrap();
    let before = world.state.content_before(&snapshot, &snapshot.changes[0]);
    assert_eq!(before.unwrap().unwrap(), b"original");

    let really = PruneRule {
        include_originals: true,
        ..all
    };
    assert_eq!(world.state.prune(&really).unwrap().removed, ["1"]);
    assert!(!world.state.blobs().contains(&digest("original")));
}

#[test]
fn must_5_originals_in_old_snapshots_are_recognised() {
    let world = World::new();
    let files = [
        "/a/.agentpack.manifest.codex.json",
        "/a/ours.md",
        "/a/adopted.md",
    ];
    let old = |id: &str, updated: &[&str]| {
        let mut snapshot = event(id, SnapshotKind::Deploy, &files, &[]);
        for change in &mut snapshot.changes {
            if updated.contains(&change.path.to_str().unwrap()) {
                change.op = SnapshotOp::Update;
                change.before_sha256 = Some(digest("before"));
            }
        }
        snapshot
    };
    // The first adopts; the second only updates what is managed since.
    save(&world, &old("1", &["/a/adopted.md"]));
    save(&world, &old("2", &["/a/ours.md", "/a/adopted.md"]));
    save(&world, &old("3", &[]));
    let history = world.state.history().unwrap();
    let originals: Vec<_> = history.snapshots.iter().map(|s| s.originals).collect();
    assert_eq!(originals, [false, false, true]);
    assert_eq!(change("/x").op, SnapshotOp::Create);
}

#[test]
fn nothing_is_swept_while_a_snapshot_cannot_be_read() {
    let world = world_with_history();
    put(&world.state.home().snapshot_file("2000000000"), "{ half");
    let rule = PruneRule {
        keep: Some(1),
        ..PruneRule::default()
    };
    let pruned = world.state.prune(&rule).unwrap();
    assert_eq!(pruned.removed, ids(&[1, 3, 4]));
    assert_eq!(pruned.blobs, 0);
    assert!(
        pruned
            .warnings
            .iter()
            .any(|warning| warning.contains("not swept"))
    );
    for second in 1..=5 {
        assert!(
            world
                .state
                .blobs()
                .contains(&digest(&format!("text {second}")))
        );
    }
}

#[test]
fn an_interrupted_transaction_keeps_its_contents() {
    let world = world_with_history();
    let path = world.codex().join("b.md");
    let crash = super::world::At::new(super::world::Fault::Crash, 6);
    world
        .commit_with(
            world.transaction("6000000000", vec![create(path.clone(), "pending")]),
            &crash,
        )
        .unwrap_err();
    let rule = PruneRule {
        keep: Some(1),
        ..PruneRule::default()
    };
    world.state.prune(&rule).unwrap();
    assert!(world.state.blobs().contains(&digest("pending")));
    windlass_pack_deploy::state::recover(&world.state).unwrap();
    assert_eq!(super::world::read(&path), "pending");
}
