//! The shapes of contract 000, written from its text and from nothing of the product.

use serde_json::{Value, json};

/// The tools, in the order of their names.
pub(super) const TOOLS: [&str; 4] = [
    "stacktape_dev",
    "stacktape_diagnose",
    "stacktape_docs",
    "stacktape_ops",
];

/// The closed set of codes.
pub(super) const CODES: [&str; 12] = [
    "OK",
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

pub(super) const OPS: [&str; 9] = [
    "preview_changes",
    "deploy",
    "delete",
    "rollback",
    "script_run",
    "compile_template",
    "secret_create",
    "secret_get",
    "secret_delete",
];

pub(super) const DEV: [&str; 6] = ["start", "status", "logs", "rebuild", "rebuild_all", "stop"];

pub(super) const DIAGNOSE: [&str; 13] = [
    "info_stack",
    "info_stacks",
    "info_operations",
    "info_whoami",
    "logs",
    "metrics",
    "alarms",
    "container_exec",
    "sql",
    "dynamodb",
    "redis",
    "opensearch",
    "aws_sdk",
];

/// The phases of the stream.
pub(super) const PHASES: [&str; 9] = [
    "initializing",
    "packaging",
    "uploading",
    "previewing",
    "creating",
    "deploying",
    "deleting",
    "rolling-back",
    "post-deploy",
];

fn object(required: &[&str], members: Value) -> Value {
    json!({
        "type": "object", "required": required, "properties": members,
        "additionalProperties": false,
    })
}

/// The output of a tool, with nothing that the contract does not name.
pub(super) fn output(tool: &str) -> Value {
    let text = json!({ "type": "string", "minLength": 1 });
    let texts = json!({ "type": "array", "items": text });
    if tool == "stacktape_docs" {
        let kinds = [
            "config-ref",
            "recipe",
            "concept",
            "troubleshooting",
            "getting-started",
            "cli-ref",
        ];
        let reference = object(
            &["title", "path", "docType"],
            json!({ "title": text, "path": text, "docType": { "enum": kinds } }),
        );
        let snippet = object(
            &["language", "code"],
            json!({ "language": { "enum": ["typescript", "yaml"] }, "code": text }),
        );
        return object(
            &["answer", "references"],
            json!({
                "answer": text,
                "references": { "type": "array", "items": reference },
                "snippets": { "type": "array", "items": snippet, "minItems": 1 },
                "nextQueries": texts,
            }),
        );
    }
    let mut members = json!({
        "ok": { "type": "boolean" },
        "code": { "enum": CODES },
        "message": text,
        "data": { "type": "object" },
        "nextActions": texts,
    });
    if tool != "stacktape_dev" {
        members["rawTail"] = json!({ "type": "string", "maxLength": 8_000 });
    }
    object(&["ok", "code", "message"], members)
}

/// Checks an answer against the contract.
#[track_caller]
pub(super) fn check(tool: &str, body: &Value) {
    let shape = jsonschema::validator_for(&output(tool)).unwrap();
    if let Err(error) = shape.validate(body) {
        panic!("{tool}: not as the contract says: {error}: {body:#}");
    }
    if tool != "stacktape_docs" {
        assert_eq!(body["ok"], body["code"] == "OK", "{body:#}");
    }
    if let Some(tail) = body["rawTail"].as_str() {
        assert!(tail.lines().count() <= 80, "{tail}");
        assert!(!tail.contains('\u{1b}'), "{tail}");
    }
}

/// Checks one line of the stream.
#[track_caller]
pub(super) fn check_line(line: &str) -> Value {
    let event: Value =
        serde_json::from_str(line).unwrap_or_else(|error| panic!("not JSON: {error}: {line}"));
    let text = json!({ "type": "string" });
    let time = json!({ "type": "string", "pattern": "^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d(\\.\\d+)?Z$" });
    let shape = match event["type"].as_str() {
        Some("progress") => object(
            &["v", "type", "phase", "message", "ts"],
            json!({
                "v": { "const": "1.0" }, "type": text, "phase": { "enum": PHASES },
                "message": text, "ts": time,
                "pct": { "type": "number", "minimum": 0, "maximum": 100 },
            }),
        ),
        Some("log") => object(
            &["v", "type", "source", "level", "message", "ts"],
            json!({
                "v": { "const": "1.0" }, "type": text, "source": text,
                "level": { "enum": ["info", "warn", "error"] },
                "message": { "type": "string", "maxLength": 8_000 }, "ts": time,
            }),
        ),
        Some("result") => object(
            &["v", "type", "ok", "code", "message"],
            json!({
                "v": { "const": "1.0" }, "type": text, "ok": { "type": "boolean" },
                "code": { "enum": CODES }, "message": text, "data": { "type": "object" },
            }),
        ),
        other => panic!("{other:?} is no event of the contract: {line}"),
    };
    let shape = jsonschema::validator_for(&shape).unwrap();
    if let Err(error) = shape.validate(&event) {
        panic!("not as the contract says: {error}: {line}");
    }
    assert!(!line.contains("\\u001b"), "terminal escapes: {line}");
    event
}
