//! Contract 003: `{schema_version, ok, command, command_id, command_path, version, data,
//! warnings, errors}`, pretty-printed in that order; the MCP server that offers its tools alone;
//! and the tools' input schemas (`inputs`).
//!
//! An operation's output, and the details of a failure, may carry `warnings`; they move up into
//! the envelope.

pub(crate) mod inputs;

use serde::{Serialize, Serializer};
use serde_json::{Map, Value, json};
use windlass_engine::contract::{Contract, EnvelopeContext, mcp::McpIdentity, object_schema};
use windlass_types::{Code, Problem};

/// Says to a model what the server is and how it wants to be used.
const INSTRUCTIONS: &str = "Deploys agent configuration (instructions, skills, prompts, commands) from a config repository \
    to Codex, Claude Code, Cursor and VS Code. plan, diff, preview, status, doctor and explain only read. To deploy, call \
    deploy, show its plan to the user, then call deploy_apply with yes=true and that answer's confirm_token within ten \
    minutes. rollback goes back to a snapshot; evolve_propose keeps edits of deployed files on a branch. Failures carry \
    errors[0].code, details.reason_code and details.next_actions.";

/// The server of contract 003.
pub(crate) const MCP_IDENTITY: McpIdentity = McpIdentity {
    name: "agentpack",
    title: "Windlass",
    instructions: INSTRUCTIONS,
};

const SCHEMA_VERSION: u32 = 1;
const ORDER: [&str; 9] = [
    "schema_version",
    "ok",
    "command",
    "command_id",
    "command_path",
    "version",
    "data",
    "warnings",
    "errors",
];

/// Contract 003.
#[derive(Clone, Copy, Debug)]
pub struct PackContract;

impl Contract for PackContract {
    fn number(&self) -> Option<&'static str> {
        Some("003")
    }

    fn success(&self, context: EnvelopeContext<'_>, output: Value) -> Value {
        let mut data = match output {
            Value::Object(map) => map,
            other => Map::from_iter([("value".to_owned(), other)]),
        };
        let warnings = data.remove("warnings").unwrap_or_else(|| json!([]));
        envelope(context, true, Value::Object(data), warnings, json!([]))
    }

    fn failure(&self, context: EnvelopeContext<'_>, problem: &Problem) -> Value {
        let mut details = problem.details().clone();
        let warnings = details.remove("warnings").unwrap_or_else(|| json!([]));
        // Every failure says what kind it is and what to do, also one that another part raised.
        details
            .entry("reason_code")
            .or_insert_with(|| reason(problem.code()).into());
        details.entry("next_actions").or_insert_with(|| {
            if problem.next_actions().is_empty() {
                json!(["retry_command"])
            } else {
                json!(problem.next_actions())
            }
        });
        let error = json!({
            "code": self.code_name(problem.code()),
            "message": problem.message(),
            "details": details,
        });
        envelope(context, false, json!({}), warnings, json!([error]))
    }

    fn code_name(&self, code: &'static Code) -> &'static str {
        match code.name {
            // A person has to decide first; the reason says about what.
            "CONFIRM_REQUIRED" | "APPROVAL_REQUIRED" | "APPROVAL_REJECTED" | "NOT_TRUSTED" => {
                "E_CONFIRM_REQUIRED"
            }
            "CONFIRM_TOKEN_REQUIRED" => "E_CONFIRM_TOKEN_REQUIRED",
            "CONFIRM_TOKEN_EXPIRED" => "E_CONFIRM_TOKEN_EXPIRED",
            "CONFIRM_TOKEN_MISMATCH" | "CONFIRM_TOKEN_USED" => "E_CONFIRM_TOKEN_MISMATCH",
            "CONFIG_INVALID" => "E_CONFIG_INVALID",
            own if own.starts_with("E_") => own,
            _ => "E_UNEXPECTED",
        }
    }

    /// Pretty JSON with the top-level keys in the contract's order.
    fn text(&self, envelope: &Value) -> String {
        serde_json::to_string_pretty(&Ordered(envelope)).unwrap_or_else(|_| envelope.to_string())
    }

    fn success_schema(&self, output: Value) -> Value {
        object_schema([
            ("ok", json!({ "const": true })),
            ("command", json!({ "type": "string" })),
            ("data", output),
        ])
    }

    fn failure_schema(&self) -> Value {
        object_schema([
            ("ok", json!({ "const": false })),
            ("errors", json!({ "type": "array" })),
        ])
    }

    fn document_schema(&self, _output: Value) -> Value {
        object_schema([
            ("ok", json!({ "const": true })),
            ("data", json!({ "type": "object" })),
        ])
    }

    /// The command's id names the flags that make it another command.
    fn shows_input(&self) -> bool {
        true
    }
}

fn envelope(
    context: EnvelopeContext<'_>,
    ok: bool,
    data: Value,
    warnings: Value,
    errors: Value,
) -> Value {
    let (command, id) = names(context);
    let path: Vec<&str> = id.split(' ').collect();
    let mut envelope = Map::new();
    let mut put = |key: &str, value: Value| drop(envelope.insert(key.to_owned(), value));
    put("schema_version", SCHEMA_VERSION.into());
    put("ok", ok.into());
    put("command", command.into());
    put("command_path", path.into());
    put("command_id", id.into());
    put("version", env!("CARGO_PKG_VERSION").into());
    // Moved, not copied: there may be thousands of changes in it.
    put("data", data);
    put("warnings", warnings);
    put("errors", errors);
    Value::Object(envelope)
}

/// The command an operation stands for, and its id with the flag that makes it another one.
fn names(context: EnvelopeContext<'_>) -> (String, String) {
    let verb = context
        .operation
        .split_once('.')
        .map_or(context.operation, |(_, verb)| verb);
    let flag = |name: &str| context.input.get(name) == Some(&Value::Bool(true));
    match verb {
        "deploy_apply" | "apply" => ("deploy".to_owned(), "deploy --apply".to_owned()),
        "explain" => match context.input.get("kind").and_then(Value::as_str) {
            Some("status") => ("explain.status".to_owned(), "explain status".to_owned()),
            Some("diff") => ("explain.plan".to_owned(), "explain diff".to_owned()),
            _ => ("explain.plan".to_owned(), "explain plan".to_owned()),
        },
        "import" if flag("apply") => ("import".to_owned(), "import --apply".to_owned()),
        "doctor_fix" => ("doctor".to_owned(), "doctor --fix".to_owned()),
        other => (other.to_owned(), other.replace('.', " ")),
    }
}

/// An envelope whose keys come out in the contract's order.
struct Ordered<'a>(&'a Value);

impl Serialize for Ordered<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Value::Object(map) = self.0 else {
            return self.0.serialize(serializer);
        };
        let known = ORDER.iter().filter_map(|key| map.get_key_value(*key));
        let rest = map.iter().filter(|(key, _)| !ORDER.contains(&key.as_str()));
        serializer.collect_map(known.chain(rest))
    }
}

fn reason(code: &'static Code) -> &'static str {
    match code.name {
        "INVALID_INPUT" | "UNKNOWN_OPERATION" | "PAYLOAD_TOO_LARGE" => "invalid_arguments",
        "CONFIRM_REQUIRED" | "APPROVAL_REQUIRED" | "APPROVAL_REJECTED" => "confirm_required",
        "STORE_FULL" => "disk_full",
        _ => "internal",
    }
}

#[cfg(test)]
#[path = "contract_tests.rs"]
mod tests;
