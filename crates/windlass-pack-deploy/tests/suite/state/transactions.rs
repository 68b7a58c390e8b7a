//! What a transaction does when nothing goes wrong.

use std::path::PathBuf;

use windlass_pack_deploy::state::{After, FileAction, KnownRoot, Transaction};
use windlass_pack_model::{Body, Target};

use super::world::{
    World, action, chmod, create, delete, digest, manifest, mode, put, read, reason, update,
};

#[test]
fn the_snapshot_records_what_was_done() {
    let world = World::new();
    let codex = world.codex();
    put(&codex.join("a.md"), "old");
    put(&codex.join("c.md"), "gone");
    let mut transaction = world.transaction(
        "7",
        vec![
            update(codex.join("a.md"), "old", "new"),
            action(codex.join("b.sh"), None, Some(("run", true))),
            delete(codex.join("c.md"), "gone"),
        ],
    );
    transaction.actions[0].adopted = true;
    let path = codex.join(".agentpack.manifest.codex.json");
    transaction.manifests = vec![manifest(Target::Codex, path, None, Some("{}"))];
    world.commit(transaction).unwrap();

    let text = read(&world.state.home().snapshot_file("7"));
    assert!(!text.trim_end().contains('\n'), "compact");
    let snapshot = world.state.snapshot("7").unwrap();
    assert_eq!(snapshot.run_id.as_deref(), Some("run-7"));
    assert_eq!(snapshot.backup_root, world.state.home().blobs());
    let shown: Vec<String> = snapshot
        .changes
        .iter()
        .map(|change| {
            let bits = |mode: Option<windlass_pack_model::FileMode>| {
                mode.map_or("-".to_owned(), |mode| mode.to_string())
            };
            let backup = change.backup_path.as_deref();
            format!(
                "{:?} {} {} → {}, {} → {}, adopted {}, backup {}",
                change.op,
                change.path.file_name().unwrap().display(),
                change.before_sha256.map_or("-".to_owned(), |d| d.short()),
                change.after_sha256.map_or("-".to_owned(), |d| d.short()),
                bits(change.before_mode),
                bits(change.after_mode),
                change.adopted,
                backup.map_or("-".to_owned(), read),
            )
        })
        .collect();
    insta::assert_snapshot!(shown.join("\n"), @"
    Delete c.md 283bb9deef02 → -, 0644 → -, adopted false, backup gone
    Update a.md cba06b5736fa → 11507a0e2f5e, 0644 → -, adopted true, backup old
    Create b.sh - → acba25512100, - → 0755, adopted false, backup -
    Create .agentpack.manifest.codex.json - → 44136fa355b3, - → -, adopted false, backup -
    ");
}

#[test]
fn must_13_modes_are_kept_and_only_the_execute_bits_change() {
    for (before, executable, after) in [
        (0o644, true, 0o755),
        (0o600, true, 0o700),
        (0o600, false, 0o600),
        (0o755, false, 0o644),
        (0o750, true, 0o750),
        (0o664, false, 0o664),
    ] {
        let world = World::new();
        let path = world.codex().join("tool.sh");
        put(&path, "old");
        chmod(&path, before);
        let change = action(path.clone(), Some("old"), Some(("new", executable)));
        world.commit(world.transaction("1", vec![change])).unwrap();
        assert_eq!(mode(&path), after, "{before:o} {executable}");
    }
}

#[test]
fn must_15_directories_that_pack_created_are_removed_when_empty() {
    let world = World::new();
    let codex = world.codex();
    put(&codex.join("theirs/keep.md"), "user");
    let files = ["skills/one/a.md", "skills/two/deep/b.md", "theirs/c.md"];
    let made = files.map(|file| create(codex.join(file), "x"));
    world.commit(world.transaction("1", made.to_vec())).unwrap();
    fs_err::remove_file(codex.join("theirs/keep.md")).unwrap();
    put(&codex.join("skills/two/mine.md"), "user");

    let gone = files.map(|file| delete(codex.join(file), "x"));
    world.commit(world.transaction("2", gone.to_vec())).unwrap();
    assert!(!codex.join("skills/one").exists());
    assert!(!codex.join("skills/two/deep").exists());
    assert!(codex.join("skills/two/mine.md").exists(), "not empty");
    assert!(codex.join("theirs").exists(), "not made by pack");
    let (remembered, _) = world.state.remembered().unwrap();
    let left: Vec<_> = remembered.directories.iter().map(PathBuf::from).collect();
    assert_eq!(left, [codex.join("skills"), codex.join("skills/two")]);
}

#[test]
fn edits_of_the_configuration_repository_leave_no_snapshot() {
    let world = World::new();
    let repo = world.user().join("repo");
    put(&repo.join("agentpack.yaml"), "version: 1");
    let locks = world
        .state
        .lock(
            std::slice::from_ref(&repo),
            "run-add",
            std::time::Duration::ZERO,
        )
        .unwrap();
    let mut transaction = Transaction::new("run-add");
    transaction.actions = vec![FileAction {
        target: None,
        ..update(repo.join("agentpack.yaml"), "version: 1", "version: 1\n")
    }];
    let done = windlass_pack_deploy::state::commit(
        &world.state,
        &locks,
        transaction,
        &windlass_pack_deploy::state::NoFaults,
    );
    assert_eq!(done.unwrap().snapshot_id, None);
    assert_eq!(read(&repo.join("agentpack.yaml")), "version: 1\n");
    assert_eq!(world.snapshots(), Vec::<String>::new());
    world.assert_tidy("repository edit");
}

#[test]
fn contents_are_read_from_their_source_and_compared() {
    let world = World::new();
    let source = world.outside("source.md");
    put(&source, "text");
    let from = |name: &str| {
        let mut change = create(world.codex().join(name), "text");
        change.after = Some(After {
            digest: digest("text"),
            body: Body::File(source.clone()),
            executable: false,
        });
        change
    };
    world
        .commit(world.transaction("1", vec![from("a.md"), from("b.md")]))
        .unwrap();
    assert_eq!(read(&world.codex().join("b.md")), "text");
    put(&source, "other");
    let problem = world
        .commit(world.transaction("2", vec![from("c.md")]))
        .unwrap_err();
    // The store knows this content, but the source was promised to have it.
    assert_eq!(reason(&problem), "store_hash_mismatch");
    assert!(problem.message().contains("source.md"));
    assert!(!world.codex().join("c.md").exists());
}

#[test]
fn one_file_of_two_targets_is_written_once() {
    let world = World::new();
    let path = world.codex().join("AGENTS.md");
    let mut other = create(path.clone(), "same");
    other.target = Some(Target::Zed);
    let transaction = world.transaction("1", vec![create(path.clone(), "same"), other.clone()]);
    world.commit(transaction).unwrap();
    assert_eq!(world.state.snapshot("1").unwrap().changes.len(), 2);

    // One target gives it up while another takes it over: it stays.
    let mut gives_up = delete(path.clone(), "same");
    gives_up.target = Some(Target::Zed);
    let takes = update(path.clone(), "same", "new");
    world
        .commit(world.transaction("2", vec![takes, gives_up]))
        .unwrap();
    assert_eq!(read(&path), "new");

    let mut differs = update(path.clone(), "new", "two");
    differs.target = Some(Target::Zed);
    let problem = world
        .commit(world.transaction("3", vec![update(path.clone(), "new", "one"), differs]))
        .unwrap_err();
    assert_eq!(reason(&problem), "desired_state_conflict");
    assert_eq!(read(&path), "new");
}

#[test]
fn what_exists_where_nothing_should_be_is_never_replaced() {
    let world = World::new();
    let codex = world.codex();
    put(&codex.join("file.md"), "user");
    fs_err::create_dir_all(codex.join("directory/with")).unwrap();
    put(&codex.join("directory/with/mine.md"), "user");
    for (name, expected) in [
        ("file.md", "destination_changed"),
        ("directory", "io_error"),
    ] {
        let transaction = world.transaction("1", vec![create(codex.join(name), "pack")]);
        let problem = world.commit(transaction).unwrap_err();
        assert_eq!(reason(&problem), expected, "{name}");
    }
    let missing = update(codex.join("absent.md"), "was here", "new");
    let problem = world
        .commit(world.transaction("1", vec![missing]))
        .unwrap_err();
    assert_eq!(reason(&problem), "destination_changed");
    assert_eq!(read(&codex.join("file.md")), "user");
}

#[test]
fn a_snapshot_id_is_used_once() {
    let world = World::new();
    let first = world.transaction("5", vec![create(world.codex().join("a.md"), "a")]);
    world.commit(first).unwrap();
    let before = world.picture();
    let second = world.transaction("5", vec![create(world.codex().join("b.md"), "b")]);
    world.commit(second).unwrap_err();
    assert_eq!(world.picture(), before);
    world.assert_tidy("same id twice");
}

#[test]
fn must_9_roots_are_remembered_and_forgotten_with_the_transaction() {
    let world = World::new();
    let known = |project: Option<&str>, root: PathBuf| KnownRoot {
        repo: world.user().join("repo"),
        project_id: project.map(str::to_owned),
        target: Target::Codex,
        root,
        scan_extras: true,
    };
    let (user, mine) = (
        known(None, world.codex()),
        known(Some("p1"), world.claude()),
    );
    let mut transaction = world.transaction("1", Vec::new());
    transaction.remember_roots = vec![user.clone(), mine.clone()];
    world.commit(transaction).unwrap();
    let roots = |project: Option<&str>| -> Vec<KnownRoot> {
        let (remembered, _) = world.state.remembered().unwrap();
        let repo = world.user().join("repo");
        remembered.roots_of(&repo, project).cloned().collect()
    };
    assert_eq!(roots(Some("p1")), [user.clone(), mine.clone()]);
    assert_eq!(roots(Some("p2")), std::slice::from_ref(&user));
    let mut transaction = world.transaction("2", Vec::new());
    transaction.forget_roots = vec![mine];
    world.commit(transaction).unwrap();
    assert_eq!(roots(Some("p1")), [user]);
}

#[test]
fn flushing_destinations_has_the_same_result() {
    let world = World::new();
    put(&world.codex().join("a.md"), "old");
    let mut transaction = world.transaction(
        "1",
        vec![
            update(world.codex().join("a.md"), "old", "new"),
            create(world.codex().join("b/c.md"), "c"),
        ],
    );
    transaction.fsync = true;
    world.commit(transaction).unwrap();
    assert_eq!(read(&world.codex().join("a.md")), "new");
    assert_eq!(read(&world.codex().join("b/c.md")), "c");
}
