//! Windlass's own format: the answer itself, or `{ok: false, error: {…}}`.

use serde_json::{Value, json};
use windlass_types::{Code, Problem};

use super::{Contract, EnvelopeContext, object_schema};

/// The format of toolsets without a contract of their own.
#[derive(Clone, Copy, Debug)]
pub struct Plain;

impl Contract for Plain {
    fn number(&self) -> Option<&'static str> {
        None
    }

    fn failure(&self, context: EnvelopeContext<'_>, problem: &Problem) -> Value {
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

    fn code_name(&self, code: &'static Code) -> &'static str {
        code.name
    }

    fn failure_schema(&self) -> Value {
        object_schema([
            ("ok", json!({ "const": false })),
            ("error", json!({ "type": "object" })),
        ])
    }
}

#[cfg(test)]
mod tests {
    use windlass_types::code;

    use super::*;

    #[test]
    fn an_answer_is_itself_and_a_failure_names_the_code() {
        let context = EnvelopeContext {
            operation: "demo.plan",
            request_id: "req_1",
            input: &Value::Null,
        };
        let problem = Problem::new(&code::CONFIRM_TOKEN_EXPIRED, "the token is too old")
            .with("reason_code", "token_expired")
            .next("plan_again");
        insta::assert_snapshot!(Plain.success(context, json!({ "message": "Done" })), @r#"{"message":"Done"}"#);
        insta::assert_snapshot!(Plain.failure(context, &problem), @r#"{"error":{"code":"CONFIRM_TOKEN_EXPIRED","details":{"reason_code":"token_expired"},"message":"the token is too old","next_actions":["plan_again"],"request_id":"req_1","retryable":false},"ok":false}"#);
    }
}
