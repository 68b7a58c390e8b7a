//! The envelope's shape, and that every registered code has a name in the contract.

use serde_json::json;
use windlass_types::code;

use super::*;

const CONTEXT: EnvelopeContext<'_> = EnvelopeContext {
    operation: "launch.status",
    request_id: "req_1",
    input: &Value::Null,
};

#[test]
fn a_failure_has_the_shape_of_the_contract() {
    let problem = Problem::new(&code::CONFIRM_TOKEN_EXPIRED, "the token is too old")
        .with("reason_code", "token_expired")
        .with("run_id", "run_1")
        .next("plan_again");
    insta::assert_snapshot!(LaunchContract.failure(CONTEXT, &problem), @r#"{"error":{"code":"INVALID_INPUT","details":{"next_actions":["plan_again"],"reason":"confirm_token_expired","reason_code":"token_expired"},"message":"the token is too old","retryable":false},"ok":false,"run_id":"run_1"}"#);
}

#[test]
fn an_answer_has_the_shape_of_the_contract() {
    let output = json!({"message": "Deployed", "outputs": {"url": "x"}, "nextActions": ["logs"], "warnings": ["w"]});
    insta::assert_snapshot!(LaunchContract.success(CONTEXT, output), @r#"{"message":"Deployed","nextActions":["logs"],"ok":true,"outputs":{"url":"x"},"warnings":["w"]}"#);
}

#[test]
fn only_codes_of_the_contract_are_used() {
    const NAMES: &[&str] = &[
        "INVALID_INPUT",
        "SCHEMA_VALIDATION_FAILED",
        "RUN_NOT_FOUND",
        "ILLEGAL_STATE",
        "TOOLCHAIN_MISSING",
        "GATE_FAILED",
        "FIX_EXHAUSTED",
        "ALLOWED_PATHS_VIOLATION",
        "COMMIT_SERVICE_ERROR",
        "CANCELLED",
        "INTERNAL",
    ];
    for code in code::ALL {
        let name = LaunchContract.code_name(code);
        assert!(NAMES.contains(&name), "{} became {name}", code.name);
    }
}
