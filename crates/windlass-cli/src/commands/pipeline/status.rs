//! `windlass pipeline status`.

use clap::Args;
use windlass_types::Problem;

use super::{run::ask_status, view::JobStatus};
use crate::{
    commands::word,
    output::Table,
    session::{Report, Session},
};

#[derive(Args, Debug)]
pub(crate) struct StatusArgs {
    /// The job.
    #[arg(value_name = "JOB")]
    job: String,
}

impl StatusArgs {
    pub(super) async fn run(self, session: &Session) -> Result<Report, Problem> {
        let (status, output) = ask_status(session, &self.job).await?;
        show(session, &status);
        let message = format!("job {} is {}", self.job, status.status);
        Ok(Report::new(message, output))
    }
}

/// Prints where a job stands.
pub(super) fn show(session: &Session, job: &JobStatus) {
    let mut table = Table::new(&["PHASE", "STATUS", "TOOK"]);
    for (phase, view) in &job.phases {
        let took = view.duration_ms.map(|ms| format!("{ms} ms"));
        table.row([word(phase), view.status.clone(), took.unwrap_or_default()]);
    }
    session.printer.table(&table);
    session.printer.notice(&format!(
        "{}, {} %, by {}",
        job.status, job.progress_percent, job.generator
    ));
}
