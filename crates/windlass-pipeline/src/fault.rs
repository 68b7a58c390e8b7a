//! The failures of pipelines, each with what the contract wants in its details.

use serde_json::json;
use windlass_pipeline_design::model::Phase;
use windlass_types::{Problem, code};

/// Input that does not fit.
pub(crate) fn invalid(field: &str, constraint: &str, message: impl Into<String>) -> Problem {
    Problem::invalid(field, constraint, message)
}

/// No such job, for this caller.
pub(crate) fn job_not_found(given: &str) -> Problem {
    let shown: String = given
        .chars()
        .filter(|character| !character.is_control())
        .take(64)
        .collect();
    Problem::new(&code::RUN_NOT_FOUND, format!("no job {shown:?}"))
}

/// A phase that took too long.
pub(crate) fn timeout(phase: Phase, limit_s: u64) -> Problem {
    Problem::new(
        &code::TIMEOUT,
        format!(
            "the {} phase did not end within {limit_s} s",
            phase.as_str()
        ),
    )
    .with("phase", phase.as_str())
    .with("limit_s", limit_s)
}

/// A phase that failed.
pub(crate) fn failed(phase: Phase, reason: &str, message: impl Into<String>) -> Problem {
    Problem::new(&code::STEP_FAILED, message)
        .with("phase", phase.as_str())
        .with("reason", reason)
}

/// An artifact that is not there yet.
pub(crate) fn not_ready(phase: &str, status: &str, percent: u32, running: bool) -> Problem {
    let problem = Problem::new(
        &code::ARTIFACT_NOT_FOUND,
        format!("the {phase} artifact is not ready: that phase is {status}"),
    )
    .with("phase", phase)
    .with("phase_status", status)
    .with("progress_percent", percent);
    if running {
        problem.with("retry_after_seconds", json!(1))
    } else {
        problem
    }
}
