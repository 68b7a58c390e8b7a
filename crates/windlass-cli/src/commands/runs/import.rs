//! `windlass runs import`.

use clap::Args;
use serde_json::{Value, json};
use windlass_engine::run::RunView;
use windlass_types::{Problem, code};

use crate::{
    commands::{field, ops::read_stdin},
    session::{Report, Session},
};

#[derive(Args, Debug)]
pub(crate) struct ImportArgs {
    /// The exported file, or - for standard input.
    #[arg(value_name = "FILE")]
    file: String,
}

impl ImportArgs {
    pub(crate) async fn run(self, session: &Session) -> Result<Report, Problem> {
        let text = if self.file == "-" {
            read_stdin()?
        } else {
            fs_err::read_to_string(&self.file).map_err(|error| {
                Problem::new(
                    &code::NOT_FOUND,
                    format!("the file cannot be read: {error}"),
                )
            })?
        };
        let export: Value = serde_json::from_str(&text).map_err(|error| {
            Problem::invalid(
                "file",
                "json",
                format!("{} is not an exported run: {error}", self.file),
            )
        })?;
        let answer = session
            .call("runs.import", json!({ "export": export }))
            .await?;
        let run: RunView = field(&answer.output, "run")?;
        let message = format!("run {} imported ({})", run.run_id, run.state.as_str());
        session.printer.data(&message);
        session
            .printer
            .hint(&format!("windlass runs verify {}", run.run_id));
        Ok(Report::new(message, answer.output))
    }
}
