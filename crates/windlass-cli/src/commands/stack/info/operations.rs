//! `windlass stack info operations`.

use clap::Args;
use serde_json::Value;
use windlass_types::Problem;

use crate::{
    commands::stack::{
        arguments::{Deployed, Request},
        command::StackCall,
        show::{Screen, list, moment, text},
    },
    output::{Table, Tone},
};

#[derive(Args, Debug)]
pub(crate) struct InfoOperationsArgs {
    #[command(flatten)]
    stack: Deployed,
    /// Only what you did yourself.
    #[arg(long, alias = "currentUserOnly")]
    current_user_only: bool,
    /// How many at most. Default: 25.
    #[arg(long, value_name = "COUNT")]
    limit: Option<u64>,
}

impl StackCall for InfoOperationsArgs {
    fn request(&self) -> Result<Request, Problem> {
        Ok(self
            .stack
            .input()
            .flag("currentUserOnly", self.current_user_only)
            .number("limit", self.limit)
            .request("stack.info_operations"))
    }

    fn show(&self, screen: &Screen<'_>, output: &Value) {
        show(screen, output);
        if let Some(cause) = output.pointer("/cloudFormation/cause") {
            let cause = cause.as_str().unwrap_or_default();
            let aside = screen.aside();
            aside.line(&format!("Only what was done from here: {cause}"));
        }
    }
}

pub(in crate::commands::stack) fn show(screen: &Screen<'_>, output: &Value) {
    let operations = list(output, "operations");
    if operations.is_empty() {
        screen.line("nothing was done yet");
        return;
    }
    let mut table = Table::new(&[
        "STARTED",
        "OPERATION",
        "STACK",
        "STATE",
        "CODE",
        "BY",
        "RUN",
    ]);
    for operation in operations {
        let state = text(operation, "state");
        let tone = match state {
            "completed" | "succeeded" => Tone::Good,
            "failed" | "cancelled" => Tone::Bad,
            _ => Tone::Active,
        };
        let by = match text(operation, "principal") {
            "" => text(operation, "source"),
            principal => principal,
        };
        let started = operation.get("startedAt").unwrap_or(&Value::Null);
        table.toned_row([
            (Tone::Dim, moment(started)),
            (Tone::Plain, text(operation, "operation").to_owned()),
            (Tone::Plain, text(operation, "stackName").to_owned()),
            (tone, state.to_owned()),
            (Tone::Plain, text(operation, "code").to_owned()),
            (Tone::Plain, by.to_owned()),
            (Tone::Plain, text(operation, "runId").to_owned()),
        ]);
    }
    screen.table(&table);
}
