//! The input schemas of the eleven tools against the blocks of contract 003, transcribed here.

use serde_json::{Value, json};

use super::place::PackPlace;

/// The tools of the contract.
pub(super) const TOOLS: [&str; 11] = [
    "plan",
    "diff",
    "preview",
    "status",
    "doctor",
    "deploy",
    "deploy_apply",
    "rollback",
    "evolve_propose",
    "evolve_restore",
    "explain",
];

/// The contract's block of a tool.
fn block(tool: &str) -> &'static str {
    match tool {
        "plan" | "diff" | "deploy" => PLAN,
        "preview" => PREVIEW,
        "status" => STATUS,
        "doctor" => DOCTOR,
        "deploy_apply" => DEPLOY_APPLY,
        "rollback" => ROLLBACK,
        "evolve_propose" => EVOLVE_PROPOSE,
        "evolve_restore" => EVOLVE_RESTORE,
        "explain" => EXPLAIN,
        other => panic!("the contract has no {other}"),
    }
}

const PLAN: &str = r#"{
  "type": "object",
  "additionalProperties": false,
  "properties": {
    "repo": { "type": "string", "description": "Path to the agentpack config repo (default: $AGENTPACK_HOME/repo)." },
    "profile": { "type": "string", "default": "default" },
    "target": { "type": "string", "default": "all", "enum": ["all", "codex", "claude_code", "cursor", "vscode"] },
    "machine": { "type": "string", "description": "Machine id for machine overlays. Omit to auto-detect." },
    "dry_run": { "type": "boolean", "default": false }
  }
}"#;

const PREVIEW: &str = r#"{
  "type": "object",
  "additionalProperties": false,
  "properties": {
    "repo": { "type": "string", "description": "Path to the agentpack config repo (default: $AGENTPACK_HOME/repo)." },
    "profile": { "type": "string", "default": "default" },
    "target": { "type": "string", "default": "all", "enum": ["all", "codex", "claude_code", "cursor", "vscode"] },
    "machine": { "type": "string", "description": "Machine id for machine overlays. Omit to auto-detect." },
    "diff": { "type": "boolean", "default": false, "description": "Include diffs (like `agentpack preview --diff`)." },
    "dry_run": { "type": "boolean", "default": false }
  }
}"#;

const STATUS: &str = r#"{
  "type": "object",
  "additionalProperties": false,
  "properties": {
    "repo": { "type": "string", "description": "Path to the agentpack config repo (default: $AGENTPACK_HOME/repo)." },
    "profile": { "type": "string", "default": "default" },
    "target": { "type": "string", "default": "all", "enum": ["all", "codex", "claude_code", "cursor", "vscode"] },
    "machine": { "type": "string", "description": "Machine id for machine overlays. Omit to auto-detect." },
    "only": { "type": "array", "items": { "type": "string", "enum": ["missing", "modified", "extra"] } },
    "dry_run": { "type": "boolean", "default": false }
  }
}"#;

const DOCTOR: &str = r#"{
  "type": "object",
  "additionalProperties": false,
  "properties": {
    "repo": { "type": "string", "description": "Path to the agentpack config repo (default: $AGENTPACK_HOME/repo)." },
    "target": { "type": "string", "default": "all", "enum": ["all", "codex", "claude_code", "cursor", "vscode"] }
  }
}"#;

const DEPLOY_APPLY: &str = r#"{
  "type": "object",
  "additionalProperties": false,
  "required": ["yes", "confirm_token"],
  "properties": {
    "repo": { "type": "string", "description": "Path to the agentpack config repo (default: $AGENTPACK_HOME/repo)." },
    "profile": { "type": "string", "default": "default" },
    "target": { "type": "string", "default": "all", "enum": ["all", "codex", "claude_code", "cursor", "vscode"] },
    "machine": { "type": "string", "description": "Machine id for machine overlays. Omit to auto-detect." },
    "adopt": { "type": "boolean", "default": false, "description": "Allow overwriting existing unmanaged files (adopt updates)." },
    "dry_run": { "type": "boolean", "default": false, "description": "Force dry-run behavior (do not apply even if this tool is the apply variant)." },
    "confirm_token": { "type": "string", "description": "Token returned by the deploy tool; binds the apply to the reviewed plan." },
    "yes": { "const": true, "description": "Required explicit approval for mutating operations." }
  }
}"#;

const ROLLBACK: &str = r#"{
  "type": "object",
  "additionalProperties": false,
  "required": ["to", "yes"],
  "properties": {
    "repo": { "type": "string", "description": "Path to the agentpack config repo (default: $AGENTPACK_HOME/repo)." },
    "to": { "type": "string", "description": "Snapshot id to rollback to." },
    "yes": { "const": true, "description": "Required explicit approval for mutating operations." }
  }
}"#;

const EVOLVE_PROPOSE: &str = r#"{
  "type": "object",
  "additionalProperties": false,
  "properties": {
    "repo": { "type": "string", "description": "Path to the agentpack config repo (default: $AGENTPACK_HOME/repo)." },
    "profile": { "type": "string", "default": "default" },
    "target": { "type": "string", "default": "all", "enum": ["all", "codex", "claude_code", "cursor", "vscode"] },
    "machine": { "type": "string", "description": "Machine id for machine overlays. Omit to auto-detect." },
    "module_id": { "type": "string", "description": "Only propose changes for a single module id." },
    "scope": { "type": "string", "default": "global", "enum": ["global", "machine", "project"], "description": "Overlay scope to write into." },
    "branch": { "type": "string", "description": "Branch name to create (default: evolve/propose-<timestamp>)." },
    "dry_run": { "type": "boolean", "default": false },
    "yes": { "type": "boolean", "default": false, "description": "Required explicit approval when not dry_run." }
  }
}"#;

const EVOLVE_RESTORE: &str = r#"{
  "type": "object",
  "additionalProperties": false,
  "properties": {
    "repo": { "type": "string", "description": "Path to the agentpack config repo (default: $AGENTPACK_HOME/repo)." },
    "profile": { "type": "string", "default": "default" },
    "target": { "type": "string", "default": "all", "enum": ["all", "codex", "claude_code", "cursor", "vscode"] },
    "machine": { "type": "string", "description": "Machine id for machine overlays. Omit to auto-detect." },
    "module_id": { "type": "string", "description": "Only restore missing outputs attributable to a module id." },
    "dry_run": { "type": "boolean", "default": false },
    "yes": { "type": "boolean", "default": false, "description": "Required explicit approval when not dry_run." }
  }
}"#;

const EXPLAIN: &str = r#"{
  "type": "object",
  "additionalProperties": false,
  "required": ["kind"],
  "properties": {
    "repo": { "type": "string", "description": "Path to the agentpack config repo (default: $AGENTPACK_HOME/repo)." },
    "profile": { "type": "string", "default": "default" },
    "target": { "type": "string", "default": "all", "enum": ["all", "codex", "claude_code", "cursor", "vscode"] },
    "machine": { "type": "string", "description": "Machine id for machine overlays. Omit to auto-detect." },
    "kind": { "type": "string", "enum": ["plan", "diff", "status"], "description": "Maps to `agentpack explain <kind> --json`." }
  }
}"#;

#[test]
fn must_33_input_schemas_are_those_of_the_contract() {
    let place = PackPlace::bare();
    let mut client = place.serve();
    let answer = client.request("tools/list", &json!({}));
    let tools = answer["result"]["tools"].as_array().unwrap();
    for name in TOOLS {
        let listed: Vec<&Value> = tools.iter().filter(|tool| tool["name"] == name).collect();
        assert_eq!(listed.len(), 1, "{name}");
        let wanted: Value = serde_json::from_str(block(name)).unwrap();
        assert_eq!(listed[0]["inputSchema"], wanted, "{name}");
    }
    assert_eq!(tools.len(), TOOLS.len(), "and no others");
}

#[test]
fn tools_say_what_they_do_to_files() {
    let place = PackPlace::bare();
    let mut client = place.serve();
    let answer = client.request("tools/list", &json!({}));
    for tool in answer["result"]["tools"].as_array().unwrap() {
        let name = tool["name"].as_str().unwrap();
        let writes = matches!(
            name,
            "deploy_apply" | "rollback" | "evolve_propose" | "evolve_restore"
        );
        let hints = &tool["annotations"];
        assert_eq!(hints["readOnlyHint"], !writes, "{name}: {hints}");
        let destroys = matches!(name, "deploy_apply" | "rollback");
        let said = hints["destructiveHint"].as_bool().unwrap_or(writes);
        assert_eq!(writes && said, destroys, "{name}: {hints}");
        assert!(!tool["description"].as_str().unwrap().is_empty(), "{name}");
    }
}

#[test]
fn the_order_of_tools_is_fixed() {
    let place = PackPlace::bare();
    let names = |answer: Value| -> Vec<String> {
        let tools = answer["result"]["tools"].as_array().unwrap();
        let name = |tool: &Value| tool["name"].as_str().unwrap().to_owned();
        tools.iter().map(name).collect()
    };
    let first = names(place.serve().request("tools/list", &json!({})));
    let second = names(place.serve().request("tools/list", &json!({})));
    assert_eq!(first, second);
}
