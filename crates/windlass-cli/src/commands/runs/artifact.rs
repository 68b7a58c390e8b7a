//! `windlass runs artifact`.

use std::path::PathBuf;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use clap::Args;
use serde_json::json;
use windlass_types::Problem;

use crate::{
    commands::field,
    flow::{RunArg, find_run},
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
        let is_text = encoding == "utf-8";
        let bytes = if is_text {
            content.into_bytes()
        } else {
            STANDARD
                .decode(content)
                .map_err(|error| Problem::internal("artifact content", error))?
        };
        let printer = &session.printer;
        match &self.output {
            Some(path) => {
                save(path, &bytes)?;
                printer.notice(&format!(
                    "{} bytes written to {}",
                    bytes.len(),
                    path.display()
                ));
            }
            None if printer.is_human() => {
                if !is_text && printer.data_is_seen() {
                    return Err(Problem::invalid(
                        "output",
                        "text",
                        format!("{:?} is not text", self.name),
                    )
                    .next(format!(
                        "windlass runs artifact {run_id} {} --output FILE",
                        self.name
                    )));
                }
                printer.raw_bytes(&bytes);
            }
            None => {}
        }
        Ok(Report::new(
            format!("{}: {} bytes", self.name, bytes.len()),
            answer.output,
        ))
    }
}

/// Writes a file a user asked for.
pub(super) fn save(path: &std::path::Path, bytes: &[u8]) -> Result<(), Problem> {
    fs_err::write(path, bytes).map_err(|error| {
        Problem::invalid(
            "output",
            "writable",
            format!("the file cannot be written: {error}"),
        )
    })
}
