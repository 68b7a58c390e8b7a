//! Cancelled anywhere → unwinds: a cancellation after every write leaves nothing behind, or
//! says what; or it came too late and the run completed.

use windlass_types::RunState;

use super::{
    case::ProofCase,
    trial::{Interference, Trial},
};

/// Cancels after every write of the undisturbed run; in how many tries it was in time.
pub fn cancelled_anywhere_unwinds(case: &ProofCase) -> u64 {
    let mut undisturbed = Trial::new(case, Interference::default(), None);
    let writes = undisturbed.undisturbed();
    let expected = undisturbed.outcome();
    let mut in_time = 0;
    for write in 0..=writes {
        let interference = Interference {
            cancel_after: Some(write),
            ..Interference::default()
        };
        let mut trial = Trial::new(case, interference, None);
        let before = trial.scene.state_hash();
        trial.undisturbed();
        let outcome = trial.outcome();
        if outcome.state != RunState::Cancelled {
            assert_eq!(
                outcome, expected,
                "{} cancelled after write {write}, too late",
                case.kind
            );
            continue;
        }
        in_time += 1;
        assert!(
            outcome.world == before || !outcome.residue.is_empty(),
            "{} cancelled after write {write}: something remains and is not listed: {outcome:?}",
            case.kind
        );
    }
    in_time
}
