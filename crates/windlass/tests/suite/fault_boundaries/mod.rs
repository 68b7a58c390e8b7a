//! Kill −9 at every event: before it is written, after, and after it is durable.
//!
//! A demo run with everything in it (files created, updated and deleted, timers, an approval, a
//! child run, an artifact, a webhook) is executed by a process of its own on the real store,
//! which kills itself at one chosen event. The client then repeats its call, the next process
//! continues, and the end must be the one of an undisturbed run. Three scenarios: the run
//! completes, it is cancelled halfway, it completes and is rolled back.

mod life;
mod outcome;
mod receiver;

use std::sync::{
    Mutex,
    atomic::{AtomicUsize, Ordering},
};

use windlass_store::FaultPoint;

use self::{
    life::{Death, Life, Scenario},
    outcome::Outcome,
    receiver::Receiver,
};

/// Trials at a time. Each waits for processes and timers most of the time.
const AT_ONCE: usize = 4;

const POINTS: [FaultPoint; 3] = [
    FaultPoint::BeforeWrite,
    FaultPoint::AfterWrite,
    FaultPoint::AfterCommit,
];

#[test]
fn a_run_that_completes() {
    kill_everywhere(Scenario::Completes, 240);
}

#[test]
fn a_run_that_is_cancelled_half_way() {
    kill_everywhere(Scenario::Cancelled, 120);
}

#[test]
fn a_run_that_is_rolled_back() {
    kill_everywhere(Scenario::RolledBack, 80);
}

/// The process that resumes the run is killed too, in its first commits.
#[test]
fn a_run_whose_recovery_dies_as_well() {
    let receiver = Receiver::start();
    let (expected, events) = undisturbed(Scenario::Completes, &receiver);
    // Near the end there is too little left to die in.
    let early = events.iter().take(events.len() * 3 / 4).step_by(4);
    let trials: Vec<Vec<Death>> = early
        .enumerate()
        .flat_map(|(index, (journal, seq))| {
            let first = Death::at(journal, *seq, POINTS[index % 3]);
            [1, 2, 4].map(|commit| {
                let again = Death::at("commit", commit, POINTS[(index + 1) % 3]);
                vec![first.clone(), again]
            })
        })
        .collect();
    try_all(Scenario::Completes, &trials, &expected, &receiver);
    assert!(trials.len() >= 40, "only {} trials", trials.len());
}

/// The process that is killed. Runs only when a trial starts it.
#[test]
fn one_life() {
    if let Some(life) = Life::from_environment() {
        life.live();
    }
}

fn kill_everywhere(scenario: Scenario, at_least: usize) {
    let receiver = Receiver::start();
    let (expected, journals) = undisturbed(scenario, &receiver);
    let mut known: Vec<(String, u64)> = Vec::new();
    if scenario == Scenario::RolledBack {
        // What happens before belongs to the other scenario.
        known = undisturbed(Scenario::Completes, &receiver).1;
    }
    let trials: Vec<Vec<Death>> = journals
        .iter()
        .filter(|event| !known.contains(event))
        .flat_map(|(journal, seq)| POINTS.map(|point| vec![Death::at(journal, *seq, point)]))
        .collect();
    try_all(scenario, &trials, &expected, &receiver);
    assert!(trials.len() >= at_least, "only {} points", trials.len());
}

/// One scenario from beginning to end, and every event it consists of.
fn undisturbed(scenario: Scenario, receiver: &Receiver) -> (Outcome, Vec<(String, u64)>) {
    let life = Life::new(scenario, receiver);
    life.live();
    let outcome = Outcome::of(&life, receiver).unwrap();
    (outcome, life.report().durable_by_role())
}

/// A trial is the deaths of one process after the other.
fn try_all(scenario: Scenario, trials: &[Vec<Death>], expected: &Outcome, receiver: &Receiver) {
    let next = AtomicUsize::new(0);
    let failures = Mutex::new(Vec::new());
    let survived = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| {
                while let Some(deaths) = trials.get(next.fetch_add(1, Ordering::SeqCst)) {
                    match try_one(scenario, deaths, expected, receiver) {
                        Ok(lives) => drop(survived.fetch_add(lives, Ordering::SeqCst)),
                        Err(why) => failures.lock().unwrap().push(format!("{deaths:?}: {why}")),
                    }
                }
            });
        }
    });
    let failures = failures.into_inner().unwrap();
    let survived = survived.into_inner();
    println!(
        "{scenario:?}: {} trials, {survived} deaths did not come",
        trials.len()
    );
    assert!(
        survived * 8 <= trials.len(),
        "{survived} of {} deaths did not come",
        trials.len()
    );
    assert!(
        failures.is_empty(),
        "{} of {} trials:\n{}",
        failures.len(),
        trials.len(),
        failures.join("\n\n")
    );
}

fn try_one(
    scenario: Scenario,
    deaths: &[Death],
    expected: &Outcome,
    receiver: &Receiver,
) -> Result<usize, String> {
    let mut life = Life::new(scenario, receiver);
    let mut survived = 0;
    for death in deaths {
        life.death = Some(death.clone());
        survived += usize::from(!life.spawn_and_die()?);
    }
    life.death = None;
    // The client asks again with the same token, in a process that lives.
    life.live();
    let outcome = Outcome::of(&life, receiver)?;
    if outcome == *expected {
        Ok(survived)
    } else {
        Err(format!("ended as\n{outcome:#?}\nnot as\n{expected:#?}"))
    }
}
