//! `windlass pipeline artifact`.

use std::path::PathBuf;

use clap::Args;
use serde_json::json;
use windlass_types::Problem;

use super::{run::write_all, tree, view::Files};
use crate::{
    commands::parse,
    output::Mode,
    session::{Report, Session},
};

#[derive(Args, Debug)]
pub(crate) struct ArtifactArgs {
    /// The job.
    #[arg(value_name = "JOB")]
    job: String,
    /// strategy, architecture, ux, code or all.
    #[arg(value_name = "TYPE")]
    artifact_type: String,
    /// Write `code` or `all` to this directory instead of printing JSON.
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Overwrite what is in the directory.
    #[arg(long, requires = "out")]
    force: bool,
}

impl ArtifactArgs {
    pub(super) async fn run(self, session: &Session) -> Result<Report, Problem> {
        if let Some(directory) = &self.out {
            if !matches!(self.artifact_type.as_str(), "code" | "all") {
                return Err(Problem::invalid(
                    "out",
                    "artifact_type",
                    format!(
                        "the {} artifact has no files; leave out --out, or write `code` or `all`",
                        self.artifact_type
                    ),
                ));
            }
            tree::ready(directory, self.force)?;
        }
        let input = json!({ "job_id": self.job, "artifact_type": self.artifact_type });
        let mut output = session.call("pipeline.get_artifact", input).await?.output;
        let redactor = &session.engine().redactor;
        let message = match (&self.out, self.artifact_type.as_str()) {
            (Some(directory), "all") => {
                let written = write_all(redactor, &parse(&output)?, directory, self.force)?;
                written.note(&mut output);
                written.message(directory)
            }
            (Some(directory), _) => {
                let made: Files = parse(&output)?;
                let written = tree::write(redactor, made.texts(), directory, self.force)?;
                written.note(&mut output);
                written.message(directory)
            }
            (None, name) => {
                if session.printer.mode() == Mode::Human {
                    session.printer.json(&output);
                }
                format!("the {name} artifact of {}", self.job)
            }
        };
        session.printer.notice(&message);
        Ok(Report::new(message, output))
    }
}
