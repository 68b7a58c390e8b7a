//! What programs read from a pack command: the envelope of contract 003, and the exit code.
//!
//! On failure `command` is the first word, as 0.9.1 has it; over MCP it is the dotted name.

use std::{ffi::OsString, process::ExitCode};

use clap::CommandFactory as _;
use serde_json::Value;
use windlass_engine::contract::{Contract, EnvelopeContext};
use windlass_types::{Problem, code};

use super::{PackArgs, PackOptions, Program, program::Agentpack, show};
use crate::{
    Host,
    dispatch::Failure,
    early::{self, first_word},
    exit,
    flow::{Consent, refused},
    output::{Mode, Printer},
    outward::Outward,
    session::Report,
};

/// The toolset whose contract these commands follow.
const TOOLSET: &str = "pack";
/// The exit code of a failure.
const FAILURE: u8 = 1;

/// What exit codes mean for these commands.
pub(crate) const EXIT_NOTES: &[(u8, &str)] = &[
    (FAILURE, "Every failure of `windlass pack`."),
    (
        exit::FOUND,
        "Of `windlass pack` with `--check`: something would change or has drifted.",
    ),
];

/// The form of contract 003.
pub(crate) struct PackOutcome {
    wire: Wire,
    /// Names the codes of last lines.
    line_contract: &'static dyn Contract,
}

impl PackOutcome {
    /// Of a command.
    pub(crate) fn of_command(args: &PackArgs, program: Program, host: &dyn Host) -> Self {
        Self {
            wire: args.wire(program, host.contract(TOOLSET)),
            line_contract: host.line_contract(),
        }
    }

    /// Of a command line that was not understood; `None` when it is not one of pack.
    pub(crate) fn of_arguments(
        program: Program,
        args: &[OsString],
        host: &dyn Host,
    ) -> Option<Self> {
        let wire = Wire::of_arguments(program, args, host.contract(TOOLSET))?;
        Some(Self {
            wire,
            line_contract: host.line_contract(),
        })
    }
}

impl Outward for PackOutcome {
    fn document(&self, printer: &Printer, report: Report) {
        let document = self.wire.success_document(report.data);
        printer.raw(&self.wire.text(&document));
        // The process ends now. Freeing thousands of changes one by one costs a twentieth of a plan.
        std::mem::forget(document);
    }

    fn fail(&self, printer: &Printer, failure: &Failure) -> ExitCode {
        let problem = &failure.problem;
        match printer.mode() {
            Mode::Human => self.wire.print_failure(printer, problem),
            Mode::Json => printer.raw(&self.wire.failure(problem)),
            Mode::Agent => printer.ndjson().failure(problem, self.line_contract),
        }
        Wire::exit(problem)
    }

    fn usage(&self, message: &str) -> Problem {
        Wire::usage(message)
    }
}

/// How the outcome of one pack command is written.
#[derive(Clone, Debug)]
pub(crate) struct Wire {
    /// The operation the command stands for.
    pub(super) operation: String,
    /// The part of its input that makes it another command, e.g. `apply`.
    pub(super) input: Value,
    /// How pack is called under the name the binary was started under.
    pub(super) program: String,
    pub(super) contract: &'static dyn Contract,
    pub(super) options: PackOptions,
}

impl Wire {
    /// The wire of a command line that was not understood; `None` when it is not one of pack.
    fn of_arguments(
        program: Program,
        args: &[OsString],
        contract: &'static dyn Contract,
    ) -> Option<Self> {
        let words = early::words(args);
        let rest = match program {
            Program::Agentpack => words.as_slice(),
            Program::Windlass => match early::command(&words)? {
                ("pack", rest) => rest,
                _ => return None,
            },
        };
        Some(Self {
            operation: format!("pack.{}", meant(rest)),
            input: Value::Null,
            program: program.group_command().to_owned(),
            contract,
            options: PackOptions::default(),
        })
    }

    /// A document as text.
    fn text(&self, document: &Value) -> String {
        self.contract.text(document) + "\n"
    }

    /// A failure as text.
    fn failure(&self, problem: &Problem) -> String {
        self.text(&self.failure_document(problem))
    }

    pub(super) fn success_document(&self, data: Value) -> Value {
        self.contract.success(self.context(), data)
    }

    pub(super) fn failure_document(&self, problem: &Problem) -> Value {
        let mut document = self.contract.failure(self.context(), problem);
        let first = document["command_path"][0].clone();
        if let Some(command) = document.get_mut("command") {
            *command = first;
        }
        document
    }

    /// A failure for people.
    pub(crate) fn print_failure(&self, printer: &Printer, problem: &Problem) {
        show::failure(printer, problem, |words| {
            self.options.command(&self.program, words)
        });
    }

    /// The exit code of a failure.
    fn exit(problem: &Problem) -> ExitCode {
        if problem.code() == &code::INTERRUPTED {
            return exit::of(problem);
        }
        ExitCode::from(FAILURE)
    }

    /// The failure of a command line that was not understood.
    pub(crate) fn usage(message: &str) -> Problem {
        Problem::new(&code::E_UNEXPECTED, message)
            .with("reason_code", "usage")
            .next("inspect_help_json")
            .next("retry_command")
    }

    fn context(&self) -> EnvelopeContext<'_> {
        EnvelopeContext {
            operation: &self.operation,
            request_id: "",
            input: &self.input,
        }
    }
}

/// The command the words of a line begin with, as far as it exists; dotted.
fn meant(words: &[&str]) -> String {
    let mut root = Agentpack::command();
    root.build();
    let mut found: Vec<String> = Vec::new();
    let mut command = &root;
    let mut rest = words;
    let takes_value: Vec<String> = root
        .get_arguments()
        .filter(|arg| arg.get_action().takes_values())
        .filter_map(|arg| arg.get_long().map(|long| format!("--{long}")))
        .collect();
    let takes_value: Vec<&str> = takes_value.iter().map(String::as_str).collect();
    while let Some(first) = first_word(rest, &takes_value) {
        let Some(next) = command.find_subcommand(rest[first]) else {
            break;
        };
        found.push(next.get_name().to_owned());
        command = next;
        rest = &rest[first + 1..];
    }
    if found.is_empty() {
        return "pack".to_owned();
    }
    found.join(".")
}

/// The failure of an unconfirmed command.
pub(super) fn not_confirmed(command: &str, consent: Consent) -> Problem {
    refused(consent)
        .with("reason_code", "confirm_required")
        .with("command", command)
        .next("retry_with_yes")
}

/// The failure of questions without a terminal.
pub(super) fn tty_required(stdin_is_terminal: bool, stdout_is_terminal: bool) -> Problem {
    without_terminal(
        "init --guided asks questions and needs a terminal",
        stdin_is_terminal,
        stdout_is_terminal,
    )
    .next("retry_without_guided")
}

/// The failure of anything that needs a terminal.
pub(super) fn without_terminal(
    message: &str,
    stdin_is_terminal: bool,
    stdout_is_terminal: bool,
) -> Problem {
    Problem::new(&code::E_TTY_REQUIRED, message)
        .with("reason_code", "tty_required")
        .with("stdin_is_terminal", stdin_is_terminal)
        .with("stdout_is_terminal", stdout_is_terminal)
        .next("retry_in_tty")
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use windlass_pack::PackContract;

    use super::*;

    fn wire(operation: &str, input: Value) -> Wire {
        Wire {
            operation: operation.to_owned(),
            input,
            program: "windlass pack".to_owned(),
            contract: &PackContract,
            options: PackOptions::default(),
        }
    }

    #[test]
    fn success_is_dotted_and_failure_is_the_first_word() {
        let problem = not_confirmed("evolve propose", Consent::CannotAsk);
        for (operation, input, command, failed, id) in [
            ("pack.plan", Value::Null, "plan", "plan", "plan"),
            (
                "pack.evolve.propose",
                Value::Null,
                "evolve.propose",
                "evolve",
                "evolve propose",
            ),
            (
                "pack.apply",
                Value::Null,
                "deploy",
                "deploy",
                "deploy --apply",
            ),
            (
                "pack.explain",
                json!({ "kind": "diff" }),
                "explain.plan",
                "explain",
                "explain diff",
            ),
            (
                "pack.doctor_fix",
                Value::Null,
                "doctor",
                "doctor",
                "doctor --fix",
            ),
            (
                "pack.import",
                json!({ "apply": true }),
                "import",
                "import",
                "import --apply",
            ),
            (
                "pack.snapshots.list",
                Value::Null,
                "snapshots.list",
                "snapshots",
                "snapshots list",
            ),
        ] {
            let wire = wire(operation, input);
            let ok = wire.success_document(json!({}));
            assert_eq!(
                (&ok["command"], &ok["command_id"]),
                (&json!(command), &json!(id))
            );
            let bad = wire.failure_document(&problem);
            assert_eq!(
                (&bad["command"], &bad["command_id"]),
                (&json!(failed), &json!(id))
            );
        }
    }

    #[test]
    fn the_text_is_pretty_and_in_the_order_of_the_contract() {
        let wire = wire("pack.plan", Value::Null);
        let data = json!({ "profile": "default", "warnings": ["careful"] });
        let text = wire.text(&wire.success_document(data));
        let text = text.replace(env!("CARGO_PKG_VERSION"), "VERSION");
        insta::assert_snapshot!(text, @r#"
        {
          "schema_version": 1,
          "ok": true,
          "command": "plan",
          "command_id": "plan",
          "command_path": [
            "plan"
          ],
          "version": "VERSION",
          "data": {
            "profile": "default"
          },
          "warnings": [
            "careful"
          ],
          "errors": []
        }
        "#);
    }

    #[test]
    fn must_22_a_line_that_is_not_understood_has_an_envelope() {
        for (program, line, command) in [
            (
                Program::Agentpack,
                "agentpack plan --nope --json",
                Some("plan"),
            ),
            (
                Program::Agentpack,
                "agentpack --repo plan add --json",
                Some("add"),
            ),
            (
                Program::Agentpack,
                "agentpack overlay edit --json",
                Some("overlay"),
            ),
            (Program::Agentpack, "agentpack --json", Some("pack")),
            (Program::Agentpack, "agentpack nonsense", Some("pack")),
            (
                Program::Windlass,
                "windlass --home pack pack rollback",
                Some("rollback"),
            ),
            (Program::Windlass, "windlass pack", Some("pack")),
            (Program::Windlass, "windlass runs lst --json", None),
            (Program::Windlass, "windlass", None),
        ] {
            let args: Vec<OsString> = line.split(' ').map(OsString::from).collect();
            let found = Wire::of_arguments(program, &args, &PackContract)
                .map(|wire| wire.failure_document(&Wire::usage("no")));
            assert_eq!(
                found.as_ref().and_then(|found| found["command"].as_str()),
                command,
                "{line}"
            );
            if let Some(found) = found {
                assert_eq!(found["errors"][0]["code"], "E_UNEXPECTED");
                assert_eq!(found["errors"][0]["details"]["reason_code"], "usage");
            }
        }
    }
}
