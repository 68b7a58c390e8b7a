//! The envelope's shape, and that every registered code has a name in the contract.

use serde_json::json;
use windlass_types::code;

use super::*;

const CONTEXT: EnvelopeContext<'_> = EnvelopeContext {
    operation: "pack.plan",
    request_id: "req_1",
    input: &Value::Null,
};

#[test]
fn a_failure_has_the_shape_of_the_contract() {
    let problem = Problem::new(&code::CONFIRM_TOKEN_EXPIRED, "the token is too old")
        .with("reason_code", "token_expired")
        .with("run_id", "run_1")
        .next("plan_again");
    insta::assert_snapshot!(PackContract.failure(CONTEXT, &problem), @r#"{"command":"plan","command_id":"plan","command_path":["plan"],"data":{},"errors":[{"code":"E_CONFIRM_TOKEN_EXPIRED","details":{"next_actions":["plan_again"],"reason_code":"token_expired","run_id":"run_1"},"message":"the token is too old"}],"ok":false,"schema_version":1,"version":"0.1.0","warnings":[]}"#);
}

#[test]
fn what_is_not_trusted_waits_for_a_person() {
    let name = PackContract.code_name(&code::NOT_TRUSTED);
    assert_eq!(name, "E_CONFIRM_REQUIRED");
}

#[test]
fn an_answer_has_the_shape_of_the_contract() {
    let output = json!({"message": "Deployed", "outputs": {"url": "x"}, "nextActions": ["logs"], "warnings": ["w"]});
    insta::assert_snapshot!(PackContract.success(CONTEXT, output), @r#"{"command":"plan","command_id":"plan","command_path":["plan"],"data":{"message":"Deployed","nextActions":["logs"],"outputs":{"url":"x"}},"errors":[],"ok":true,"schema_version":1,"version":"0.1.0","warnings":["w"]}"#);
}

#[test]
fn only_codes_of_the_contract_are_used() {
    const NAMES: &[&str] = &[
        "E_CONFIRM_REQUIRED",
        "E_CONFIRM_TOKEN_REQUIRED",
        "E_CONFIRM_TOKEN_EXPIRED",
        "E_CONFIRM_TOKEN_MISMATCH",
        "E_CONFIG_INVALID",
        "E_UNEXPECTED",
        "E_ADOPT_CONFIRM_REQUIRED",
        "E_DESIRED_STATE_CONFLICT",
        "E_CONFIG_MISSING",
        "E_CONFIG_UNSUPPORTED_VERSION",
        "E_LOCKFILE_MISSING",
        "E_LOCKFILE_INVALID",
        "E_LOCKFILE_UNSUPPORTED_VERSION",
        "E_TARGET_UNSUPPORTED",
        "E_OVERLAY_NOT_FOUND",
        "E_OVERLAY_BASELINE_MISSING",
        "E_OVERLAY_BASELINE_UNSUPPORTED",
        "E_OVERLAY_REBASE_CONFLICT",
        "E_OVERLAY_PATCH_APPLY_FAILED",
        "E_GIT_REPO_REQUIRED",
        "E_GIT_WORKTREE_DIRTY",
        "E_GIT_DETACHED_HEAD",
        "E_GIT_REMOTE_MISSING",
        "E_GIT_NOT_FOUND",
        "E_TTY_REQUIRED",
        "E_IMPORT_CONFLICT",
        "E_POLICY_VIOLATIONS",
        "E_POLICY_CONFIG_MISSING",
        "E_POLICY_CONFIG_INVALID",
        "E_POLICY_CONFIG_UNSUPPORTED_VERSION",
        "E_IO_PERMISSION_DENIED",
        "E_IO_INVALID_PATH",
        "E_IO_PATH_TOO_LONG",
    ];
    for code in code::ALL {
        let name = PackContract.code_name(code);
        assert!(NAMES.contains(&name), "{} became {name}", code.name);
    }
}
