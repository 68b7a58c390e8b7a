//! Failures of the parts as problems with registered codes.

use serde_json::Value;
use windlass_stack_lifecycle::{Fault, FaultKind};
use windlass_types::{Code, Problem, code};

/// The registered code of a kind of fault.
fn code_of(kind: FaultKind) -> &'static Code {
    match kind {
        FaultKind::Validation => &code::INVALID_INPUT,
        FaultKind::DeployFailed => &code::DEPLOY_FAILED,
        FaultKind::DeleteFailed => &code::DELETE_FAILED,
        FaultKind::RollbackFailed => &code::ROLLBACK_FAILED,
        FaultKind::Timeout => &code::TIMEOUT,
        FaultKind::Auth => &code::UNAUTHORIZED,
        FaultKind::NotFound => &code::NOT_FOUND,
        FaultKind::ConfirmationRequired => &code::CONFIRM_REQUIRED,
        FaultKind::Internal => &code::UPSTREAM_ERROR,
    }
}

/// A fault of the lifecycle.
pub(crate) fn problem(fault: Fault) -> Problem {
    fault.into_problem(code_of)
}

/// An argument that is wrong.
pub(crate) fn invalid(name: &str, message: impl Into<String>) -> Problem {
    Problem::new(&code::INVALID_INPUT, message.into())
        .with("reason", "invalid_argument")
        .with("argument", name)
}

/// An argument that is missing.
pub(crate) fn missing(operation: &str, name: &str) -> Problem {
    Problem::new(
        &code::INVALID_INPUT,
        format!("{operation} needs the argument {name}"),
    )
    .with("reason", "missing_argument")
    .with("argument", name)
    .next(format!("repeat with {name}"))
}

/// A value that must be writable as JSON.
pub(crate) fn json<T: serde::Serialize>(value: &T) -> Result<Value, Problem> {
    serde_json::to_value(value).map_err(|error| Problem::internal("stack", error))
}
