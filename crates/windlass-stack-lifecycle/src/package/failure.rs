//! The one failure of packaging: which workload, which tool, what to do, what the tool said.

use windlass_types::{Problem, code};

/// `details.reason` of everything that fails here.
pub const REASON: &str = "packaging_failed";

/// A workload that could not be packaged.
pub(crate) fn failed(workload: &str, cause: impl std::fmt::Display) -> Problem {
    Problem::new(
        &code::INVALID_INPUT,
        format!("\"{workload}\" could not be packaged: {cause}"),
    )
    .with("reason", REASON)
    .with("workload", workload)
}

/// A tool that is needed and not installed.
pub(crate) fn missing_tool(workload: &str, tool: &str, why: &str, hint: &str) -> Problem {
    failed(workload, format!("{why}, and {tool} was not found"))
        .with("tool", tool)
        .with("hint", hint)
        .next(hint)
}

/// A failure with something to do about it.
pub(crate) fn with_hint(problem: Problem, hint: &str) -> Problem {
    problem.with("hint", hint).next(hint)
}
