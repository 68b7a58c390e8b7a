//! `windlass launch artifact`.

use std::path::PathBuf;

use clap::Args;
use serde_json::{Value, json};
use windlass_types::{Problem, RunId};

use super::{LaunchArg, show::ask_status};
use crate::{
    commands::{artifact::Content, field},
    output::{Table, counted},
    session::{Report, Session},
};

#[derive(Args, Debug)]
pub(crate) struct ArtifactArgs {
    #[command(flatten)]
    run: LaunchArg,
    /// The artifact's name; without it, all are listed.
    #[arg(value_name = "NAME")]
    name: Option<String>,
    /// Write to this file instead of standard output.
    #[arg(long, short, value_name = "FILE", requires = "name")]
    out: Option<PathBuf>,
}

impl ArtifactArgs {
    pub(super) async fn run(self, session: &Session) -> Result<Report, Problem> {
        let run_id = self.run.find(session).await?;
        match &self.name {
            Some(name) => self.fetch(session, &run_id, name).await,
            None => list(session, &run_id).await,
        }
    }

    async fn fetch(
        &self,
        session: &Session,
        run_id: &RunId,
        name: &str,
    ) -> Result<Report, Problem> {
        let input = json!({ "run_id": run_id, "artifact_name": name });
        let answer = session.call("launch.get_artifact", input).await;
        let answer = answer.map_err(|problem| listed(problem, run_id))?.output;
        let artifact = answer.get("artifact").unwrap_or(&Value::Null);
        let content: String = field(artifact, "content")?;
        let content = Content::read(content, artifact.get("encoding").is_none())?;
        let command = format!("windlass launch artifact {run_id} {name}");
        let file = self.out.as_deref();
        content.deliver(session, name, file, ("out", &command))?;
        let size = counted(content.bytes.len(), "byte");
        Ok(Report::new(format!("{name}: {size}"), answer))
    }
}

/// A name that is not there sends its author to the list.
fn listed(problem: Problem, run_id: &RunId) -> Problem {
    problem.next(format!("windlass launch artifact {run_id}"))
}

async fn list(session: &Session, run_id: &RunId) -> Result<Report, Problem> {
    let (answer, status) = ask_status(session, run_id).await?;
    let printer = &session.printer;
    if status.artifacts.is_empty() {
        printer.notice(&format!("Run {run_id} has produced nothing yet."));
    } else {
        let mut table = Table::new(&["ARTIFACT", "SHA-256"]);
        for artifact in &status.artifacts {
            table.row([artifact.name.clone(), artifact.sha256.clone()]);
        }
        printer.table(&table);
        printer.hint(&format!("windlass launch artifact {run_id} NAME"));
    }
    let message = counted(status.artifacts.len(), "artifact");
    let artifacts = answer.pointer("/status/artifacts").cloned();
    let document = json!({ "run_id": run_id, "artifacts": artifacts });
    Ok(Report::new(message, document))
}
