//! A test's view into steps, for the proofs every run kind must pass.

use windlass_types::{Problem, RunId};

/// What a step should do instead of the usual.
#[derive(Clone, Debug, PartialEq)]
pub enum ProbeAction {
    /// Go on.
    Continue,
    /// Fail before doing anything.
    Fail(Problem),
    /// Do the work twice in a row, as a crash between effect and outcome would.
    Twice,
}

/// Sees every execution of a step's work. Production engines have none.
pub trait StepProbe: Send + Sync + 'static {
    /// Called right before a step's work.
    fn before_work(&self, run_id: &RunId, key: &str) -> ProbeAction;

    /// Called right before a step is undone; `true` undoes it twice.
    fn undo_twice(&self, run_id: &RunId, key: &str) -> bool;
}
