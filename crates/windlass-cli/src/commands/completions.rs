//! `windlass completions`: a script for a shell, on standard output.

use clap::{Args, CommandFactory as _};
use clap_complete::Shell;
use serde_json::json;

use crate::{cli::Cli, output::Printer, session::Report};

#[derive(Args, Debug)]
pub(crate) struct CompletionsArgs {
    /// The shell.
    #[arg(value_name = "SHELL", value_enum)]
    shell: Shell,
}

impl CompletionsArgs {
    pub(crate) fn run(self, printer: &Printer) -> Report {
        let script = script(self.shell);
        if printer.is_human() {
            printer.raw(&script);
        }
        Report::new(
            format!("completions for {}", self.shell),
            json!({ "shell": self.shell.to_string(), "script": script }),
        )
    }
}

fn script(shell: Shell) -> String {
    let mut bytes = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "windlass", &mut bytes);
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use clap::ValueEnum as _;

    use super::*;

    #[test]
    fn every_shell_gets_a_script_that_knows_the_commands() {
        for shell in Shell::value_variants() {
            let script = script(*shell);
            for word in ["rollback", "idempotency-key", "tour"] {
                assert!(script.contains(word), "{shell}: {word}");
            }
        }
    }
}
