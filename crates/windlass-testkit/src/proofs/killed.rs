//! Killed anywhere → resumes: a death at every write, before it, in it and after it.

use windlass_types::RunState;

use super::{
    case::ProofCase,
    trial::{Interference, Trial},
};
use crate::Moment;

/// What the proof tried.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct KilledReport {
    /// The writes of the undisturbed run (and of its rollback).
    pub writes: u64,
    /// The tries.
    pub tries: u64,
    /// Those in which the process did die.
    pub deaths: u64,
}

/// Kills the driving process at every write of the run and, where the run completes, at every
/// write of rolling it back. A new process must bring it to the same end.
pub fn killed_anywhere_resumes(case: &ProofCase) -> KilledReport {
    killed(case, |_| Moment::ALL.to_vec())
}

/// The same for runs that take long: every write, but only one of its moments each, in turn.
pub fn killed_at_every_write_resumes(case: &ProofCase) -> KilledReport {
    killed(case, |write| {
        let turn = usize::try_from(write).unwrap_or_default() % Moment::ALL.len();
        vec![Moment::ALL[turn]]
    })
}

type Moments = fn(u64) -> Vec<Moment>;

fn killed(case: &ProofCase, moments: Moments) -> KilledReport {
    let mut report = KilledReport::default();
    let first = kill_everywhere(case, Interference::default(), 1, moments, &mut report);
    let mut plain = Trial::new(case, Interference::default(), None);
    plain.undisturbed();
    if plain.outcome().state == RunState::Completed {
        kill_everywhere(
            case,
            Interference {
                roll_back: true,
                ..Interference::default()
            },
            first + 1,
            moments,
            &mut report,
        );
    }
    report
}

/// Tries every write from `from` on; how many there are.
fn kill_everywhere(
    case: &ProofCase,
    interference: Interference,
    from: u64,
    moments: Moments,
    report: &mut KilledReport,
) -> u64 {
    let mut undisturbed = Trial::new(case, interference, None);
    let writes = undisturbed.undisturbed();
    let expected = undisturbed.outcome();
    report.writes += (writes + 1).saturating_sub(from);
    for write in from..=writes {
        for moment in moments(write) {
            let mut trial = Trial::new(case, interference, None);
            let store = trial.open_store();
            store.crash_at(write, moment);
            report.tries += 1;
            if !trial.live(&store) {
                report.deaths += 1;
                trial.undisturbed();
            }
            let outcome = trial.outcome();
            assert_eq!(
                outcome, expected,
                "{} killed at write {write}, {moment:?} ({interference:?})",
                case.kind
            );
        }
    }
    writes
}

/// Kills one process after the other, each at a write of its own, and lets the last one live. The
/// end must be that of the undisturbed run.
pub fn killed_at_random_resumes(case: &ProofCase, deaths: &[(u64, Moment)], roll_back: bool) {
    let interference = Interference {
        roll_back,
        ..Interference::default()
    };
    let mut undisturbed = Trial::new(case, interference, None);
    undisturbed.undisturbed();
    let mut trial = Trial::new(case, interference, None);
    let survived = deaths.iter().any(|(write, moment)| {
        let store = trial.open_store();
        store.crash_at(*write, *moment);
        trial.live(&store)
    });
    if !survived {
        trial.undisturbed();
    }
    assert_eq!(
        trial.outcome(),
        undisturbed.outcome(),
        "{} killed at {deaths:?}",
        case.kind
    );
}
