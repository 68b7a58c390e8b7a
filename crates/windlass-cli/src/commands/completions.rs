//! `windlass completions`: a script for a shell, on standard output.

use clap::Args;
use clap_complete::Shell;
use serde_json::json;

use crate::{cli::Program, completion::script, output::Printer, session::Report};

#[derive(Args, Debug)]
pub(crate) struct CompletionsArgs {
    /// The shell.
    #[arg(value_name = "SHELL", value_enum)]
    shell: Shell,
}

impl CompletionsArgs {
    pub(crate) fn run(self, printer: &Printer) -> Report {
        let script = script(self.shell, Program::Windlass);
        if printer.is_human() {
            printer.raw(&script);
        }
        Report::new(
            format!("completions for {}", self.shell),
            json!({ "shell": self.shell.to_string(), "script": script }),
        )
    }
}
