//! The checks of the critique, one file per dimension.
//!
//! `HIGH` means that our own output is wrong; a weak point of the spec is `MEDIUM` or `LOW`.

mod accuracy;
mod alignment;
mod completeness;
mod consistency;
mod feasibility;

use crate::model::quality::Level;
use crate::model::{Coverage, Phase};
use crate::quality::finding::Findings;
use crate::quality::outputs::Outputs;

/// A defect: ours is `HIGH`, one in what the caller brought is `MEDIUM`.
pub(crate) fn defect(given: bool) -> Level {
    if given { Level::Medium } else { Level::High }
}

/// Runs all of them.
pub(crate) fn all(
    phase: Phase,
    outputs: &Outputs<'_>,
    coverage: &Coverage,
    findings: &mut Findings,
) {
    accuracy::check(outputs, coverage, findings);
    completeness::check(phase, outputs, coverage, findings);
    consistency::check(outputs, findings);
    feasibility::check(outputs, findings);
    alignment::check(phase, outputs, coverage, findings);
}
