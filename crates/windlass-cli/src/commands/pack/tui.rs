//! `windlass pack tui`: the screen, which is a surface of its own; the binary shows it.

use std::{io::IsTerminal as _, sync::Arc};

use clap::Args;
use serde_json::json;
use windlass_types::Problem;

use super::{Wire, context::Context, show::advised, wire};
use crate::{Host, TuiRequest, output::Printer, session::Report};

#[derive(Args, Debug)]
pub(crate) struct TuiArgs {}

/// Refuses to draw without a terminal.
pub(super) fn needs_a_terminal(printer: &Printer) -> Result<(), Problem> {
    if !printer.is_human() {
        return Err(Wire::usage(
            "tui is for people; `preview`, `status` and `snapshots list` print JSON",
        ));
    }
    let (stdin, stdout) = (std::io::stdin().is_terminal(), printer.data_is_seen());
    if !(stdin && stdout) {
        return Err(wire::without_terminal(
            "tui draws on a terminal, and there is none",
            stdin,
            stdout,
        ));
    }
    Ok(())
}

impl TuiArgs {
    pub(super) async fn run(
        self,
        context: &Context<'_>,
        host: &dyn Host,
    ) -> Result<Report, Problem> {
        let session = context.session;
        let places = context.view.places.clone();
        let (options, program) = (context.options.clone(), context.view.program.clone());
        let request = TuiRequest {
            program: program.clone(),
            arguments: context.options.input(json!({}))?,
            request_id: session.request_id.clone(),
            directory: std::env::current_dir().ok(),
            colour: session.printer.colours_data(),
            read_only: context.options.dry_run,
            short_path: Arc::new(move |path| places.short(path)),
            advice: Arc::new(move |problem| {
                advised(problem, |words| options.command(&program, words))
            }),
            shutdown: session.interrupt.clone(),
        };
        host.show_tui(session.opened.clone(), request).await?;
        Ok(Report::new("closed", json!({})))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::{Captured, Mode};

    #[test]
    fn nothing_is_drawn_without_a_terminal() {
        for (mode, code, reason) in [
            (Mode::Human, "E_TTY_REQUIRED", "tty_required"),
            (Mode::Json, "E_UNEXPECTED", "usage"),
            (Mode::Agent, "E_UNEXPECTED", "usage"),
        ] {
            let problem = needs_a_terminal(&Captured::new(mode).printer).unwrap_err();
            assert_eq!(problem.code().name, code);
            assert_eq!(problem.details()["reason_code"], reason);
        }
    }
}
