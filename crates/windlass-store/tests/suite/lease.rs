//! The driver's lease: one holder, released in every way a process can leave.

use windlass_ports::{Commit, CommitError, Expect, Lease, RunStore};

use super::support::*;

#[test]
fn one_holder_at_a_time() {
    let home = tempfile::tempdir().unwrap();
    let (one, two) = (open(home.path()), open(home.path()));
    assert_eq!(one.holder(), None);
    let held = one.try_acquire().unwrap().unwrap();
    assert!(two.try_acquire().unwrap().is_none());
    assert!(
        one.try_acquire().unwrap().is_none(),
        "not even twice in one process"
    );
    assert_eq!(two.holder(), Some(std::process::id()));
    drop(held);
    assert_eq!(two.holder(), None);
    assert!(two.try_acquire().unwrap().is_some());
}

#[test]
fn a_stale_name_in_the_lock_file_is_nobody() {
    let home = tempfile::tempdir().unwrap();
    let store = open(home.path());
    // As a killed driver leaves it: the name, but no lock.
    fs_err::write(home.path().join("driver.lock"), "1\n").unwrap();
    assert_eq!(store.holder(), None);
    assert!(store.try_acquire().unwrap().is_some());
}

#[tokio::test]
async fn a_second_driver_fences_the_first_even_across_stores() {
    let home = tempfile::tempdir().unwrap();
    let (one, two) = (open(home.path()), open(home.path()));
    let epoch = one.try_acquire().unwrap().unwrap().epoch();
    let newer = two.try_acquire().unwrap().unwrap();
    assert!(newer.epoch() > epoch);
    let commit = Commit {
        writes: vec![write(&id("run_1"), Expect::Any, 1, &[said("late")])],
        epoch: Some(epoch),
    };
    assert!(matches!(one.commit(commit).await, Err(CommitError::Fenced)));
}
