//! Twice is once: every step done twice gives what once gives, every undo repeated is harmless.

use std::sync::Arc;

use windlass_engine::{StepProbe, driver::ProbeAction};
use windlass_types::{RunId, RunState};

use super::{
    case::ProofCase,
    trial::{Interference, Trial},
};

/// Does every step twice and compares with the undisturbed run; where the run completes, also
/// rolls it back with every undo done twice, which must restore the world or list what it cannot.
pub fn twice_is_once(case: &ProofCase) {
    let mut once = Trial::new(case, Interference::default(), None);
    once.undisturbed();
    let expected = once.outcome();
    let mut twice = Trial::new(case, Interference::default(), Some(Arc::new(Twice)));
    twice.undisturbed();
    assert_eq!(twice.outcome(), expected, "{}: every step twice", case.kind);
    if expected.state != RunState::Completed {
        return;
    }
    let roll_back = Interference {
        roll_back: true,
        ..Interference::default()
    };
    let mut undone = Trial::new(case, roll_back, Some(Arc::new(Twice)));
    let before = undone.scene.state_hash();
    undone.undisturbed();
    let outcome = undone.outcome();
    assert_eq!(
        outcome.state,
        RunState::RolledBack,
        "{}: every undo twice",
        case.kind
    );
    assert!(
        outcome.world == before || !outcome.residue.is_empty(),
        "{}: rolled back with every undo twice, something remains and is not listed: {outcome:?}",
        case.kind
    );
}

struct Twice;

impl StepProbe for Twice {
    fn before_work(&self, _: &RunId, _: &str) -> ProbeAction {
        ProbeAction::Twice
    }

    fn undo_twice(&self, _: &RunId, _: &str) -> bool {
        true
    }
}
