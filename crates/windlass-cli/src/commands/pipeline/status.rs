//! `windlass pipeline status`.

use clap::Args;
use serde_json::{Value, json};
use windlass_types::Problem;

use super::text;
use crate::{
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
        let input = json!({ "job_id": self.job });
        let status = session.call("pipeline.get_status", input).await?.output;
        show(session, &status);
        let message = format!("job {} is {}", self.job, text(&status, "status"));
        Ok(Report::new(message, status))
    }
}

/// Prints where a job stands.
pub(super) fn show(session: &Session, status: &Value) {
    let mut table = Table::new(&["PHASE", "STATUS", "TOOK"]);
    for phase in ["strategy", "architecture", "ux", "code"] {
        let Some(view) = status.pointer(&format!("/phases/{phase}")) else {
            continue;
        };
        let took = view.get("duration_ms").and_then(Value::as_u64);
        let took = took.map(|ms| format!("{ms} ms")).unwrap_or_default();
        table.row([phase.to_owned(), text(view, "status").to_owned(), took]);
    }
    session.printer.table(&table);
    let percent = status.get("progress_percent").and_then(Value::as_u64);
    session.printer.notice(&format!(
        "{}, {} %, by {}",
        text(status, "status"),
        percent.unwrap_or_default(),
        text(status, "generator")
    ));
}
