//! `windlass pipeline status`.

use clap::Args;
use windlass_types::Problem;

use super::{
    run::{ask_status, run_id, sentence},
    view::JobStatus,
};
use crate::{
    commands::word,
    flow::says_it_waits,
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
        let message = match says_it_waits(session, &run_id(&self.job)?).await? {
            true => format!("job {} waits for an approval", self.job),
            false => sentence(&self.job, &status.status),
        };
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
        "{}, {} %{}",
        job.status,
        job.progress_percent,
        made_by(&job.generator)
    ));
}

/// What makes the outputs of a job.
fn made_by(generator: &str) -> String {
    match generator {
        "" => String::new(),
        "llm" => ", made with a language model".to_owned(),
        "offline" => ", made without a language model".to_owned(),
        other => format!(", made by {other}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn jobs_are_described_in_sentences() {
        let shown = ["completed", "failed", "timeout", "running"];
        let shown = shown.map(|status| sentence("run_1", status));
        insta::assert_snapshot!(shown.join("\n"), @r"
        job run_1 has completed
        job run_1 has failed
        job run_1 has timed out
        job run_1 is running
        ");
        assert_eq!(made_by("offline"), ", made without a language model");
        assert_eq!(made_by(""), "");
    }
}
