//! `windlass launch open-pr`: the one command after which others can see something.

use clap::Args;
use windlass_types::{EffectClass, Problem, RunId};

use super::{
    LaunchArg,
    live::ask,
    show::{ask_status, ask_text},
    view::{OpenedPr, Status},
};
use crate::{
    flow::{Channel, Consent, ConsentView, Question, refused, table_lines},
    output::{Table, Tone, counted},
    session::{Report, Session},
};

const DIFF: &str = "diff_report.md";

#[derive(Args, Debug)]
pub(crate) struct OpenPrArgs {
    #[command(flatten)]
    run: LaunchArg,
    /// Open it without asking.
    #[arg(long, short)]
    yes: bool,
}

impl OpenPrArgs {
    pub(super) async fn run(self, session: &Session) -> Result<Report, Problem> {
        let run_id = self.run.find(session).await?;
        let (_, status) = ask_status(session, &run_id).await?;
        // In any other state the operation itself says why not.
        if status.state == "READY_FOR_PR" && status.parked {
            self.agree(session, &run_id, &status).await?;
        }
        let answer = ask(session, "launch.open_pr", &run_id).await?;
        let pr: OpenedPr = serde_json::from_value(answer.clone())
            .map_err(|error| Problem::internal("launch answer", error))?;
        let printer = &session.printer;
        printer.fields(&[
            ("pull request", pr.pr_url.clone()),
            ("branch", pr.branch.clone()),
            ("commit", pr.commit_sha.clone()),
        ]);
        printer.notice("To remove branch and pull request, as long as it is not merged:");
        printer.hint(&format!("windlass runs rollback {run_id}"));
        printer.notice("Once it is merged: the commands under Rollback in the pull request.");
        Ok(Report::new(
            format!("pull request {} is open", pr.pr_url),
            answer,
        ))
    }

    async fn agree(
        &self,
        session: &Session,
        run_id: &RunId,
        status: &Status,
    ) -> Result<(), Problem> {
        let mut view = ConsentView::new(
            "launch.open_pr",
            run_id.as_str(),
            EffectClass::Write,
            Question::Yes("Open the pull request?".to_owned()),
        );
        if status.has_artifact(DIFF) && session.printer.is_human() {
            let changes = changes(&ask_text(session, run_id, DIFF).await?);
            view.lines = table_lines(session, Channel::Notice, &table(&changes));
            view.summary = total(&changes);
        }
        match view.ask(session, self.yes).await? {
            Consent::Given => Ok(()),
            consent => Err(not_opened(consent, run_id)),
        }
    }
}

fn not_opened(consent: Consent, run_id: &RunId) -> Problem {
    refused(consent)
        .with("run_id", run_id.as_str())
        .next(format!("windlass launch artifact {run_id} {DIFF}"))
        .next(format!("windlass launch open-pr {run_id} --yes"))
}

/// One file of a diff report.
#[derive(Debug, PartialEq, Eq)]
struct Change {
    path: String,
    what: String,
    added: u64,
    removed: u64,
}

/// The table a diff report begins with.
fn changes(report: &str) -> Vec<Change> {
    report
        .lines()
        .take_while(|line| !line.starts_with("## "))
        .filter_map(|line| {
            let cells: Vec<&str> = line
                .strip_prefix('|')?
                .strip_suffix('|')?
                .split('|')
                .map(str::trim)
                .collect();
            let [path, what, added, removed] = cells.as_slice() else {
                return None;
            };
            Some(Change {
                path: path.trim_matches('`').to_owned(),
                what: (*what).to_owned(),
                added: added.parse().ok()?,
                removed: removed.parse().ok()?,
            })
        })
        .collect()
}

fn table(changes: &[Change]) -> Table {
    let mut table = Table::new(&["CHANGE", "LINES", "FILE"]);
    for change in changes {
        let (tone, sign) = match change.what.as_str() {
            "created" => (Tone::Good, '+'),
            "deleted" | "removed" => (Tone::Bad, '-'),
            _ => (Tone::Warn, '~'),
        };
        table.toned_row([
            (tone, format!("{sign} {}", change.what)),
            (Tone::Dim, format!("+{} −{}", change.added, change.removed)),
            (Tone::Plain, change.path.clone()),
        ]);
    }
    table
}

fn total(changes: &[Change]) -> String {
    let sum = |lines: fn(&Change) -> u64| changes.iter().map(lines).sum::<u64>();
    format!(
        "{}, {} added, {} removed",
        counted(changes.len(), "file"),
        counted(sum(|change| change.added), "line"),
        sum(|change| change.removed)
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::{Captured, Mode};

    #[test]
    fn a_diff_report_is_summed_up() {
        let report = "# Changes\n\n| file | change | lines added | lines removed |\n| --- | --- | --- | --- |\n| `content/a.md` | created | 24 | 0 |\n| `content/b.md` | changed | 3 | 2 |\n\n## `content/a.md`\n\n| `x` | created | 1 | 1 |\n";
        let changes = changes(report);
        let captured = Captured::new(Mode::Human);
        captured.printer.table(&table(&changes));
        captured.printer.data(&total(&changes));
        insta::assert_snapshot!(captured.stdout(), @r"
        CHANGE     LINES   FILE
        + created  +24 −0  content/a.md
        ~ changed  +3 −2   content/b.md
        2 files, 27 lines added, 2 removed
        ");
    }

    #[test]
    fn without_a_terminal_a_yes_is_needed() {
        let run_id: RunId = "r_1".parse().unwrap();
        let problem = not_opened(Consent::CannotAsk, &run_id);
        assert_eq!(problem.code().exit_code, 4);
        insta::assert_snapshot!(problem.next_actions().join("\n"), @r"
        windlass launch artifact r_1 diff_report.md
        windlass launch open-pr r_1 --yes
        ");
    }
}
