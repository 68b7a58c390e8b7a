//! `windlass launch validate`.

use clap::Args;
use windlass_launch_model::ValidationReport;
use windlass_types::Problem;

use super::{
    LaunchArg,
    live::ask,
    show::{ask_status, gate_table, hints, issue_table},
};
use crate::{
    commands::{field, word},
    session::{Report, Session},
};

#[derive(Args, Debug)]
pub(crate) struct ValidateArgs {
    #[command(flatten)]
    run: LaunchArg,
}

impl ValidateArgs {
    pub(super) async fn run(self, session: &Session) -> Result<Report, Problem> {
        let run_id = self.run.find(session).await?;
        let answer = ask(session, "launch.validate", &run_id).await?;
        let report: ValidationReport = field(&answer, "validation_report")?;
        let (_, status) = ask_status(session, &run_id).await?;
        let printer = &session.printer;
        printer.table(&gate_table(&report));
        if !status.open_issues.is_empty() {
            let issues: Vec<_> = status.open_issues.iter().collect();
            printer.data("");
            printer.table(&issue_table(&issues, Some(&report)));
        }
        let profile = word(report.profile);
        let message = if report.ok {
            format!("every gate passed (profile {profile})")
        } else {
            format!("{} (profile {profile})", status.tally())
        };
        printer.notice(&message);
        hints(session, &run_id, &status).await?;
        Ok(Report::new(message, answer).sound(report.ok))
    }
}
