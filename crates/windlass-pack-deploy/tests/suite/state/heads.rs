//! The state in force, root by root.

use std::path::PathBuf;

use windlass_pack_deploy::state::roots_of;
use windlass_pack_model::{
    Snapshot, SnapshotChange, SnapshotFile, SnapshotKind, SnapshotOp, SnapshotRoot, Target,
};

use super::world::{World, digest, put, root};

/// A snapshot as an old version would have written it, or with roots as we do.
pub fn event(id: &str, kind: SnapshotKind, files: &[&str], roots: &[SnapshotRoot]) -> Snapshot {
    Snapshot {
        kind,
        id: id.to_owned(),
        created_at: "2026-01-01T00:00:00Z".to_owned(),
        targets: vec![Target::Codex],
        managed_files: files
            .iter()
            .filter(|path| !path.ends_with(".json"))
            .map(|path| SnapshotFile {
                target: Target::Codex,
                path: PathBuf::from(path),
                sha256: digest(path),
                mode: None,
            })
            .collect(),
        changes: files.iter().map(|path| change(path)).collect(),
        rolled_back_to: None,
        lockfile_sha256: None,
        backup_root: PathBuf::from("/backup"),
        repo: None,
        project_id: None,
        profile: None,
        roots: roots.to_vec(),
        manifests: Vec::new(),
        run_id: (!roots.is_empty()).then(|| "run".to_owned()),
    }
}

pub fn change(path: &str) -> SnapshotChange {
    SnapshotChange {
        target: Target::Codex,
        op: SnapshotOp::Create,
        path: PathBuf::from(path),
        backup_path: None,
        before_sha256: None,
        after_sha256: Some(digest(path)),
        before_mode: None,
        after_mode: None,
        adopted: false,
    }
}

pub fn save(world: &World, snapshot: &Snapshot) {
    let path = world.state.home().snapshot_file(&snapshot.id);
    put(&path, &snapshot.render().unwrap());
}

fn codex(path: &str) -> SnapshotRoot {
    root(Target::Codex, PathBuf::from(path))
}

#[track_caller]
fn check(world: &World, path: &str, event_id: &str, state: &str) {
    let heads = world.state.heads(&[codex(path)]).unwrap();
    let head = &heads.by_root[&codex(path)];
    assert_eq!(
        (head.event_id.as_str(), head.snapshot.id.as_str()),
        (event_id, state)
    );
}

#[test]
fn must_1_the_head_of_one_project_is_not_that_of_another() {
    let world = World::new();
    let (a, b) = (codex("/a"), codex("/b"));
    save(
        &world,
        &event(
            "10",
            SnapshotKind::Deploy,
            &["/a/x.md"],
            std::slice::from_ref(&a),
        ),
    );
    save(
        &world,
        &event(
            "11",
            SnapshotKind::Deploy,
            &["/b/x.md"],
            std::slice::from_ref(&b),
        ),
    );
    check(&world, "/a", "10", "10");
    check(&world, "/b", "11", "11");
    assert!(
        world
            .state
            .heads(&[codex("/c")])
            .unwrap()
            .by_root
            .is_empty()
    );

    let mut back = event("12", SnapshotKind::Rollback, &[], &[a]);
    back.rolled_back_to = Some("9".to_owned());
    save(
        &world,
        &event("9", SnapshotKind::Deploy, &["/a/x.md"], &[codex("/a")]),
    );
    save(&world, &back);
    check(&world, "/a", "12", "9");
    check(&world, "/b", "11", "11");
}

#[test]
fn ids_are_numbers_and_order_as_such() {
    let world = World::new();
    for id in ["9", "10", "100"] {
        save(
            &world,
            &event(id, SnapshotKind::Deploy, &[], &[codex("/a")]),
        );
    }
    assert_eq!(world.snapshots(), ["9", "10", "100"]);
    check(&world, "/a", "100", "100");
}

#[test]
fn the_roots_of_an_old_snapshot_are_where_its_manifests_and_files_are() {
    let old = event(
        "1",
        SnapshotKind::Deploy,
        &[
            "/home/.codex/.agentpack.manifest.codex.json",
            "/home/.codex/AGENTS.md",
            "/home/.codex/skills/x/SKILL.md",
            "/elsewhere/deep/file.md",
        ],
        &[],
    );
    let roots: Vec<_> = roots_of(&old).into_iter().collect();
    assert_eq!(roots, [codex("/elsewhere/deep"), codex("/home/.codex")]);
    let world = World::new();
    save(&world, &old);
    check(&world, "/home/.codex", "1", "1");
    // A root above a file without manifest; but not one below a root with one.
    check(&world, "/elsewhere", "1", "1");
    let below = world.state.heads(&[codex("/home/.codex/skills")]).unwrap();
    assert!(below.by_root.is_empty());
}

#[test]
fn an_old_rollback_concerns_what_it_went_back_to() {
    let world = World::new();
    let files = ["/a/.agentpack.manifest.codex.json", "/a/x.md"];
    save(&world, &event("1", SnapshotKind::Deploy, &files, &[]));
    save(&world, &event("2", SnapshotKind::Deploy, &files, &[]));
    let mut back = event("3", SnapshotKind::Rollback, &[], &[]);
    back.rolled_back_to = Some("1".to_owned());
    save(&world, &back);
    check(&world, "/a", "3", "1");
    let history = world.state.history().unwrap();
    let heads: Vec<_> = history
        .snapshots
        .iter()
        .map(|s| (s.id.as_str(), s.head))
        .collect();
    assert_eq!(heads, [("3", false), ("2", false), ("1", true)]);
}

#[test]
fn roots_seen_in_snapshots_carry_what_is_known_about_them() {
    let world = World::new();
    let mut ours = event("2", SnapshotKind::Deploy, &[], &[codex("/p")]);
    ours.repo = Some(PathBuf::from("/repo"));
    ours.project_id = Some("p1".to_owned());
    save(&world, &ours);
    let old = ["/h/.agentpack.manifest.codex.json"];
    save(&world, &event("1", SnapshotKind::Deploy, &old, &[]));
    let (seen, warnings) = world.state.seen_roots().unwrap();
    assert_eq!(warnings, Vec::<String>::new());
    let shown: Vec<_> = seen
        .iter()
        .map(|seen| (seen.root.root.to_str().unwrap(), seen.project_id.as_deref()))
        .collect();
    assert_eq!(shown, [("/h", None), ("/p", Some("p1"))]);
}
