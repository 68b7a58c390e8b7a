//! `windlass runs artifact`.

use std::path::PathBuf;

use clap::Args;
use serde_json::json;
use windlass_types::Problem;

use crate::{
    commands::{artifact::Content, field},
    flow::{RunArg, find_run},
    output::counted,
    session::{Report, Session},
};

#[derive(Args, Debug)]
pub(crate) struct ArtifactArgs {
    #[command(flatten)]
    run: RunArg,
    /// The artifact's name.
    #[arg(value_name = "NAME")]
    name: String,
    /// Write to this file instead of standard output.
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
}

impl ArtifactArgs {
    pub(crate) async fn run(self, session: &Session) -> Result<Report, Problem> {
        let run_id = find_run(session, &self.run.run).await?;
        let input = json!({ "run_id": run_id, "name": self.name });
        let answer = session.call("runs.artifact", input).await?;
        let encoding: String = field(&answer.output, "encoding")?;
        let content: String = field(&answer.output, "content")?;
        let content = Content::read(content, encoding == "utf-8")?;
        let command = format!("windlass runs artifact {run_id} {}", self.name);
        let file = self.output.as_deref();
        content.deliver(session, &self.name, file, ("output", &command))?;
        let size = counted(content.bytes.len(), "byte");
        Ok(Report::new(format!("{}: {size}", self.name), answer.output))
    }
}
