//! Contents are stored once, privately, and apart from what people edit.

use std::os::unix::fs::MetadataExt;

use windlass_pack_deploy::state::Step;
use windlass_pack_model::Target;

use super::world::{Counter, World, create, digest, manifest, mode, put, read, reason, update};

#[test]
fn unchanged_contents_cost_nothing() {
    let world = World::new();
    let codex = world.codex();
    let many = |count: usize| -> Vec<_> {
        (0..count)
            .map(|number| {
                create(
                    codex.join(format!("f{number}.md")),
                    &format!("text {number}"),
                )
            })
            .collect()
    };
    let counter = Counter::default();
    world
        .commit_with(world.transaction("1", many(50)), &counter)
        .unwrap();
    assert_eq!(counter.of(Step::WriteBlob), 50);
    assert_eq!(counter.of(Step::Replace), 1, "the new root, whole");

    let counter = Counter::default();
    let change = vec![update(codex.join("f7.md"), "text 7", "new text")];
    world
        .commit_with(world.transaction("2", change), &counter)
        .unwrap();
    assert_eq!(
        counter.of(Step::WriteBlob),
        2,
        "what is new, and what it replaces in a file of its own"
    );
    let back = vec![update(codex.join("f7.md"), "new text", "text 7")];
    let counter = Counter::default();
    world
        .commit_with(world.transaction("3", back), &counter)
        .unwrap();
    assert_eq!(counter.of(Step::WriteBlob), 0, "both are stored already");
}

#[test]
fn the_index_stays_within_400_bytes_for_each_managed_file() {
    let world = World::new();
    let codex = world.codex();
    let files: Vec<_> = (0..300)
        .map(|number| {
            let path = format!("skills/some-usual-skill-{number:04}/references/page.md");
            create(codex.join(path), &format!("text {number}"))
        })
        .collect();
    let managed = world.snapshot("1", &files).managed_files;
    world.commit(world.transaction("1", files)).unwrap();

    let path = codex.join("skills/some-usual-skill-0007/references/page.md");
    let mut transaction = world.transaction("2", vec![update(path, "text 7", "changed")]);
    transaction.snapshot.as_mut().unwrap().managed_files = managed;
    let text = "x".repeat(180 * 300);
    let at = codex.join("skills/.agentpack.manifest.codex.json");
    transaction.manifests = vec![manifest(Target::Codex, at, None, Some(&text))];
    let before = stored(&world);
    world.commit(transaction).unwrap();
    let record = fs_err::metadata(world.state.home().snapshot_file("2")).unwrap();
    let index = record.len() + text.len() as u64;
    assert!(index <= 400 * 300, "{index}");
    let grown = stored(&world) - before;
    let replaced = "text 7".len() as u64;
    assert_eq!(grown, text.len() as u64 + "changed".len() as u64 + replaced);
}

fn stored(world: &World) -> u64 {
    let mut bytes = 0;
    for shard in fs_err::read_dir(world.state.home().blobs()).unwrap() {
        for blob in fs_err::read_dir(shard.unwrap().path()).unwrap() {
            bytes += blob.unwrap().metadata().unwrap().len();
        }
    }
    bytes
}

#[test]
fn blobs_are_private_and_share_no_inode_with_deployed_files() {
    let world = World::new();
    let path = world.codex().join("a.md");
    world
        .commit(world.transaction("1", vec![create(path.clone(), "text")]))
        .unwrap();
    let blob = world.state.blobs().path(&digest("text"));
    assert_eq!(mode(&blob), 0o600);
    for directory in [
        blob.parent().unwrap(),
        &world.state.home().blobs(),
        &world.state.home().state(),
        &world.state.home().locks(),
        &world.state.home().journal(),
    ] {
        assert_eq!(mode(directory), 0o700, "{}", directory.display());
    }
    let inode = |path| fs_err::metadata(path).unwrap().ino();
    assert_ne!(inode(&blob), inode(&path));
    // An edit in place does not reach the store.
    put(&path, "edited");
    assert_eq!(read(&blob), "text");
}

#[test]
fn a_damaged_blob_is_noticed_and_a_truncated_one_is_stored_again() {
    let world = World::new();
    let blobs = world.state.blobs();
    assert_eq!(blobs.get(&digest("text")).unwrap(), None);
    let path = world.codex().join("a.md");
    world
        .commit(world.transaction("1", vec![create(path.clone(), "text")]))
        .unwrap();
    assert_eq!(blobs.get(&digest("text")).unwrap().unwrap(), b"text");
    let blob = blobs.path(&digest("text"));
    put(&blob, "");
    let problem = blobs.get(&digest("text")).unwrap_err();
    assert_eq!(reason(&problem), "store_hash_mismatch");
    let again = create(world.codex().join("b.md"), "text");
    world.commit(world.transaction("2", vec![again])).unwrap();
    assert_eq!(blobs.get(&digest("text")).unwrap().unwrap(), b"text");
}

#[test]
fn the_steps_of_a_deploy_grow_with_its_files_and_no_faster() {
    let steps = |files: usize| {
        let world = World::new();
        let actions = (0..files)
            .map(|n| {
                create(
                    world.codex().join(format!("d{}/f{n}", n / 4)),
                    &n.to_string(),
                )
            })
            .collect();
        let counter = Counter::default();
        world
            .commit_with(world.transaction("1", actions), &counter)
            .unwrap();
        assert_eq!(counter.of(Step::PublishBlob), 1);
        counter.count()
    };
    let (small, large) = (steps(40), steps(80));
    // A content, a file made and written; a directory for every four files.
    assert_eq!(large - small, 40 * 3 + 10);
}
