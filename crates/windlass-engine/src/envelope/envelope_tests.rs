//! Each envelope's shape, and that every registered code has a name in every contract.

use serde_json::json;
use windlass_types::code;

use super::*;

const CONTEXT: EnvelopeContext<'_> = EnvelopeContext {
    operation: "pack.plan",
    request_id: "req_1",
    input: &Value::Null,
};

fn problem() -> Problem {
    Problem::new(&code::CONFIRM_TOKEN_EXPIRED, "the token is too old")
        .with("reason_code", "token_expired")
        .with("run_id", "run_1")
        .next("plan_again")
}

#[test]
fn failures_have_the_contract_shapes() {
    let shown = [
        Envelope::Plain,
        Envelope::Stack,
        Envelope::Pipeline,
        Envelope::Pack,
        Envelope::Launch,
    ]
    .map(|envelope| envelope.failure(CONTEXT, &problem()).to_string())
    .join("\n");
    insta::assert_snapshot!(shown, @r#"
    {"error":{"code":"CONFIRM_TOKEN_EXPIRED","details":{"reason_code":"token_expired","run_id":"run_1"},"message":"the token is too old","next_actions":["plan_again"],"request_id":"req_1","retryable":false},"ok":false}
    {"code":"CONFIRMATION_REQUIRED","data":{"reason":"confirm_token_expired","reason_code":"token_expired","run_id":"run_1"},"message":"the token is too old","nextActions":["plan_again"],"ok":false}
    {"error":{"code":"INVALID_INPUT","details":{"reason_code":"token_expired","run_id":"run_1"},"message":"the token is too old","request_id":"req_1"}}
    {"command":"plan","command_id":"plan","command_path":["plan"],"data":{},"errors":[{"code":"E_CONFIRM_TOKEN_EXPIRED","details":{"next_actions":["plan_again"],"reason_code":"token_expired","run_id":"run_1"},"message":"the token is too old"}],"ok":false,"schema_version":1,"version":"0.1.0","warnings":[]}
    {"error":{"code":"INVALID_INPUT","details":{"next_actions":["plan_again"],"reason":"confirm_token_expired","reason_code":"token_expired"},"message":"the token is too old","retryable":false},"ok":false,"run_id":"run_1"}
    "#);
}

#[test]
fn answers_have_the_contract_shapes() {
    let output = json!({"message": "Deployed", "outputs": {"url": "x"}, "nextActions": ["logs"], "warnings": ["w"]});
    let shown = [
        Envelope::Plain,
        Envelope::Stack,
        Envelope::Pipeline,
        Envelope::Pack,
        Envelope::Launch,
    ]
    .map(|envelope| envelope.success(CONTEXT, output.clone()).to_string())
    .join("\n");
    insta::assert_snapshot!(shown, @r#"
    {"message":"Deployed","nextActions":["logs"],"outputs":{"url":"x"},"warnings":["w"]}
    {"code":"OK","data":{"outputs":{"url":"x"},"warnings":["w"]},"message":"Deployed","nextActions":["logs"],"ok":true}
    {"message":"Deployed","nextActions":["logs"],"outputs":{"url":"x"},"warnings":["w"]}
    {"command":"plan","command_id":"plan","command_path":["plan"],"data":{"message":"Deployed","nextActions":["logs"],"outputs":{"url":"x"}},"errors":[],"ok":true,"schema_version":1,"version":"0.1.0","warnings":["w"]}
    {"message":"Deployed","nextActions":["logs"],"ok":true,"outputs":{"url":"x"},"warnings":["w"]}
    "#);
}

#[test]
fn contracts_only_speak_their_own_codes() {
    let listed: [(Envelope, &[&str]); 4] = [
        (
            Envelope::Stack,
            &[
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
            ],
        ),
        (
            Envelope::Pipeline,
            &[
                "UNAUTHORIZED",
                "RATE_LIMITED",
                "INVALID_INPUT",
                "AGENT_TIMEOUT",
                "AGENT_FAILURE",
                "JOB_NOT_FOUND",
                "ARTIFACT_NOT_READY",
                "INTERNAL_ERROR",
            ],
        ),
        (
            Envelope::Pack,
            &[
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
            ],
        ),
        (
            Envelope::Launch,
            &[
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
            ],
        ),
    ];
    for (envelope, names) in listed {
        for code in code::ALL {
            let name = envelope.code_name(code);
            assert!(
                names.contains(&name),
                "{envelope:?}: {} became {name}",
                code.name
            );
        }
    }
}
