//! `windlass stack init`: a config to start from, made from what the directory holds.

use clap::Args;
use serde_json::Value;
use windlass_types::Problem;

use super::{
    arguments::{Input, Request},
    command::StackCall,
    show::{Screen, list, shown, text},
};

#[derive(Args, Debug)]
pub(crate) struct InitArgs {
    /// The directory. Default: this one.
    #[arg(value_name = "DIR")]
    directory: Option<String>,
    /// Write over a config that is there.
    #[arg(long)]
    force: bool,
    /// Print the config and write nothing.
    #[arg(long)]
    print: bool,
}

impl StackCall for InitArgs {
    fn request(&self) -> Result<Request, Problem> {
        Ok(Input::default()
            .text("currentWorkingDirectory", self.directory.as_deref())
            .flag("force", self.force)
            .flag("print", self.print)
            .request("stack.init"))
    }

    fn show(&self, screen: &Screen<'_>, output: &Value) {
        if self.print {
            screen.block(text(output, "text"));
        } else {
            show(screen, output);
        }
    }
}

pub(super) fn show(screen: &Screen<'_>, output: &Value) {
    for found in list(output, "found") {
        let said = match found {
            Value::Object(members) => {
                let parts: Vec<String> = members.values().map(shown).collect();
                parts.join("  ")
            }
            other => shown(other),
        };
        screen.line(&format!("found {said}"));
    }
}
