//! Two applies to one root take turns (must 8 of the reference).

use std::{sync::mpsc, time::Duration};

use super::world::{At, Fault, World, create, put, reason, update};

#[test]
fn must_8_a_held_root_is_refused_with_its_holder() {
    let world = World::new();
    let first = world.try_lock("run-first").unwrap();
    let problem = world.try_lock("run-second").unwrap_err();
    assert_eq!(reason(&problem), "locked");
    assert_eq!(problem.details()["pid"], std::process::id());
    assert_eq!(problem.details()["run_id"], "run-first");
    assert!(problem.message().contains("run-first"));
    drop(first);
    world.try_lock("run-second").unwrap();
}

#[test]
fn must_8_a_waiter_gets_the_root_when_it_is_free() {
    let world = World::new();
    let held = world.lock();
    let (state, roots) = (world.state.clone(), [world.claude(), world.codex()]);
    let (sender, receiver) = mpsc::channel();
    let waiting = std::thread::spawn(move || {
        let got = state.lock(&roots, "run-2", Duration::from_secs(60));
        sender.send(()).unwrap();
        got.map(drop)
    });
    assert!(receiver.try_recv().is_err());
    drop(held);
    waiting.join().unwrap().unwrap();
}

#[test]
fn must_8_many_applies_at_once_leave_one_of_them_at_a_time() {
    let world = World::new();
    put(&world.codex().join("counter"), "0");
    let path = world.codex().join("counter");
    std::thread::scope(|scope| {
        for number in 0..8 {
            let (world, path) = (&world, path.clone());
            scope.spawn(move || {
                let run = format!("run-{number}");
                let roots = [world.codex(), world.claude()];
                let locks = world
                    .state
                    .lock(&roots, &run, Duration::from_secs(60))
                    .unwrap();
                let before = super::world::read(&path);
                let after = (before.parse::<u32>().unwrap() + 1).to_string();
                let mut transaction =
                    world.transaction(&format!("10{number}"), vec![update(path, &before, &after)]);
                transaction.run_id = run;
                windlass_pack_deploy::state::commit(
                    &world.state,
                    &locks,
                    transaction,
                    &windlass_pack_deploy::state::NoFaults,
                )
                .unwrap();
            });
        }
    });
    assert_eq!(super::world::read(&path), "8");
    assert_eq!(world.snapshots().len(), 8);
    world.assert_tidy("eight applies");
}

#[test]
fn names_of_one_directory_share_a_lock() {
    let world = World::new();
    fs_err::create_dir(world.codex()).unwrap();
    let alias = world.user().join("alias");
    std::os::unix::fs::symlink(world.codex(), &alias).unwrap();
    let both = world
        .state
        .lock(&[alias.clone(), world.codex()], "run-1", Duration::ZERO)
        .unwrap();
    assert_eq!(both.roots().count(), 2);
    let problem = world
        .state
        .lock(&[alias], "run-2", Duration::ZERO)
        .unwrap_err();
    assert_eq!(reason(&problem), "locked");
}

#[test]
fn locks_live_in_the_home_and_never_in_a_root() {
    let world = World::new();
    let locks = world.lock();
    assert_eq!(world.picture().len(), 0);
    let files = fs_err::read_dir(world.state.home().locks()).unwrap();
    let names: Vec<String> = files
        .map(|file| file.unwrap().file_name().to_string_lossy().into_owned())
        .collect();
    assert_eq!(names.len(), 2);
    for name in names {
        assert_eq!(name.len(), "0123456789abcdef.lock".len(), "{name}");
        let path = world.state.home().locks().join(name);
        assert_eq!(super::world::mode(&path), 0o600);
    }
    drop(locks);
}

#[test]
fn opening_the_state_and_asking_it_writes_nothing() {
    let world = World::new();
    let (state, home) = (&world.state, world.state.home().root());
    assert_eq!(windlass_pack_deploy::state::recover(state).unwrap(), []);
    assert_eq!(windlass_pack_deploy::state::pending(state).unwrap(), []);
    assert_eq!(state.snapshot_ids().unwrap(), Vec::<String>::new());
    assert_eq!(state.history().unwrap().snapshots, []);
    assert!(state.remembered().unwrap().0.known_roots.is_empty());
    assert!(!home.exists());
}

#[test]
fn a_running_transaction_is_not_recovered_by_others() {
    let world = World::new();
    let transaction = world.transaction("1", vec![create(world.codex().join("a.md"), "a")]);
    // Dies in the middle, but another process takes the roots before recovery.
    world
        .commit_with(transaction, &At::new(Fault::Crash, 6))
        .unwrap_err();
    let other = windlass_pack_deploy::state::pending(&world.state).unwrap();
    assert_eq!(other[0].run_id, "run-1");
    assert_eq!(other[0].roots.len(), 2);
    let file = std::fs::File::open(world.state.home().lock(&world.codex())).unwrap();
    rustix::fs::flock(&file, rustix::fs::FlockOperation::LockExclusive).unwrap();
    assert_eq!(
        windlass_pack_deploy::state::recover(&world.state).unwrap(),
        []
    );
    assert_eq!(
        windlass_pack_deploy::state::pending(&world.state)
            .unwrap()
            .len(),
        1
    );
    drop(file);
    assert_eq!(
        windlass_pack_deploy::state::recover(&world.state)
            .unwrap()
            .len(),
        1
    );
}

#[test]
fn taking_the_locks_recovers_these_roots() {
    let world = World::new();
    let transaction = world.transaction("1", vec![create(world.codex().join("a.md"), "a")]);
    world
        .commit_with(transaction, &At::new(Fault::Crash, 6))
        .unwrap_err();
    // A process that wants only one of its roots, and not even the one that was written.
    let locks = world
        .state
        .lock(&[world.claude()], "run-2", Duration::ZERO)
        .unwrap();
    assert_eq!(locks.recovered().len(), 1);
    assert_eq!(super::world::read(&world.codex().join("a.md")), "a");
    assert_eq!(world.snapshots(), ["1"]);
    world.assert_tidy("locked and settled");
}
