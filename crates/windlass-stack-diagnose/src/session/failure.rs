//! What goes wrong with sessions, as problems.

use windlass_ports::SocketFailure;
use windlass_types::{Problem, code};

/// The reason of a session whose connection failed.
pub(crate) const UNREACHABLE: &str = "unreachable";

pub(crate) fn lost(failure: &SocketFailure) -> Problem {
    Problem::new(
        &code::UPSTREAM_ERROR,
        format!("the session's connection failed: {failure}"),
    )
    .with("reason", UNREACHABLE)
}

pub(crate) fn broken(cause: &str) -> Problem {
    Problem::new(
        &code::UPSTREAM_ERROR,
        format!("the session is not understood: {cause}"),
    )
    .with("reason", "bad_answer")
}

pub(crate) fn silent() -> Problem {
    Problem::new(
        &code::UPSTREAM_ERROR,
        "the machine at the other end of the session no longer answers",
    )
    .with("reason", UNREACHABLE)
}

pub(crate) fn encrypted() -> Problem {
    Problem::new(
        &code::INVALID_INPUT,
        "the session requires encryption with a KMS key on top of TLS, which is not supported",
    )
    .with("reason", "kms_session_encryption")
    .next(
        "switch KMS encryption off: in the cluster's execute-command configuration, or for a \
         bastion in the preferences of Session Manager",
    )
}
