//! How the outcome of a command looks to programs: in Windlass's own form, or in that of the
//! contract which a group of commands follows.

use std::process::ExitCode;

use windlass_engine::contract::Contract;
use windlass_types::Problem;

use crate::{
    dispatch::Failure,
    exit,
    output::{Mode, Printer},
    session::Report,
};

/// The form of an outcome.
pub(crate) trait Outward {
    /// Prints an answer as the one document of `--json`.
    fn document(&self, printer: &Printer, report: Report);

    /// Prints an answer as the last line of `--agent`.
    fn last_line(&self, printer: &Printer, report: Report) {
        printer.ndjson().success(&report.message, report.data);
    }

    /// Prints a failure in the mode that was asked for.
    fn fail(&self, printer: &Printer, failure: &Failure) -> ExitCode;

    /// The failure of a command line that was not understood.
    fn usage(&self, message: &str) -> Problem;
}

/// Windlass's own form, or that of the operation that failed.
pub(crate) struct Own {
    /// Names the codes of last lines.
    pub(crate) line_contract: &'static dyn Contract,
}

impl Outward for Own {
    fn document(&self, printer: &Printer, report: Report) {
        printer.json(&report.data);
    }

    fn fail(&self, printer: &Printer, failure: &Failure) -> ExitCode {
        let problem = &failure.problem;
        match printer.mode() {
            Mode::Human => printer.problem(problem),
            Mode::Json => printer.json(&failure.contract.failure(failure.context(), problem)),
            Mode::Agent => printer.ndjson().failure(problem, self.line_contract),
        }
        exit::of(problem)
    }

    fn usage(&self, message: &str) -> Problem {
        Problem::invalid("arguments", "usage", message).next("windlass --help")
    }
}
