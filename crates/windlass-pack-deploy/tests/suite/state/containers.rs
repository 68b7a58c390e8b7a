//! The contents of a large event are in one file, which is read, swept and distrusted like many.

use std::{
    os::unix::fs::FileExt,
    path::{Path, PathBuf},
};

use windlass_pack_deploy::state::{
    After, FileAction, HeldContents, PackState, PruneRule, Pruned, Step, Transaction,
};
use windlass_pack_model::{Body, PackHome, SnapshotFile, Target};

use super::world::{
    Counter, World, containers, create, digest, manifest, mode, put, read, reason, update,
};

/// Damages the file at a path.
type Damage = Box<dyn Fn(&Path)>;

const MANY: usize = 20;

fn path(world: &World, number: usize) -> PathBuf {
    world.codex().join(format!("f{number}.md"))
}

fn text(number: usize) -> String {
    format!("text {number:02}")
}

fn many(world: &World) -> Transaction {
    let actions = (0..MANY).map(|number| create(path(world, number), &text(number)));
    world.transaction("1", actions.collect())
}

/// A world with the contents of one event in a container.
fn world() -> World {
    let world = World::new();
    world.commit(many(&world)).unwrap();
    world
}

fn only_container(world: &World) -> PathBuf {
    let found = containers(world);
    assert_eq!(found.len(), 1, "{found:?}");
    found[0].clone()
}

/// The same home, as another process finds it.
fn reopened(world: &World) -> PackState {
    PackState::open(PackHome::at(world.state.home().root()))
}

fn assert_reads(state: &PackState, numbers: impl IntoIterator<Item = usize>) {
    for number in numbers {
        let bytes = state.blobs().get(&digest(&text(number))).unwrap();
        assert_eq!(bytes.unwrap(), text(number).as_bytes(), "{number}");
    }
}

fn flip(path: &Path, at: u64) {
    let file = fs_err::OpenOptions::new().read(true).write(true).open(path);
    let file = file.unwrap().into_parts().0;
    let mut byte = [0];
    file.read_exact_at(&mut byte, at).unwrap();
    file.write_all_at(&[byte[0] ^ 1], at).unwrap();
}

fn prune(world: &World, keep: usize) -> Pruned {
    let rule = |dry_run| PruneRule {
        keep: Some(keep),
        dry_run,
        ..PruneRule::default()
    };
    let planned = world.state.prune(&rule(true)).unwrap();
    let pruned = reopened(world).prune(&rule(false)).unwrap();
    assert_eq!(planned, pruned);
    pruned
}

#[test]
fn a_large_event_is_one_private_file() {
    let world = World::new();
    let counter = Counter::default();
    world.commit_with(many(&world), &counter).unwrap();
    assert_eq!(counter.of(Step::FlushContainer), 1);
    assert_eq!(counter.of(Step::PublishBlob), 1);
    let container = only_container(&world);
    assert_eq!(mode(&container), 0o600);
    assert_eq!(mode(container.parent().unwrap()), 0o700);
    let blobs = fs_err::read_dir(world.state.home().blobs()).unwrap();
    assert_eq!(blobs.count(), 1, "no directory for single contents");
    for state in [world.state.clone(), reopened(&world)] {
        assert_reads(&state, 0..MANY);
        assert_eq!(state.blobs().len(&digest(&text(3))), Some(7));
        assert_eq!(state.blobs().len(&digest("never")), None);
        assert_eq!(state.blobs().get(&digest("never")).unwrap(), None);
    }
    // A small event needs no container of its own.
    let one = world.transaction("2", vec![create(world.codex().join("one.md"), "one")]);
    world.commit(one).unwrap();
    assert_eq!(containers(&world).len(), 1);
    assert_eq!(read(&world.state.blobs().path(&digest("one"))), "one");
}

#[test]
fn what_is_replaced_is_in_the_file_the_snapshot_names() {
    let world = World::new();
    let mut first = many(&world);
    let at = world.codex().join(".agentpack.manifest.codex.json");
    first.manifests = vec![manifest(Target::Codex, at, None, Some("{}"))];
    world.commit(first).unwrap();
    // The next event replaces it.
    assert_eq!(read(&world.state.blobs().path(&digest("{}"))), "{}");
    only_container(&world);
    let change = update(path(&world, 7), &text(7), "changed");
    world.commit(world.transaction("2", vec![change])).unwrap();
    let snapshot = world.state.snapshot("2").unwrap();
    let backup = snapshot.changes[0].backup_path.clone().unwrap();
    assert_eq!(read(&backup), text(7));
}

#[test]
fn contents_that_are_stored_are_not_stored_again() {
    // Alone, as versions before containers did it, or together.
    for together in [false, true] {
        let world = World::new();
        if together {
            world.commit(many(&world)).unwrap();
        } else {
            for number in 0..MANY {
                put(
                    &world.state.blobs().path(&digest(&text(number))),
                    &text(number),
                );
            }
            assert_reads(&world.state, 0..MANY);
        }
        let found = containers(&world);
        let again =
            (0..MANY).map(|number| create(world.claude().join(number.to_string()), &text(number)));
        let counter = Counter::default();
        let again = world.transaction("2", again.collect());
        world.commit_with(again, &counter).unwrap();
        assert_eq!(counter.of(Step::WriteBlob), 0, "together: {together}");
        assert_eq!(containers(&world), found);
    }
}

#[test]
fn a_damaged_container_is_reported_and_never_replayed() {
    let whole = fs_err::metadata(only_container(&world())).unwrap().len();
    let cut = |at: u64| {
        move |path: &Path| {
            let file = fs_err::OpenOptions::new().write(true).open(path).unwrap();
            file.set_len(at).unwrap();
        }
    };
    let flipped = |at: u64| move |path: &Path| flip(path, at);
    let contents = 8..8 + 7 * MANY as u64;
    let mut cases: Vec<(String, Damage)> = Vec::new();
    for at in [
        0,
        4,
        8,
        contents.end,
        whole - 17,
        whole - 16,
        whole - 8,
        whole - 1,
    ] {
        cases.push((format!("cut at {at}"), Box::new(cut(at))));
    }
    for at in [
        0,
        7,
        contents.end,
        whole - 17,
        whole - 16,
        whole - 9,
        whole - 1,
    ] {
        cases.push((format!("flipped at {at}"), Box::new(flipped(at))));
    }
    for (case, damage) in cases {
        let world = world();
        let container = only_container(&world);
        damage(&container);
        let state = reopened(&world);
        for number in 0..MANY {
            let problem = state.blobs().get(&digest(&text(number))).unwrap_err();
            assert_eq!(reason(&problem), "store_hash_mismatch", "{case}");
            let shown = problem.details().get("path").unwrap();
            assert_eq!(shown, container.to_str().unwrap(), "{case}");
            assert_eq!(state.blobs().len(&digest(&text(number))), None, "{case}");
        }
        // Pruning says so as well, and leaves it to the user.
        let pruned = prune(&world, 1);
        assert!(pruned.warnings[0].contains("is damaged"), "{case}");
        assert_eq!(only_container(&world), container, "{case}");
        // The same contents again, and all is well.
        let again = (0..MANY).map(|n| create(world.claude().join(n.to_string()), &text(n)));
        world
            .commit(world.transaction("2", again.collect()))
            .unwrap();
        assert_reads(&reopened(&world), 0..MANY);
        assert_eq!(only_container(&world), container, "{case}");
    }
}

#[test]
fn one_damaged_content_does_not_affect_the_others() {
    let world = world();
    let container = only_container(&world);
    flip(&container, 8 + 7 * 5);
    let state = reopened(&world);
    let problem = state.blobs().get(&digest(&text(5))).unwrap_err();
    assert_eq!(reason(&problem), "store_hash_mismatch");
    assert_reads(&state, (0..MANY).filter(|number| *number != 5));
    // A single copy of it serves as well.
    put(&state.blobs().path(&digest(&text(5))), &text(5));
    assert_reads(&state, 0..MANY);
}

/// A second and a third event, after which only the contents of the last files are needed.
fn outdate(world: &World, first_needed: usize) {
    let changed = (0..first_needed).map(|n| update(path(world, n), &text(n), &format!("new {n}")));
    world
        .commit(world.transaction("2", changed.collect()))
        .unwrap();
    let third = vec![update(path(world, 0), "new 0", "third")];
    let mut third = world.transaction("3", third);
    let managed = (first_needed..MANY).map(|number| SnapshotFile {
        target: Target::Codex,
        path: path(world, number),
        sha256: digest(&text(number)),
        mode: None,
    });
    third
        .snapshot
        .as_mut()
        .unwrap()
        .managed_files
        .extend(managed);
    world.commit(third).unwrap();
}

#[test]
fn pruning_drops_dead_containers_and_rewrites_half_dead_ones() {
    for (first_needed, rewritten) in [(MANY, true), (12, true), (10, true), (9, false)] {
        let world = world();
        let before = only_container(&world);
        outdate(&world, first_needed);
        let reader = reopened(&world);
        assert!(reader.blobs().contains(&digest(&text(MANY - 1))));
        let pruned = prune(&world, 1);
        assert_eq!(pruned.warnings, Vec::<String>::new());
        assert_eq!(pruned.removed, ["1", "2"]);
        // Where all files changed, what replaced them has a container, with one needed content.
        assert_eq!(only_container(&world) == before, !rewritten);
        assert_reads(&reader, first_needed..MANY);
        let state = reopened(&world);
        assert_reads(&state, first_needed..MANY);
        assert_eq!(state.blobs().contains(&digest(&text(1))), !rewritten);
        assert_eq!(
            state.blobs().get(&digest("new 0")).unwrap().unwrap(),
            b"new 0"
        );
        // What is left is needed: nothing more to do.
        let again = prune(&world, 1);
        assert_eq!((again.blobs, again.bytes), (0, 0), "{first_needed}");
    }
}

#[test]
fn a_container_with_damage_is_not_rewritten() {
    let world = world();
    outdate(&world, 12);
    let container = only_container(&world);
    flip(&container, 8 + 7 * 15);
    let rule = PruneRule {
        keep: Some(1),
        ..PruneRule::default()
    };
    let pruned = reopened(&world).prune(&rule).unwrap();
    assert!(
        pruned.warnings[0].contains("is damaged"),
        "{:?}",
        pruned.warnings
    );
    assert_eq!(only_container(&world), container);
    assert_reads(&reopened(&world), (12..MANY).filter(|number| *number != 15));
}

#[test]
fn what_a_killed_process_left_is_swept() {
    let world = world();
    let left = only_container(&world).with_file_name(".new-run_9");
    put(&left, "half a container");
    assert_reads(&reopened(&world), 0..MANY);
    let pruned = prune(&world, 1);
    assert_eq!(pruned.warnings, Vec::<String>::new());
    assert!(!left.exists());
    // Rewritten, and killed before the old one was removed.
    outdate(&world, 12);
    let old = only_container(&world);
    let kept = fs_err::read(&old).unwrap();
    prune(&world, 1);
    let new = only_container(&world);
    fs_err::write(&old, kept).unwrap();
    prune(&world, 1);
    assert_eq!(only_container(&world), new);
    assert_reads(&reopened(&world), 12..MANY);
}

#[test]
fn a_source_that_was_read_for_planning_is_not_read_again() {
    let world = World::new();
    let source = world.outside("gone.md");
    let action = FileAction {
        after: Some(After {
            digest: digest("planned"),
            body: Body::File(source.clone()),
            executable: false,
        }),
        ..create(world.codex().join("a.md"), "")
    };
    let mut transaction = world.transaction("1", vec![action]);
    let problem = world.commit(transaction.clone()).unwrap_err();
    assert!(problem.message().contains("gone.md"), "{problem}");
    let mut contents = HeldContents::default();
    contents.hold(digest("planned"), *b"planned");
    transaction.contents = contents;
    world.commit(transaction).unwrap();
    assert_eq!(read(&world.codex().join("a.md")), "planned");
    let stored = world.state.blobs().get(&digest("planned")).unwrap();
    assert_eq!(stored.unwrap(), b"planned");
}
