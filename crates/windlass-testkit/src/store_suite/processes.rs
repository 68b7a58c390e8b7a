//! Several processes on one home: each run has one driver, all see the same, what was said stays
//! said.

use std::time::Duration;

use windlass_ports::{Commit, CommitError, DriverScope, Expect, Fence, LeaseName, LeaseUse};
use windlass_types::{
    Body, RunState,
    journal::{RunCancelled, RunHeld, RunStarted},
};

use super::{
    StoreFactory,
    sample::{append, event, id, run_in, write},
};

/// Far longer than a store's poll interval.
const WAIT_LIMIT: Duration = Duration::from_secs(20);

fn name(run_id: &str) -> LeaseName {
    LeaseName::Run(id(run_id))
}

fn started(run_id: &str, lease: Option<LeaseUse>) -> Commit {
    let body = RunStarted {
        epoch: 1,
        attempt: 1,
    };
    Commit {
        writes: vec![write(run_id, Expect::Any, vec![event(1, body)])],
        lease,
    }
}

fn take(run_id: &str, driver: u64, replaces: Option<u64>) -> Commit {
    let lease = LeaseUse::Take {
        name: name(run_id),
        driver,
        replaces,
    };
    started(run_id, Some(lease))
}

fn hold(run_id: &str, epoch: u64) -> Commit {
    let name = name(run_id);
    started(run_id, Some(LeaseUse::Hold(Fence { name, epoch })))
}

/// Who lost a lease writes nothing more; submissions need none.
pub async fn old_epochs_are_fenced(factory: &dyn StoreFactory) {
    let (first, second) = (factory.open(), factory.open());
    run_in(&*first.runs, "run_1", RunState::Queued, 0).await;
    run_in(&*first.runs, "run_2", RunState::Queued, 0).await;
    let one = first.lease.register(DriverScope::All).unwrap();
    let taken = first.runs.commit(take("run_1", one.id(), None)).await;
    let old = taken.unwrap().epoch.expect("the lease was taken");
    first.runs.commit(hold("run_1", old)).await.unwrap();
    let two = second.lease.register(DriverScope::All).unwrap();
    assert!(two.id() > one.id());
    drop(one);
    let taken = second.runs.commit(take("run_1", two.id(), Some(old))).await;
    let new = taken.unwrap().epoch.expect("the lease was taken over");
    assert!(new > old);
    for (what, commit) in [
        ("an old epoch", hold("run_1", old)),
        ("an epoch nobody was given", hold("run_1", new + 1)),
        ("the lease of another run", hold("run_2", new)),
    ] {
        let refused = first.runs.commit(commit).await.unwrap_err();
        assert!(
            matches!(refused, CommitError::Fenced),
            "{what}: {refused:?}"
        );
    }
    first.runs.commit(started("run_1", None)).await.unwrap();
    second.runs.commit(hold("run_1", new)).await.unwrap();
    assert_eq!(
        first.runs.events(&id("run_1"), 0, 10).await.unwrap().len(),
        6
    );
}

/// A lease has one owner, who keeps it while alive; each run has its own.
pub async fn a_lease_is_held_by_one(factory: &dyn StoreFactory) {
    let (first, second) = (factory.open(), factory.open());
    for run in ["run_1", "run_2"] {
        run_in(&*first.runs, run, RunState::Queued, 0).await;
    }
    let one = first.lease.register(DriverScope::All).unwrap();
    let two = second.lease.register(DriverScope::Own).unwrap();
    let epoch = first.runs.commit(take("run_1", one.id(), None)).await;
    let epoch = epoch.unwrap().epoch.unwrap();
    for (what, commit) in [
        ("as if it were free", take("run_1", two.id(), None)),
        ("from a living owner", take("run_1", two.id(), Some(epoch))),
        ("what is not there", take("run_2", two.id(), Some(epoch))),
    ] {
        let refused = second.runs.commit(commit).await.unwrap_err();
        assert!(
            matches!(refused, CommitError::Leased),
            "{what}: {refused:?}"
        );
    }
    second
        .runs
        .commit(take("run_2", two.id(), None))
        .await
        .unwrap();
    let living: Vec<_> = second.lease.drivers();
    let scopes: Vec<_> = living
        .iter()
        .map(|driver| (driver.id, driver.scope))
        .collect();
    assert_eq!(
        scopes,
        [(one.id(), DriverScope::All), (two.id(), DriverScope::Own)]
    );
    assert!(second.lease.holder().is_some());
    let standing = second.runs.standing(&id("run_1")).await.unwrap().unwrap();
    let lease = standing.lease.unwrap();
    assert_eq!(
        (lease.driver, lease.epoch, lease.is_alive),
        (one.id(), epoch, true)
    );
    drop(one);
    assert_eq!(second.lease.holder(), None);
    let leases = second.runs.leases().await.unwrap();
    let alive: Vec<_> = leases
        .iter()
        .map(|lease| (&lease.name, lease.is_alive))
        .collect();
    assert_eq!(alive, [(&name("run_1"), false), (&name("run_2"), true)]);
    let seen = second.runs.commit(take("run_1", two.id(), None)).await;
    assert!(
        matches!(seen, Err(CommitError::Leased)),
        "not as it was seen"
    );
    second
        .runs
        .commit(take("run_1", two.id(), Some(epoch)))
        .await
        .unwrap();
}

/// A lease ends by being given back, and with its run.
pub async fn leases_end(factory: &dyn StoreFactory) {
    let stores = factory.open();
    let driver = stores.lease.register(DriverScope::All).unwrap();
    for run in ["run_1", "run_2", "run_3"] {
        run_in(&*stores.runs, run, RunState::Queued, 0).await;
        stores
            .runs
            .commit(take(run, driver.id(), None))
            .await
            .unwrap();
    }
    let leases = stores.runs.leases().await.unwrap();
    let fence = |at: usize| Fence {
        name: leases[at].name.clone(),
        epoch: leases[at].epoch,
    };
    let release = |at| Commit {
        writes: Vec::new(),
        lease: Some(LeaseUse::Release(fence(at))),
    };
    stores.runs.commit(release(0)).await.unwrap();
    let again = stores.runs.commit(release(0)).await;
    assert!(matches!(again, Err(CommitError::Fenced)));
    let problem = windlass_types::Problem::internal("suite", "held");
    for (at, body) in [
        (1, Body::from(RunCancelled { residue: vec![] })),
        (2, Body::from(RunHeld { problem })),
    ] {
        let LeaseName::Run(run_id) = &leases[at].name else {
            panic!("a run's lease")
        };
        let ended = Commit {
            writes: vec![write(run_id.as_str(), Expect::Any, vec![event(2, body)])],
            lease: Some(LeaseUse::Hold(fence(at))),
        };
        stores.runs.commit(ended).await.unwrap();
    }
    assert_eq!(stores.runs.leases().await.unwrap(), []);
}

/// That a driver is gone is noticed by others, whatever it left.
pub async fn departures_are_noticed(factory: &dyn StoreFactory) {
    let (first, second) = (factory.open(), factory.open());
    run_in(&*first.runs, "run_1", RunState::Queued, 0).await;
    let mut departures = second.lease.departures();
    let driver = first.lease.register(DriverScope::Own).unwrap();
    first
        .runs
        .commit(take("run_1", driver.id(), None))
        .await
        .unwrap();
    departures.mark_unchanged();
    drop(driver);
    tokio::time::timeout(WAIT_LIMIT, departures.changed())
        .await
        .expect("it is noticed")
        .unwrap();
    assert!(!second.runs.leases().await.unwrap()[0].is_alive);
}

/// Who follows a run is woken by its events and not by those of others.
pub async fn a_run_is_followed_alone(factory: &dyn StoreFactory) {
    let (first, second) = (factory.open(), factory.open());
    run_in(&*first.runs, "run_1", RunState::Queued, 0).await;
    let (mut own, mut other) = (
        first.runs.follow(&id("run_1")),
        second.runs.follow(&id("run_1")),
    );
    let mut changes = second.runs.changes();
    for number in 2..12 {
        changes.mark_unchanged();
        run_in(&*first.runs, &format!("run_{number}"), RunState::Queued, 0).await;
        let noticed = tokio::time::timeout(WAIT_LIMIT, changes.changed()).await;
        noticed.expect("the commit is noticed").unwrap();
    }
    // What was there before may be announced late, once.
    let assert_own = |growth: &mut tokio::sync::watch::Receiver<u64>| {
        let place = *growth.borrow_and_update();
        assert!(place <= 1, "event {place} of run_1");
    };
    assert_own(&mut own);
    assert_own(&mut other);
    first.runs.commit(started("run_1", None)).await.unwrap();
    for (who, growth) in [("own", &mut own), ("other", &mut other)] {
        let grown = tokio::time::timeout(WAIT_LIMIT, growth.wait_for(|seq| *seq == 2)).await;
        grown
            .unwrap_or_else(|_| panic!("{who} noticed nothing"))
            .unwrap();
    }
}

/// Acknowledged is durable: a process that opens the home later finds all of it.
pub async fn what_was_committed_is_there_after_reopening(factory: &dyn StoreFactory) {
    let stores = factory.open();
    run_in(&*stores.runs, "run_1", RunState::Running, 0).await;
    let digest = stores.blobs.put(b"content".to_vec()).await.unwrap();
    let before = (
        stores.runs.events(&id("run_1"), 0, 10).await.unwrap(),
        stores.runs.run(&id("run_1")).await.unwrap(),
    );
    let position = stores.runs.position().await.unwrap();
    drop(stores);
    let stores = factory.open();
    let after = (
        stores.runs.events(&id("run_1"), 0, 10).await.unwrap(),
        stores.runs.run(&id("run_1")).await.unwrap(),
    );
    assert_eq!(after, before);
    assert_eq!(stores.runs.position().await.unwrap(), position);
    assert_eq!(stores.blobs.get(digest).await.unwrap(), b"content");
    append(
        &*stores.runs,
        "run_1",
        Expect::Any,
        vec![event(
            2,
            RunStarted {
                epoch: 2,
                attempt: 2,
            },
        )],
    )
    .await
    .unwrap();
    assert!(stores.runs.position().await.unwrap() > position);
}

/// A commit is noticed in its own process and in others.
pub async fn changes_are_noticed_by_all_processes(factory: &dyn StoreFactory) {
    let (first, second) = (factory.open(), factory.open());
    let (mut own, mut other) = (first.runs.changes(), second.runs.changes());
    for name in ["run_1", "run_2"] {
        own.mark_unchanged();
        other.mark_unchanged();
        run_in(&*first.runs, name, RunState::Queued, 0).await;
        for (who, changes) in [("own", &mut own), ("other", &mut other)] {
            tokio::time::timeout(WAIT_LIMIT, changes.changed())
                .await
                .unwrap_or_else(|_| panic!("{who} noticed nothing"))
                .unwrap();
        }
        assert!(second.runs.run(&id(name)).await.unwrap().is_some());
    }
}
