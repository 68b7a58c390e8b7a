//! `windlass launch status`.

use std::collections::BTreeMap;

use clap::Args;
use windlass_types::{Problem, RunId};

use super::{
    LaunchArg,
    show::{ask_report, ask_status, hints, issue_table, state_tone, summary},
    story::words,
    view::{Status, plural},
};
use crate::{
    output::{Table, Tone},
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
            if stands_still(session, &run_id, &status).await? {
                printer.notice("No process drives this home; the run stands still until one does.");
            }
            hints(session, &status);
        }
        Ok(Report::new(summary(&status), answer))
    }
}

/// Whether the run would go on if only something drove it.
async fn stands_still(session: &Session, run_id: &RunId, status: &Status) -> Result<bool, Problem> {
    let goes_on = !status.parked && !status.has_ended();
    Ok(goes_on && session.engine().driven_by(run_id).await?.is_none())
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
                plural(status.artifacts.len() as u64, "artifact"),
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
            "taken back",
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
