//! Failures of launches for people: which of the exit classes they belong to, and what to type
//! next.

use serde_json::{Value, json};
use windlass_types::{Code, Problem, RunId, code};

use super::view::{RunFailure, Status};

/// A failure with something to do about it.
pub(super) fn advised(problem: Problem, run_id: Option<&RunId>) -> Problem {
    let Some(run_id) = run_id else { return problem };
    let reason = problem.details().get("reason").and_then(Value::as_str);
    let driving = problem.details().get("retryable") == Some(&Value::Bool(true));
    match (problem.code().name, reason) {
        // A refusal of policy, in the contract's clothes.
        ("ILLEGAL_STATE", Some("approval_required")) => {
            let mut refused = Problem::new(&code::APPROVAL_REQUIRED, problem.message());
            for (key, value) in problem.details() {
                refused = refused.with(key, value.clone());
            }
            // The run waits again after it: for the pull request to be opened.
            refused
                .next(format!("windlass runs approve {run_id} --detach"))
                .next(format!("windlass launch open-pr {run_id}"))
        }
        ("ILLEGAL_STATE", _) if driving => problem.next(format!("windlass launch resume {run_id}")),
        ("FIX_EXHAUSTED", _) => problem
            .next(format!("windlass launch status {run_id}"))
            .next(format!(
                "windlass launch artifact {run_id} failure_summary.md"
            )),
        ("TOOLCHAIN_MISSING", _) => problem.next(format!("windlass launch validate {run_id}")),
        ("COMMIT_SERVICE_ERROR", _) => problem.next(format!("windlass launch open-pr {run_id}")),
        _ => problem,
    }
}

/// Why a run that rests is not where it should be; none where it is.
pub(super) fn shortfall(status: &Status) -> Option<Problem> {
    let run_id = status.run_id.as_str();
    let problem = match (status.state.as_str(), &status.failure) {
        ("CANCELLED", _) if status.is_up_to_date() => return None,
        ("CANCELLED", _) => Problem::new(&code::CANCELLED, format!("run {run_id} was cancelled")),
        ("FAILED", Some(failure)) => failed(run_id, "failed", failure).next(format!(
            "windlass launch artifact {run_id} failure_summary.md"
        )),
        ("FAILED", None) => Problem::new(&code::STEP_FAILED, format!("run {run_id} failed")),
        // It waits for a program to be installed, say.
        (_, Some(failure)) if status.parked => failed(run_id, "cannot continue", failure)
            .next(format!("windlass launch validate {run_id}")),
        _ => return None,
    };
    Some(
        problem
            .with("run_id", run_id)
            .with("state", status.state.as_str()),
    )
}

fn failed(run_id: &str, word: &str, failure: &RunFailure) -> Problem {
    let problem = Problem::new(
        class(&failure.code),
        format!("run {run_id} {word}: {}", failure.message),
    );
    let problem = if problem.code().name == failure.code {
        problem
    } else {
        problem.with("failure_code", failure.code.as_str())
    };
    let issues = failure.details.get("open_issues").and_then(Value::as_array);
    match issues {
        Some(issues) => problem.with("open_issues", json!(issues)),
        None => problem,
    }
}

/// The registered failure behind a run-level code, which decides the exit code.
fn class(failure: &str) -> &'static Code {
    match failure {
        "REPO_UNREACHABLE" => &code::UPSTREAM_ERROR,
        "REF_NOT_FOUND" => &code::NOT_FOUND,
        "POLICY_PATH_ESCAPE" | "NETWORK_BLOCKED" | "SECURITY_UNTRUSTED_EXECUTION" => {
            &code::POLICY_DENIED
        }
        "SnapshotInvalid" | "EVENT_CHAIN_BROKEN" => &code::STORE_DAMAGED,
        known => Code::by_name(known).unwrap_or(&code::STEP_FAILED),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn status(state: &str, parked: bool, failure: Option<&str>) -> Status {
        let failure = failure.map(
            |code| json!({ "code": code, "message": "because", "details": { "reason": "x" } }),
        );
        serde_json::from_value(json!({
            "run_id": "r_1", "state": state, "section_states": {}, "open_issues": [],
            "artifacts": [], "failure": failure, "fix_attempts": { "used": 0, "max": 3 },
            "parked": parked,
        }))
        .unwrap()
    }

    #[test]
    fn every_ending_has_its_exit_class() {
        let cases = [
            status("READY_FOR_PR", true, None),
            status("DONE", false, None),
            status("CANCELLED", false, None),
            status("FAILED", false, Some("FIX_EXHAUSTED")),
            status("FAILED", false, Some("BUDGET_EXCEEDED_MAX_FILE_WRITES")),
            status("FAILED", false, Some("ALLOWED_PATHS_VIOLATION")),
            status("FAILED", false, Some("NETWORK_BLOCKED")),
            status("FAILED", false, Some("REPO_UNREACHABLE")),
            status("FAILED", false, Some("REF_NOT_FOUND")),
            status("FAILED", false, Some("INTERNAL")),
            status("FAILED", false, Some("SnapshotInvalid")),
            status("VALIDATING", true, Some("TOOLCHAIN_MISSING")),
        ];
        let shown: Vec<String> = cases
            .iter()
            .map(|status| match shortfall(status) {
                None => format!("0 {}", status.state),
                Some(problem) => format!("{} {problem}", problem.code().exit_code),
            })
            .collect();
        insta::assert_snapshot!(shown.join("\n"), @r"
        0 READY_FOR_PR
        0 DONE
        1 CANCELLED: run r_1 was cancelled
        1 FIX_EXHAUSTED: run r_1 failed: because
        1 STEP_FAILED: run r_1 failed: because
        4 ALLOWED_PATHS_VIOLATION: run r_1 failed: because
        4 POLICY_DENIED: run r_1 failed: because
        6 UPSTREAM_ERROR: run r_1 failed: because
        3 NOT_FOUND: run r_1 failed: because
        70 INTERNAL: run r_1 failed: because
        7 STORE_DAMAGED: run r_1 failed: because
        7 TOOLCHAIN_MISSING: run r_1 cannot continue: because
        ");
    }

    #[test]
    fn refusals_suggest_a_fix() {
        let run_id: RunId = "r_1".parse().unwrap();
        let illegal = |reason: &str, retryable: bool| {
            Problem::new(&code::ILLEGAL_STATE, "no")
                .with("reason", reason)
                .with("retryable", retryable)
                .next("windlass launch status r_1")
        };
        let cases = [
            illegal("approval_required", false).next("windlass runs approve r_1"),
            illegal("state", true),
            illegal("state", false),
            Problem::new(&code::FIX_EXHAUSTED, "no"),
            Problem::new(&code::COMMIT_SERVICE_ERROR, "no"),
        ];
        let shown: Vec<String> = cases
            .into_iter()
            .map(|problem| {
                let problem = advised(problem, Some(&run_id));
                let next = problem.next_actions().join(" | ");
                format!(
                    "{} {}: {next}",
                    problem.code().exit_code,
                    problem.code().name
                )
            })
            .collect();
        insta::assert_snapshot!(shown.join("\n"), @r"
        4 APPROVAL_REQUIRED: windlass runs approve r_1 --detach | windlass launch open-pr r_1
        5 ILLEGAL_STATE: windlass launch status r_1 | windlass launch resume r_1
        5 ILLEGAL_STATE: windlass launch status r_1
        1 FIX_EXHAUSTED: windlass launch status r_1 | windlass launch artifact r_1 failure_summary.md
        6 COMMIT_SERVICE_ERROR: windlass launch open-pr r_1
        ");
    }
}
