//! The envelope's shape, and that every registered code has a name in the contract.

use serde_json::json;
use windlass_types::code;

use super::*;

const CONTEXT: EnvelopeContext<'_> = EnvelopeContext {
    operation: "stack.deploy",
    request_id: "req_1",
    input: &Value::Null,
};

#[test]
fn a_failure_has_the_shape_of_the_contract() {
    let problem = Problem::new(&code::CONFIRM_TOKEN_EXPIRED, "the token is too old")
        .with("reason_code", "token_expired")
        .with("run_id", "run_1")
        .next("plan_again");
    insta::assert_snapshot!(StackContract.failure(CONTEXT, &problem), @r#"{"code":"CONFIRMATION_REQUIRED","data":{"reason":"confirm_token_expired","reason_code":"token_expired","run_id":"run_1"},"message":"the token is too old","nextActions":["plan_again"],"ok":false}"#);
}

#[test]
fn an_answer_has_the_shape_of_the_contract() {
    let output = json!({"message": "Deployed", "outputs": {"url": "x"}, "nextActions": ["logs"], "warnings": ["w"]});
    insta::assert_snapshot!(StackContract.success(CONTEXT, output), @r#"{"code":"OK","data":{"outputs":{"url":"x"},"warnings":["w"]},"message":"Deployed","nextActions":["logs"],"ok":true}"#);
}

#[test]
fn only_codes_of_the_contract_are_used() {
    const NAMES: &[&str] = &[
        "VALIDATION_ERROR",
        "DEPLOY_FAILED",
        "DELETE_FAILED",
        "ROLLBACK_FAILED",
        "TIMEOUT",
        "AUTH_ERROR",
        "NOT_FOUND",
        "ALREADY_EXISTS",
        "READ_ONLY_VIOLATION",
        "CONFIRMATION_REQUIRED",
        "INTERNAL_ERROR",
    ];
    for code in code::ALL {
        let name = StackContract.code_name(code);
        assert!(NAMES.contains(&name), "{} became {name}", code.name);
    }
}
