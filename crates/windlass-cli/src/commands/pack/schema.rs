//! `windlass pack schema`: what the JSON of the commands looks like.

use clap::Args;
use serde_json::{Value, json};

use crate::{output::Printer, session::Report};

#[derive(Args, Debug)]
pub(crate) struct SchemaArgs {}

impl SchemaArgs {
    pub(super) fn run(&self, printer: &Printer) -> Report {
        printer.data(
            "Every command with --json prints one envelope, schema_version 1:\n  \
             schema_version, ok, command, command_id, command_path, version, data, warnings, errors",
        );
        printer.hint("add --json to see the fields of data");
        Report::new("schema", document())
    }
}

fn document() -> Value {
    let plan = json!(["profile", "targets", "changes", "summary"]);
    json!({
        "envelope": {
            "schema_version": 1,
            "fields": {
                "schema_version": "number",
                "ok": "boolean",
                "command": "string",
                "command_id": "string",
                "command_path": "array[string]",
                "version": "string",
                "data": "object",
                "warnings": "array[string]",
                "errors": "array[{code,message,details?}]",
            },
            "error_item": { "code": "string", "message": "string", "details": "object|null" },
        },
        "commands": {
            "diff": { "data_fields": plan },
            "help": {
                "data_fields": ["global_args", "commands", "mutating_commands", "notes", "targets"]
            },
            "import": {
                "data_fields": [
                    "applied", "reason?", "repo", "repo_posix", "home_root", "home_root_posix",
                    "project", "plan", "summary", "conflicts", "next_actions",
                ]
            },
            "plan": { "data_fields": plan },
            "preview": { "data_fields": ["profile", "targets", "plan", "diff?"] },
            "status": {
                "data_fields": [
                    "profile", "targets", "drift", "summary", "summary_by_root", "summary_total?",
                    "next_actions?", "next_actions_detailed?",
                ]
            },
        },
        "path_conventions": {
            "native": "path-like fields use OS-native separators",
            "posix": "every path-like field has a *_posix companion that uses forward slashes",
        },
    })
}
