//! `windlass runs artifacts`.

use clap::Args;
use serde_json::json;
use windlass_types::{ArtifactRef, Problem};

use crate::{
    commands::field,
    flow::{RunArg, find_run},
    output::{Table, bytes, counted},
    session::{Report, Session},
};

#[derive(Args, Debug)]
pub(crate) struct ArtifactsArgs {
    #[command(flatten)]
    run: RunArg,
}

impl ArtifactsArgs {
    pub(crate) async fn run(self, session: &Session) -> Result<Report, Problem> {
        let run_id = find_run(session, &self.run.run).await?;
        let answer = session
            .call("runs.artifacts", json!({ "run_id": run_id }))
            .await?;
        let artifacts: Vec<ArtifactRef> = field(&answer.output, "artifacts")?;
        if artifacts.is_empty() {
            session
                .printer
                .notice(&format!("Run {run_id} has no artifacts."));
        } else {
            session.printer.table(&table(&artifacts));
            session
                .printer
                .hint(&format!("windlass runs artifact {run_id} NAME"));
        }
        Ok(Report::new(
            counted(artifacts.len(), "artifact"),
            answer.output,
        ))
    }
}

pub(super) fn table(artifacts: &[ArtifactRef]) -> Table {
    let mut table = Table::new(&["ARTIFACT", "SIZE", "TYPE", "SHA-256"]);
    for artifact in artifacts {
        table.row([
            artifact.name.clone(),
            bytes(artifact.size),
            artifact.content_type.clone(),
            artifact.sha256.to_string(),
        ]);
    }
    table
}
