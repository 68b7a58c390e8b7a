//! The answers of the contract, written down a second time: exactly these members, of these
//! kinds. Every answer that any test here gets is held against them.

use std::{collections::BTreeMap, sync::LazyLock};

use jsonschema::Validator;
use serde_json::{Value, json};

pub(crate) const TOOLS: [&str; 9] = [
    "launch_start_run",
    "launch_get_status",
    "launch_get_artifact",
    "launch_validate",
    "launch_fix_next",
    "launch_resume",
    "launch_cancel",
    "launch_open_pr",
    "launch_list_runs",
];

pub(crate) const STATES: [&str; 15] = [
    "CREATED",
    "CLONED_INPUTS",
    "INGESTED",
    "FACTS_READY",
    "PLAN_READY",
    "DRAFTING",
    "DRAFT_READY",
    "LINKING",
    "VALIDATING",
    "FIXING",
    "READY_FOR_PR",
    "PR_OPENED",
    "DONE",
    "FAILED",
    "CANCELLED",
];

/// The gates in their order.
pub(crate) const GATES: [&str; 18] = [
    "Schema",
    "FrontmatterContract",
    "MarkdownLint",
    "TemplateTokens",
    "HugoConfig",
    "HugoBuild",
    "InternalLinks",
    "ExternalLinks",
    "SnippetSyntax",
    "TruthLock",
    "Consistency",
    "Universality",
    "ContentDistribution",
    "RollbackMetadata",
    "Secrets",
    "Xss",
    "Accessibility",
    "PageWeight",
];

pub(crate) const RUN_ID: &str =
    r"^r_[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}-[0-9]{2}-[0-9]{2}Z_[a-z2-7]{26}$";
const SHA256: &str = "^[0-9a-f]{64}$";
const TIME: &str = r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$";

/// An object with exactly these members, of which the named ones may be missing.
fn exactly(members: Value, optional: &[&str]) -> Value {
    let required: Vec<&String> = members
        .as_object()
        .unwrap()
        .keys()
        .filter(|key| !optional.contains(&key.as_str()))
        .collect();
    json!({
        "type": "object",
        "required": required,
        "properties": members,
        "additionalProperties": false,
    })
}

fn text() -> Value {
    json!({ "type": "string", "minLength": 1 })
}

fn matching(pattern: &str) -> Value {
    json!({ "type": "string", "pattern": pattern })
}

fn list(items: Value) -> Value {
    json!({ "type": "array", "items": items })
}

fn run_status() -> Value {
    let section_state = json!({ "enum": [
        "NOT_STARTED", "OUTLINED", "DRAFTED", "MERGED_IN_WORKTREE", "DONE", "BLOCKED",
    ] });
    let sections: Value = ["products", "docs", "reference", "kb", "blog"]
        .into_iter()
        .map(|section| (section.to_owned(), section_state.clone()))
        .collect::<serde_json::Map<_, _>>()
        .into();
    let count = json!({ "type": "integer", "minimum": 0 });
    exactly(
        json!({
            "run_id": matching(RUN_ID),
            "state": { "enum": STATES },
            "section_states": {
                "type": "object", "properties": sections, "additionalProperties": false,
            },
            "open_issues": list(exactly(json!({
                "issue_id": matching("^iss_[0-9a-f]{12}$"),
                "severity": { "enum": ["blocker", "error", "warn", "info"] },
                "gate": { "enum": GATES },
                "title": text(),
            }), &[])),
            "artifacts": list(exactly(json!({
                "name": text(), "sha256": matching(SHA256),
            }), &[])),
            "failure": exactly(json!({
                "code": text(), "message": text(), "details": { "type": "object" },
            }), &[]),
            "config_hash": matching(SHA256),
            "fix_attempts": exactly(json!({ "used": count.clone(), "max": count }), &[]),
            "parked": { "type": "boolean" },
            "pr": exactly(json!({
                "pr_url": text(), "branch": text(), "commit_sha": text(),
            }), &[]),
            "rolled_back": { "const": true },
        }),
        &["failure", "pr", "rolled_back"],
    )
}

fn report() -> Value {
    let gate = exactly(
        json!({
            "name": { "enum": GATES },
            "ok": { "type": "boolean" },
            "skipped": { "type": "boolean" },
            "reason": text(),
            "log_path": text(),
        }),
        &["skipped", "reason", "log_path"],
    );
    let gates = json!({ "type": "array", "items": gate, "minItems": 18, "maxItems": 18 });
    exactly(
        json!({
            "schema_version": { "const": "1.0" },
            "ok": { "type": "boolean" },
            "error_code": { "const": "GATE_FAILED" },
            "profile": { "enum": ["local", "ci", "prod"] },
            "gates": gates,
            "issues": list(json!({
                "type": "object",
                "required": ["issue_id", "gate", "severity", "title", "message", "status",
                    "files", "fixable"],
                "properties": {
                    "title": { "type": "string", "maxLength": 80 },
                    "status": { "enum": ["OPEN", "IN_PROGRESS", "RESOLVED"] },
                    "error_code": matching("^[A-Z]+(_[A-Z]+)*$"),
                    "files": list(matching("^[^/]")),
                    "fixable": { "type": "boolean" },
                },
            })),
            "manual_edits": { "type": "boolean" },
            "manual_edited_files": list(text()),
        }),
        &["error_code", "manual_edited_files"],
    )
}

/// What a tool answers when it worked.
fn success(tool: &str) -> Value {
    let ok = json!({ "const": true });
    let run_id = matching(RUN_ID);
    let state = json!({ "enum": STATES });
    match tool {
        "launch_start_run" => exactly(
            json!({ "ok": ok, "run_id": run_id, "state": state, "existing": { "const": true } }),
            &["existing"],
        ),
        "launch_get_status" | "launch_resume" => exactly(
            json!({ "ok": ok, "run_id": run_id, "status": run_status() }),
            &[],
        ),
        "launch_get_artifact" => {
            let artifact = exactly(
                json!({
                    "name": text(),
                    "content_type": text(),
                    "sha256": matching(SHA256),
                    "content": { "type": "string" },
                    "encoding": { "const": "base64" },
                }),
                &["encoding"],
            );
            exactly(
                json!({ "ok": ok, "run_id": run_id, "artifact": artifact }),
                &[],
            )
        }
        "launch_validate" => exactly(
            json!({ "ok": ok, "run_id": run_id, "validation_report": report() }),
            &[],
        ),
        "launch_fix_next" => exactly(
            json!({
                "ok": ok,
                "run_id": run_id,
                "fixed_issue_id": matching("^iss_[0-9a-f]{12}$"),
                "applied_patch_ids": list(matching("^patch_[0-9]{3,}$")),
                "remaining_blockers": { "type": "integer", "minimum": 0 },
                "validation_report": report(),
            }),
            &[],
        ),
        "launch_cancel" => exactly(
            json!({
                "ok": ok,
                "run_id": run_id,
                "cancelled": { "const": true },
                "state": { "const": "CANCELLED" },
            }),
            &[],
        ),
        "launch_open_pr" => exactly(
            json!({
                "ok": ok,
                "run_id": run_id,
                "pr_url": text(),
                "branch": matching(r"^launch/r_[^/]+/[a-z0-9-]+$"),
                "commit_sha": matching("^[0-9a-f]{40}([0-9a-f]{24})?$"),
            }),
            &[],
        ),
        "launch_list_runs" => {
            let run = exactly(
                json!({
                    "run_id": run_id,
                    "product_slug": matching("^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$"),
                    "state": state,
                    "started_at": matching(TIME),
                    "finished_at": { "anyOf": [matching(TIME), { "type": "null" }] },
                }),
                &[],
            );
            exactly(
                json!({ "ok": ok, "runs": list(run), "next_cursor": text() }),
                &["next_cursor"],
            )
        }
        other => panic!("the contract has no {other}"),
    }
}

fn failure() -> Value {
    let error = exactly(
        json!({
            "code": { "enum": [
                "INVALID_INPUT", "SCHEMA_VALIDATION_FAILED", "RUN_NOT_FOUND", "ILLEGAL_STATE",
                "TOOLCHAIN_MISSING", "FIX_EXHAUSTED", "ALLOWED_PATHS_VIOLATION",
                "COMMIT_SERVICE_ERROR", "CANCELLED", "INTERNAL",
            ] },
            "message": text(),
            "retryable": { "type": "boolean" },
            "details": { "type": "object" },
        }),
        &[],
    );
    exactly(
        json!({ "ok": { "const": false }, "run_id": matching(RUN_ID), "error": error }),
        &["run_id"],
    )
}

/// What the details of a failure say, by its code.
fn details(code: &str) -> Value {
    let reason = text();
    let issue = json!({ "type": "object", "required": ["issue_id", "severity", "gate", "title"] });
    let (members, required): (Value, Vec<&str>) = match code {
        "INVALID_INPUT" => (
            json!({ "field": { "type": "string" }, "reason": reason }),
            vec!["reason"],
        ),
        "SCHEMA_VALIDATION_FAILED" => (
            json!({ "errors": { "type": "array", "minItems": 1, "items": exactly(json!({
                "pointer": { "type": "string" }, "keyword": text(), "message": text(),
            }), &[]) } }),
            vec!["errors"],
        ),
        "ILLEGAL_STATE" => (
            json!({
                "state": { "enum": STATES },
                "required_states": list(json!({ "enum": STATES })),
                "reason": reason,
                "retry_after_ms": { "type": "integer", "minimum": 1 },
            }),
            vec!["state", "required_states", "reason"],
        ),
        "TOOLCHAIN_MISSING" => (
            json!({
                "tool": text(),
                "gate": { "enum": GATES },
                "required_version": { "type": ["string", "null"] },
                "found_version": { "type": ["string", "null"] },
                "install_hint": text(),
            }),
            vec![
                "tool",
                "gate",
                "required_version",
                "found_version",
                "install_hint",
            ],
        ),
        "FIX_EXHAUSTED" => (
            json!({
                "reason": { "enum": ["max_attempts", "no_fixable_issue", "no_diff", "budget"] },
                "open_issues": list(issue),
            }),
            vec!["reason", "open_issues"],
        ),
        "ALLOWED_PATHS_VIOLATION" => (
            json!({ "path": text(), "resolved_path": text(), "patch_id": { "type": "string" } }),
            vec!["path", "resolved_path", "patch_id"],
        ),
        "COMMIT_SERVICE_ERROR" => (
            json!({
                "adapter": { "enum": ["local", "github", "gitlab", "http"] },
                "http_status": { "type": ["integer", "null"] },
                "service_code": { "type": ["string", "null"] },
                "stage": { "enum": ["commit", "open_pr"] },
            }),
            vec!["adapter", "http_status", "service_code", "stage"],
        ),
        "CANCELLED" => (
            json!({ "cancelled_at": matching(TIME) }),
            vec!["cancelled_at"],
        ),
        "INTERNAL" => (json!({ "cause_class": text() }), vec!["cause_class"]),
        _ => (json!({}), vec![]),
    };
    json!({ "type": "object", "properties": members, "required": required })
}

static SUCCESSES: LazyLock<BTreeMap<&str, Validator>> = LazyLock::new(|| {
    TOOLS
        .into_iter()
        .map(|tool| (tool, jsonschema::validator_for(&success(tool)).unwrap()))
        .collect()
});

static FAILURE: LazyLock<Validator> =
    LazyLock::new(|| jsonschema::validator_for(&failure()).unwrap());

/// Holds an envelope against the contract.
pub(crate) fn check(tool: &str, envelope: &Value) {
    let fits = |validator: &Validator, value: &Value| {
        if let Err(error) = validator.validate(value) {
            panic!("{tool}: not as the contract has it: {error}: {envelope:#}");
        }
    };
    if envelope["ok"] == true {
        fits(&SUCCESSES[tool], envelope);
        if let Some(status) = envelope.get("status") {
            check_status(status, envelope);
        }
        if let Some(report) = envelope.get("validation_report") {
            check_report(report);
        }
        return;
    }
    fits(&FAILURE, envelope);
    let error = &envelope["error"];
    let code = error["code"].as_str().unwrap();
    let validator = jsonschema::validator_for(&details(code)).unwrap();
    fits(&validator, &error["details"]);
    let retryable = error["retryable"] == true;
    match code {
        "ILLEGAL_STATE" => {
            let says_when = error["details"].get("retry_after_ms").is_some();
            assert_eq!(retryable, says_when, "{tool}: {envelope:#}");
        }
        "COMMIT_SERVICE_ERROR" | "INTERNAL" => {}
        _ => assert!(!retryable, "{tool}: {envelope:#}"),
    }
    if code == "SCHEMA_VALIDATION_FAILED" {
        let pointers: Vec<&str> = error["details"]["errors"]
            .as_array()
            .unwrap()
            .iter()
            .map(|error| error["pointer"].as_str().unwrap())
            .collect();
        assert!(pointers.is_sorted(), "{tool}: {pointers:?}");
    }
}

fn check_status(status: &Value, envelope: &Value) {
    assert_eq!(status["run_id"], envelope["run_id"], "{envelope:#}");
    let names: Vec<&str> = status["artifacts"]
        .as_array()
        .unwrap()
        .iter()
        .map(|artifact| artifact["name"].as_str().unwrap())
        .collect();
    assert!(names.is_sorted(), "artifacts are not in order: {names:?}");
    let worse = |issue: &Value| {
        let order = ["blocker", "error", "warn", "info"];
        order.iter().position(|word| issue["severity"] == *word)
    };
    let issues = status["open_issues"].as_array().unwrap();
    assert!(issues.iter().map(worse).is_sorted(), "{issues:#?}");
}

/// A report lists every gate, run or skipped with its reason, and says truly whether it is ok.
pub(crate) fn check_report(report: &Value) {
    let gates = report["gates"].as_array().unwrap();
    let names: Vec<&str> = gates.iter().map(|g| g["name"].as_str().unwrap()).collect();
    assert_eq!(names, GATES);
    for gate in gates {
        if gate["skipped"] == true {
            assert!(gate["reason"].is_string(), "{gate}");
        }
    }
    let fails = |issue: &&Value| {
        let severity = issue["severity"].as_str().unwrap();
        issue["status"] == "OPEN" && ["error", "blocker"].contains(&severity)
    };
    let failing = report["issues"].as_array().unwrap().iter().filter(fails);
    assert_eq!(report["ok"] == true, failing.count() == 0, "{report:#}");
    let code = (report["ok"] == false).then_some("GATE_FAILED");
    assert_eq!(report["error_code"].as_str(), code, "{report:#}");
}
