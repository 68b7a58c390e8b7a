//! `windlass launch status`.

use std::collections::BTreeMap;

use clap::Args;
use windlass_types::Problem;

use super::{
    LaunchArg,
    event_lines::words,
    live::PROGRAM,
    show::{ask_report, ask_status, has_begun, hints, issue_table, state_tone, summary},
    view::Status,
};
use crate::{
    flow::{says_it_waits, stalled},
    output::{Table, Tone, counted},
    session::{Report, Session},
};

const SECTIONS: [&str; 5] = ["products", "docs", "reference", "kb", "blog"];

#[derive(Args, Debug)]
pub(crate) struct StatusArgs {
    #[command(flatten)]
    run: LaunchArg,
}

impl StatusArgs {
    pub(super) async fn run(self, session: &Session) -> Result<Report, Problem> {
        let run_id = self.run.find(session).await?;
        let (answer, status) = ask_status(session, &run_id).await?;
        let printer = &session.printer;
        if printer.is_human() {
            show(session, &status);
            if !status.open_issues.is_empty() {
                let report = ask_report(session, &run_id, &status).await?;
                let issues: Vec<_> = status.open_issues.iter().collect();
                printer.data("");
                printer.table(&issue_table(&issues, report.as_ref()));
            }
            let could_go_on = !status.parked && !status.has_ended();
            let waits = !has_begun(&status) && says_it_waits(session, &run_id).await?;
            if !waits && (!could_go_on || !stalled(session, PROGRAM, &run_id).await?) {
                hints(session, &run_id, &status).await?;
            }
        }
        Ok(Report::new(summary(&status), answer))
    }
}

/// Sections in the order they are written in; any other behind them.
fn in_order(states: &BTreeMap<String, String>) -> Vec<(&str, &str)> {
    let place = |name: &str| SECTIONS.iter().position(|section| *section == name);
    let mut sections: Vec<(&str, &str)> = states
        .iter()
        .map(|(section, state)| (section.as_str(), state.as_str()))
        .collect();
    sections.sort_by_key(|(section, _)| place(section).unwrap_or(SECTIONS.len()));
    sections
}

fn show(session: &Session, status: &Status) {
    let printer = &session.printer;
    let paint = printer.paint();
    let waits = if status.parked { " (waits)" } else { "" };
    printer.data(&format!(
        "{} {}{waits}",
        status.run_id,
        paint.text(state_tone(&status.state), &status.state)
    ));
    let pr = status.pr.as_ref();
    let failure = status.failure.as_ref();
    printer.fields(&[
        (
            "failure",
            failure
                .map(|failure| format!("{}: {}", failure.code, failure.message))
                .unwrap_or_default(),
        ),
        (
            "fixes",
            format!(
                "{} of {} attempts used",
                status.fix_attempts.used, status.fix_attempts.max
            ),
        ),
        (
            "issues",
            if status.open_issues.is_empty() {
                String::new()
            } else {
                status.tally()
            },
        ),
        (
            "artifacts",
            format!(
                "{} (windlass launch artifact {})",
                counted(status.artifacts.len(), "artifact"),
                status.run_id
            ),
        ),
        (
            "pull request",
            pr.map(|pr| pr.pr_url.clone()).unwrap_or_default(),
        ),
        ("branch", pr.map(|pr| pr.branch.clone()).unwrap_or_default()),
        (
            "commit",
            pr.map(|pr| pr.commit_sha.clone()).unwrap_or_default(),
        ),
        (
            "rolled back",
            if status.rolled_back { "yes" } else { "" }.to_owned(),
        ),
    ]);
    if !status.section_states.is_empty() {
        let mut table = Table::new(&["SECTION", "STATE"]);
        for (section, state) in in_order(&status.section_states) {
            let tone = match state {
                "DONE" => Tone::Good,
                "BLOCKED" => Tone::Bad,
                _ => Tone::Active,
            };
            table.toned_row([(Tone::Plain, section.to_owned()), (tone, words(state))]);
        }
        printer.data("");
        printer.table(&table);
    }
}
