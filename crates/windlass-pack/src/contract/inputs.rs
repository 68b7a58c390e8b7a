//! The eleven tools of contract 003: their input schemas, to the letter.

use serde_json::{Map, Value, json};

fn property(name: &str) -> Value {
    match name {
        "repo" => {
            json!({ "type": "string", "description": "Path to the agentpack config repo (default: $AGENTPACK_HOME/repo)." })
        }
        "profile" => json!({ "type": "string", "default": "default" }),
        "target" => {
            json!({ "type": "string", "default": "all", "enum": ["all", "codex", "claude_code", "cursor", "vscode"] })
        }
        "machine" => {
            json!({ "type": "string", "description": "Machine id for machine overlays. Omit to auto-detect." })
        }
        "dry_run" => json!({ "type": "boolean", "default": false }),
        "diff" => {
            json!({ "type": "boolean", "default": false, "description": "Include diffs (like `agentpack preview --diff`)." })
        }
        "only" => {
            json!({ "type": "array", "items": { "type": "string", "enum": ["missing", "modified", "extra"] } })
        }
        "adopt" => {
            json!({ "type": "boolean", "default": false, "description": "Allow overwriting existing unmanaged files (adopt updates)." })
        }
        "confirm_token" => {
            json!({ "type": "string", "description": "Token returned by the deploy tool; binds the apply to the reviewed plan." })
        }
        "to" => json!({ "type": "string", "description": "Snapshot id to rollback to." }),
        "scope" => {
            json!({ "type": "string", "default": "global", "enum": ["global", "machine", "project"], "description": "Overlay scope to write into." })
        }
        "branch" => {
            json!({ "type": "string", "description": "Branch name to create (default: evolve/propose-<timestamp>)." })
        }
        "kind" => {
            json!({ "type": "string", "enum": ["plan", "diff", "status"], "description": "Maps to `agentpack explain <kind> --json`." })
        }
        _ => Value::Null,
    }
}

const COMMON: [&str; 4] = ["repo", "profile", "target", "machine"];

fn schema(names: &[&str], own: &[(&str, Value)], required: &[&str]) -> Value {
    let mut properties: Map<String, Value> = names
        .iter()
        .map(|name| ((*name).to_owned(), property(name)))
        .collect();
    for (name, value) in own {
        properties.insert((*name).to_owned(), value.clone());
    }
    let mut schema = json!({
        "type": "object",
        "additionalProperties": false,
        "properties": properties,
    });
    if !required.is_empty() {
        schema["required"] = json!(required);
    }
    schema
}

fn with_common(names: &[&'static str]) -> Vec<&'static str> {
    COMMON.iter().chain(names).copied().collect()
}

/// `plan`, `diff` and `deploy`.
pub(crate) fn plan() -> Value {
    schema(&with_common(&["dry_run"]), &[], &[])
}

pub(crate) fn preview() -> Value {
    schema(&with_common(&["diff", "dry_run"]), &[], &[])
}

pub(crate) fn status() -> Value {
    schema(&with_common(&["only", "dry_run"]), &[], &[])
}

pub(crate) fn doctor() -> Value {
    schema(&["repo", "target"], &[], &[])
}

pub(crate) fn deploy_apply() -> Value {
    let forced = json!({ "type": "boolean", "default": false, "description": "Force dry-run behavior (do not apply even if this tool is the apply variant)." });
    schema(
        &with_common(&["adopt", "confirm_token"]),
        &[("dry_run", forced), ("yes", required_yes())],
        &["yes", "confirm_token"],
    )
}

pub(crate) fn rollback() -> Value {
    schema(&["repo", "to"], &[("yes", required_yes())], &["to", "yes"])
}

pub(crate) fn evolve_propose() -> Value {
    let module = module_id("Only propose changes for a single module id.");
    schema(
        &with_common(&["scope", "branch", "dry_run"]),
        &[("module_id", module), ("yes", yes_unless_dry())],
        &[],
    )
}

pub(crate) fn evolve_restore() -> Value {
    let module = module_id("Only restore missing outputs attributable to a module id.");
    schema(
        &with_common(&["dry_run"]),
        &[("module_id", module), ("yes", yes_unless_dry())],
        &[],
    )
}

pub(crate) fn explain() -> Value {
    schema(&with_common(&["kind"]), &[], &["kind"])
}

fn required_yes() -> Value {
    json!({ "const": true, "description": "Required explicit approval for mutating operations." })
}

fn yes_unless_dry() -> Value {
    json!({ "type": "boolean", "default": false, "description": "Required explicit approval when not dry_run." })
}

fn module_id(description: &str) -> Value {
    json!({ "type": "string", "description": description })
}
