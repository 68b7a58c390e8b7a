//! `windlass stack info stacks`.

use clap::Args;
use serde_json::Value;
use windlass_types::Problem;

use crate::{
    commands::stack::{
        arguments::{Input, Request, Target},
        command::StackCall,
        show::{Screen, list, moment, status_tone, text},
    },
    output::{Table, Tone},
};

#[derive(Args, Debug)]
pub(crate) struct InfoStacksArgs {
    #[command(flatten)]
    target: Target,
}

impl StackCall for InfoStacksArgs {
    fn request(&self) -> Result<Request, Problem> {
        Ok(Input::new(&self.target).request("stack.info_stacks"))
    }

    fn show(&self, screen: &Screen<'_>, output: &Value) {
        show(screen, output);
    }
}

pub(in crate::commands::stack) fn show(screen: &Screen<'_>, output: &Value) {
    let stacks = list(output, "stacks");
    if stacks.is_empty() {
        screen.line("no stacks");
        return;
    }
    let mut table = Table::new(&["STACK", "STAGE", "STATUS", "CHANGED", "MANAGED BY"]);
    for stack in stacks {
        let status = text(stack, "stackStatus");
        let changed = stack.get("lastUpdateTime").filter(|time| !time.is_null());
        let changed = changed.or_else(|| stack.get("creationTime"));
        table.toned_row([
            (Tone::Plain, text(stack, "stackName").to_owned()),
            (Tone::Plain, text(stack, "stage").to_owned()),
            (status_tone(status), status.to_owned()),
            (Tone::Dim, moment(changed.unwrap_or(&Value::Null))),
            (Tone::Plain, text(stack, "managedBy").to_owned()),
        ]);
    }
    screen.table(&table);
}
