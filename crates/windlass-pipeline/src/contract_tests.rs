//! The envelope's shape, and that every registered code has a name in the contract.

use serde_json::json;
use windlass_types::code;

use super::*;

const CONTEXT: EnvelopeContext<'_> = EnvelopeContext {
    operation: "pipeline.get_status",
    request_id: "req_1",
    input: &Value::Null,
};

#[test]
fn a_failure_has_the_shape_of_the_contract() {
    let problem = Problem::new(&code::CONFIRM_TOKEN_EXPIRED, "the token is too old")
        .with("reason_code", "token_expired")
        .with("run_id", "run_1")
        .next("plan_again");
    insta::assert_snapshot!(PipelineContract.failure(CONTEXT, &problem), @r#"{"error":{"code":"INVALID_INPUT","details":{"reason_code":"token_expired","run_id":"run_1"},"message":"the token is too old","request_id":"req_1"}}"#);
}

#[test]
fn an_answer_has_the_shape_of_the_contract() {
    let output = json!({"message": "Deployed", "outputs": {"url": "x"}, "nextActions": ["logs"], "warnings": ["w"]});
    insta::assert_snapshot!(PipelineContract.success(CONTEXT, output), @r#"{"message":"Deployed","nextActions":["logs"],"outputs":{"url":"x"},"warnings":["w"]}"#);
}

#[test]
fn only_codes_of_the_contract_are_used() {
    const NAMES: &[&str] = &[
        "UNAUTHORIZED",
        "RATE_LIMITED",
        "INVALID_INPUT",
        "AGENT_TIMEOUT",
        "AGENT_FAILURE",
        "JOB_NOT_FOUND",
        "ARTIFACT_NOT_READY",
        "INTERNAL_ERROR",
    ];
    for code in code::ALL {
        let name = PipelineContract.code_name(code);
        assert!(NAMES.contains(&name), "{} became {name}", code.name);
    }
}
