//! The outcome of a stack command in the form of contract 000, also of one that never began.

use std::{ffi::OsString, process::ExitCode};

use serde_json::Value;
use windlass_engine::contract::{Contract, EnvelopeContext};
use windlass_types::{Problem, code};

use super::{StackCommand, show::failure};
use crate::{
    Host,
    dispatch::Failure,
    early, exit,
    output::{Mode, Printer},
    outward::Outward,
    session::Report,
};

/// The toolset whose contract these commands follow, and their first word.
const TOOLSET: &str = "stack";

/// What exit codes mean for these commands.
pub(crate) const EXIT_NOTES: &[(u8, &str)] = &[(1, "Every failure of `windlass stack`.")];

/// The form of contract 000.
pub(crate) struct StackOutcome(&'static dyn Contract);

impl StackOutcome {
    /// Of a command; `None` when its answer is not in an envelope.
    pub(crate) fn of_command(command: &StackCommand, host: &dyn Host) -> Option<Self> {
        command.has_envelope().then(|| Self(host.contract(TOOLSET)))
    }

    /// Of a command line that was not understood; `None` when it is not one of stacks.
    pub(crate) fn of_arguments(args: &[OsString], host: &dyn Host) -> Option<Self> {
        match early::command(&early::words(args)) {
            Some((TOOLSET, _)) => Some(Self(host.contract(TOOLSET))),
            _ => None,
        }
    }

    fn envelope(&self, report: Report) -> Value {
        let mut output = report.data;
        if let Some(members) = output.as_object_mut()
            && !members.contains_key("message")
        {
            members.insert("message".to_owned(), Value::from(report.message));
        }
        let context = EnvelopeContext {
            operation: "",
            request_id: "",
            input: &Value::Null,
        };
        self.0.success(context, output)
    }
}

impl Outward for StackOutcome {
    fn document(&self, printer: &Printer, report: Report) {
        printer.json(&self.envelope(report));
    }

    fn last_line(&self, printer: &Printer, report: Report) {
        printer.ndjson().envelope(self.envelope(report));
    }

    fn fail(&self, printer: &Printer, failure: &Failure) -> ExitCode {
        let problem = &failure.problem;
        let envelope = || self.0.failure(failure.context(), problem);
        match printer.mode() {
            Mode::Human => failure::failure(printer, problem, self.0),
            Mode::Json => printer.json(&envelope()),
            Mode::Agent => printer.ndjson().envelope(envelope()),
        }
        exit_code(problem)
    }

    fn usage(&self, message: &str) -> Problem {
        Problem::invalid("arguments", "usage", message)
            .with("reason", "usage")
            .next("windlass stack --help")
    }
}

/// Contract 000 has its own codes for programs, so scripts need only tell success, usage and
/// interruption apart.
fn exit_code(problem: &Problem) -> ExitCode {
    let is_usage = problem.details().get("constraint") == Some(&"usage".into());
    match problem.code() {
        code if code == &code::INTERRUPTED => exit::of(problem),
        code if code == &code::INVALID_INPUT && is_usage => ExitCode::from(exit::USAGE),
        _ => ExitCode::FAILURE,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stack_fails_with_one() {
        let cases = [
            (Problem::new(&code::DEPLOY_FAILED, "x"), 1),
            (Problem::new(&code::CONFIRM_REQUIRED, "x"), 1),
            (Problem::invalid("sql", "required", "x"), 1),
            (Problem::invalid("arguments", "usage", "x"), 2),
            (Problem::new(&code::INTERRUPTED, "x"), 130),
            (Problem::internal("x", "x"), 1),
        ];
        for (problem, expected) in cases {
            assert_eq!(exit_code(&problem), ExitCode::from(expected), "{problem}");
        }
    }
}
