//! Windlass's own failure envelope.

use serde_json::{Value, json};
use windlass_types::Problem;

use super::EnvelopeContext;

pub(super) fn failure(context: EnvelopeContext<'_>, problem: &Problem) -> Value {
    json!({
        "ok": false,
        "error": {
            "code": problem.code().name,
            "message": problem.message(),
            "details": problem.details(),
            "retryable": problem.code().retryable,
            "next_actions": problem.next_actions(),
            "request_id": context.request_id,
        }
    })
}
