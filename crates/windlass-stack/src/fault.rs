//! Failures of the parts as problems with registered codes.

use serde_json::Value;
use windlass_stack_lifecycle::Fault;
use windlass_types::{Problem, code};

/// A fault of the lifecycle.
pub(crate) fn problem(fault: Fault) -> Problem {
    fault.into_problem()
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
