//! `windlass pack completions`: a script for the name the binary was started under.

use clap::Args;
use clap_complete::Shell;
use serde_json::json;

use super::Program;
use crate::{
    completion::script,
    output::Printer,
    session::{Ending, Report},
};

#[derive(Args, Debug)]
pub(crate) struct CompletionsArgs {
    /// The shell.
    #[arg(value_name = "SHELL", value_enum)]
    shell: Shell,
}

impl CompletionsArgs {
    pub(super) fn run(&self, printer: &Printer, program: Program) -> Report {
        // A script is what the shell reads, with --json too.
        printer.raw(&script(self.shell, program));
        let mut report = Report::new(
            format!("completions for {}", self.shell),
            json!({ "shell": self.shell.to_string() }),
        );
        report.ending = Ending::Streamed;
        report
    }
}
