//! `windlass runs export`.

use std::path::PathBuf;

use clap::Args;
use serde_json::json;
use windlass_types::Problem;

use super::artifact::save;
use crate::{
    flow::{RunArg, find_run},
    session::{Report, Session},
};

#[derive(Args, Debug)]
pub(crate) struct ExportArgs {
    #[command(flatten)]
    run: RunArg,
    /// Write to this file instead of standard output.
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
}

impl ExportArgs {
    pub(crate) async fn run(self, session: &Session) -> Result<Report, Problem> {
        let run_id = find_run(session, &self.run.run).await?;
        let answer = session
            .call("runs.export", json!({ "run_id": run_id }))
            .await?;
        let text = format!("{:#}\n", answer.output);
        match &self.output {
            Some(path) => {
                save(path, text.as_bytes())?;
                session
                    .printer
                    .notice(&format!("run {run_id} written to {}", path.display()));
                session
                    .printer
                    .hint(&format!("windlass runs import {}", path.display()));
                let written = json!({ "run_id": run_id, "file": path });
                Ok(Report::new(
                    format!("run {run_id} written to {}", path.display()),
                    written,
                ))
            }
            None => {
                if session.printer.is_human() {
                    session.printer.raw(&text);
                }
                Ok(Report::new(format!("run {run_id} exported"), answer.output))
            }
        }
    }
}
