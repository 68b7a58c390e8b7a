//! `windlass pack completions`: a script for the name the binary was started under.

use clap::{Args, CommandFactory as _};
use clap_complete::Shell;
use serde_json::json;

use super::{Program, program::Agentpack};
use crate::{
    cli::Cli,
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

fn script(shell: Shell, program: Program) -> String {
    let (mut command, name) = match program {
        Program::Windlass => (Cli::command(), "windlass"),
        Program::Agentpack => (Agentpack::command(), "agentpack"),
    };
    let mut bytes = Vec::new();
    clap_complete::generate(shell, &mut command, name, &mut bytes);
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_script_is_for_the_program_name_in_use() {
        let own = script(Shell::Bash, Program::Agentpack);
        assert!(own.contains("complete -F _agentpack"), "{own}");
        assert!(own.contains("restore-originals"));
        assert!(script(Shell::Bash, Program::Windlass).contains("complete -F _windlass"));
    }
}
