//! Contents that old versions kept in trees next to their snapshots stay readable.

use std::path::Path;

use windlass_pack_model::{SnapshotKind, SnapshotOp};

use super::{
    heads::{event, save},
    world::{World, digest, put, reason},
};

/// An old snapshot of one managed file that replaced another content.
fn scene() -> (World, windlass_pack_model::Snapshot) {
    let world = World::new();
    let mut snapshot = event("1", SnapshotKind::Deploy, &["/a/x.md"], &[]);
    snapshot.changes[0].op = SnapshotOp::Update;
    snapshot.changes[0].before_sha256 = Some(digest("before"));
    save(&world, &snapshot);
    (world, snapshot)
}

#[test]
fn post_images_are_found() {
    let (world, snapshot) = scene();
    let file = &snapshot.managed_files[0];
    let problem = world.state.content_after(&snapshot, file).unwrap_err();
    assert_eq!(reason(&problem), "snapshot_corrupt");
    let at = world.state.home().v1_state("1", file.target, &file.path);
    put(&at, "not what is recorded");
    assert!(world.state.content_after(&snapshot, file).is_err());
    put(&at, "/a/x.md");
    let found = world.state.content_after(&snapshot, file).unwrap();
    assert_eq!(found, b"/a/x.md");
}

#[test]
fn pre_images_are_found_where_they_are_recorded_or_by_their_key() {
    let (world, snapshot) = scene();
    let change = snapshot.changes[0].clone();
    let path = Path::new("/a/x.md");
    put(
        &world.state.home().v1_backup("1", change.target, path),
        "before",
    );
    let by_key = world.state.content_before(&snapshot, &change).unwrap();
    assert_eq!(by_key.unwrap(), b"before");

    let (world, mut snapshot) = scene();
    let elsewhere = world.outside("moved-backup");
    snapshot.changes[0].backup_path = Some(elsewhere.clone());
    let missing = world.state.content_before(&snapshot, &snapshot.changes[0]);
    assert_eq!(reason(&missing.unwrap_err()), "snapshot_corrupt");
    put(&elsewhere, "before");
    let recorded = world.state.content_before(&snapshot, &snapshot.changes[0]);
    assert_eq!(recorded.unwrap().unwrap(), b"before");
}

#[test]
fn without_a_state_tree_the_backups_of_later_events_are_walked() {
    let (world, snapshot) = scene();
    let mut later = event("2", SnapshotKind::Deploy, &["/a/x.md"], &[]);
    later.changes[0].before_sha256 = Some(digest("/a/x.md"));
    save(&world, &later);
    let file = &snapshot.managed_files[0];
    let at = world.state.home().v1_backup("2", file.target, &file.path);
    put(&at, "/a/x.md");
    let found = world.state.content_after(&snapshot, file).unwrap();
    assert_eq!(found, b"/a/x.md");
}

#[test]
fn a_created_file_has_no_content_before() {
    let (world, mut snapshot) = scene();
    snapshot.changes[0].before_sha256 = None;
    let before = world.state.content_before(&snapshot, &snapshot.changes[0]);
    assert_eq!(before.unwrap(), None);
}

#[test]
fn pruning_takes_the_trees_with_their_snapshot() {
    let (world, snapshot) = scene();
    let file = &snapshot.managed_files[0];
    put(
        &world.state.home().v1_state("1", file.target, &file.path),
        "/a/x.md",
    );
    save(&world, &event("2", SnapshotKind::Deploy, &["/a/x.md"], &[]));
    let rule = windlass_pack_deploy::state::PruneRule {
        keep: Some(0),
        include_originals: true,
        ..Default::default()
    };
    let pruned = world.state.prune(&rule).unwrap();
    assert_eq!(pruned.removed, ["1"]);
    assert!(!world.state.home().snapshots().join("1").exists());
}
