//! Fails anywhere → unwinds: a failure at every step leaves nothing behind, or says what.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use windlass_engine::{StepProbe, driver::ProbeAction};
use windlass_types::{Problem, RunId, RunState, code};

use super::{
    case::ProofCase,
    trial::{Interference, Trial},
};

/// Lets every step of the undisturbed run fail in turn; how many there were.
pub fn fails_anywhere_unwinds(case: &ProofCase) -> usize {
    let counter = Arc::new(FailAt::new(usize::MAX));
    Trial::new(
        case,
        Interference::default(),
        Some(Arc::clone(&counter) as _),
    )
    .undisturbed();
    let steps = counter.seen.load(Ordering::SeqCst);
    for step in 0..steps {
        let probe = Arc::new(FailAt::new(step));
        let mut trial = Trial::new(case, Interference::default(), Some(probe as _));
        let before = trial.scene.state_hash();
        trial.undisturbed();
        let outcome = trial.outcome();
        assert_eq!(
            outcome.state,
            RunState::Failed,
            "{}: step {step} fails, the run does not",
            case.kind
        );
        assert!(
            outcome.world == before || !outcome.residue.is_empty(),
            "{}: step {step} failed, something remains and is not listed: {outcome:?}",
            case.kind
        );
    }
    steps
}

/// Fails the work of one step, counted over all runs.
struct FailAt {
    step: usize,
    seen: AtomicUsize,
}

impl FailAt {
    const fn new(step: usize) -> Self {
        Self {
            step,
            seen: AtomicUsize::new(0),
        }
    }
}

impl StepProbe for FailAt {
    fn before_work(&self, _: &RunId, key: &str) -> ProbeAction {
        if self.seen.fetch_add(1, Ordering::SeqCst) == self.step {
            ProbeAction::Fail(Problem::new(
                &code::STEP_FAILED,
                format!("{key} is made to fail"),
            ))
        } else {
            ProbeAction::Continue
        }
    }

    fn undo_twice(&self, _: &RunId, _: &str) -> bool {
        false
    }
}
