//! Planning stays linear and quick.

use std::time::Instant;

use windlass_pack_deploy::{
    Binding, Disk, FoundFile, OnDisk, Owned, OwnedFile, OwnedRoot, OwnedSource, PlanOptions, plan,
};
use windlass_pack_model::{FileMode, RelPath, Target::Codex};

use super::world::{World, want};

#[test]
fn six_thousand_outputs_are_planned_in_linear_time() {
    let world = World::new();
    let measure = |count: usize| {
        let wants: Vec<_> = (0..count)
            .map(|index| {
                want(
                    Codex,
                    &format!("a/skills/s{}/f{index}.md", index / 7),
                    "text",
                )
            })
            .collect();
        let desired = world.desired(&[(Codex, "a"), (Codex, "a/skills")], &wants);
        let mut disk = Disk::default();
        let mut files = Vec::new();
        for (index, file) in desired.files.iter().enumerate() {
            let found = FoundFile {
                digest: file.digest,
                mode: FileMode::REGULAR,
            };
            if index % 2 == 0 {
                disk.put(file.path.clone(), OnDisk::File(found));
            }
            let below = file.path.strip_prefix(world.path("a/skills")).unwrap();
            files.push(OwnedFile {
                path: RelPath::new(below.to_str().unwrap()).unwrap(),
                digest: file.digest,
                executable: false,
                module_ids: file.module_ids.clone(),
            });
        }
        let owned = Owned {
            roots: vec![OwnedRoot {
                source: OwnedSource::Manifest { legacy: None },
                files,
                ..OwnedRoot::nothing(Codex, world.path("a/skills"))
            }],
            ..Owned::default()
        };
        let began = Instant::now();
        let plan = plan(&desired, &owned, &disk, &PlanOptions::default()).unwrap();
        plan.hash(&Binding::default(), "default", &[Codex]);
        let took = began.elapsed();
        assert_eq!(plan.summary.create as usize, count / 2);
        took
    };
    let best = |count: usize| (0..5).map(|_| measure(count)).min().unwrap_or_default();
    let (small, large) = (best(600), best(6000));
    // Ten times the files: quadratic work would take a hundred times as long.
    assert!(
        large < small * 40,
        "600 files: {small:?}, 6000 files: {large:?}"
    );
}

#[test]
fn must_31_the_record_of_a_small_change_is_small() {
    let world = World::new();
    let mut wants: Vec<_> = (0..500)
        .map(|index| {
            let path = format!("home/.codex/skills/skill-{}/file-{index}.md", index / 7);
            want(Codex, &path, &format!("{index} {}", "text ".repeat(400)))
        })
        .collect();
    let roots = [(Codex, "home/.codex/skills")];
    world.deploy(&world.desired(&roots, &wants));
    let size = |world: &World| {
        let mut total = 0;
        let mut pending = vec![world.path("home/.agentpack/state")];
        while let Some(directory) = pending.pop() {
            for entry in fs_err::read_dir(directory).unwrap().flatten() {
                match entry.metadata().unwrap() {
                    metadata if metadata.is_dir() => pending.push(entry.path()),
                    metadata => total += metadata.len(),
                }
            }
        }
        total
    };
    let before = size(&world);
    wants[7].text.push_str("changed");
    world.deploy(&world.desired(&roots, &wants));
    let grown = size(&world) - before;
    // One content of 2 KB, and an index of at most 400 bytes per managed file.
    assert!(grown < 500 * 400 + 4096, "{grown} bytes");
}
