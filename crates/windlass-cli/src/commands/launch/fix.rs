//! `windlass launch fix`.

use clap::Args;
use windlass_launch_model::ValidationReport;
use windlass_types::Problem;

use super::{
    LaunchArg,
    live::ask,
    resume::go_on,
    show::{ask_status, failing, hints, issue_table},
};
use crate::{
    commands::field,
    output::counted,
    session::{Report, Session},
};

#[derive(Args, Debug)]
pub(crate) struct FixArgs {
    #[command(flatten)]
    run: LaunchArg,
    /// Fix one issue after the other until nothing is left or no attempt is left.
    #[arg(long)]
    all: bool,
}

impl FixArgs {
    pub(super) async fn run(self, session: &Session) -> Result<Report, Problem> {
        let run_id = self.run.find(session).await?;
        if self.all {
            return go_on(session, &run_id).await;
        }
        let answer = ask(session, "launch.fix_next", &run_id).await?;
        let fixed: String = field(&answer, "fixed_issue_id")?;
        let patches: Vec<String> = field(&answer, "applied_patch_ids")?;
        let report: ValidationReport = field(&answer, "validation_report")?;
        let (_, status) = ask_status(session, &run_id).await?;
        let left = failing(&status);
        let message = if report.ok {
            format!("fixed {fixed} by {}; nothing is left", patches.join(", "))
        } else {
            let left = counted(left.len(), "issue");
            format!("fixed {fixed} by {}; {left} left", patches.join(", "))
        };
        let printer = &session.printer;
        printer.data(&message);
        if !left.is_empty() {
            printer.table(&issue_table(&left, Some(&report)));
        }
        hints(session, &run_id, &status).await?;
        Ok(Report::new(message, answer).sound(report.ok))
    }
}
