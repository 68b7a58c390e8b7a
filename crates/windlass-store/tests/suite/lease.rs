//! Drivers: alive exactly as long as their process, in every way a process can leave.

use windlass_ports::{DriverScope, Lease};

use super::support::*;

#[test]
fn drivers_are_alive_until_they_are_dropped() {
    let home = tempfile::tempdir().unwrap();
    let (one, two) = (open(home.path()), open(home.path()));
    assert_eq!(one.drivers(), []);
    let command = one.register(DriverScope::Own).unwrap();
    assert_eq!(two.holder(), None, "a command drives its own runs only");
    let daemon = one.register(DriverScope::All).unwrap();
    assert_eq!(two.holder(), Some(std::process::id()));
    let ids: Vec<u64> = two.drivers().iter().map(|driver| driver.id).collect();
    assert_eq!(ids, [command.id(), daemon.id()]);
    drop(daemon);
    assert_eq!(two.holder(), None);
    drop(command);
    assert_eq!(one.drivers(), []);
    assert_eq!(
        fs_err::read_dir(home.path().join("drivers"))
            .unwrap()
            .count(),
        0
    );
}

#[test]
fn a_file_that_nobody_locks_is_a_dead_driver() {
    let home = tempfile::tempdir().unwrap();
    let store = open(home.path());
    let living = store.register(DriverScope::All).unwrap();
    // As a killed driver leaves it: the file, but no lock.
    let dead = home.path().join("drivers/7");
    fs_err::write(&dead, "1 all\n").unwrap();
    let ids: Vec<u64> = store.drivers().iter().map(|driver| driver.id).collect();
    assert_eq!(ids, [living.id()]);
    assert!(!dead.exists(), "and is removed");
}

#[test]
fn numbers_are_assigned_once() {
    let home = tempfile::tempdir().unwrap();
    let ids: Vec<u64> = (0..3)
        .map(|_| open(home.path()).register(DriverScope::Own).unwrap().id())
        .collect();
    assert!(ids.windows(2).all(|pair| pair[0] < pair[1]), "{ids:?}");
}
