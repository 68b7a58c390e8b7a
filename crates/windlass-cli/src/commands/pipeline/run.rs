//! `windlass pipeline run`: the whole of it as one durable job.

use std::path::{Path, PathBuf};

use clap::Args;
use serde_json::{Value, json};
use windlass_types::{Problem, RunId};

use super::{spec::SpecArg, text, tree};
use crate::{
    flow::{Channel, Driving, Follow},
    session::{Report, Session},
};

#[derive(Args, Debug)]
pub(crate) struct RunArgs {
    #[command(flatten)]
    spec: SpecArg,
    /// Only these phases: strategy, architecture, ux, code.
    #[arg(long, value_name = "PHASES", value_delimiter = ',')]
    phases: Vec<String>,
    /// The preferred stack: nextjs-react or vite-react.
    #[arg(long, value_name = "STACK")]
    stack: Option<String>,
    /// minimal, corporate, playful, elegant, bold, or words of yours.
    #[arg(long, value_name = "STYLE")]
    style: Option<String>,
    /// Where the end of the job is posted, signed.
    #[arg(long, value_name = "URL")]
    webhook: Option<String>,
    /// A key: repeating the command with it gives the same job.
    #[arg(long, value_name = "KEY")]
    key: Option<String>,
    /// The directory to write project and documents to.
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Write over what is in the directory.
    #[arg(long, requires = "out")]
    force: bool,
    /// Return once the job is on record.
    #[arg(long, conflicts_with = "out")]
    no_wait: bool,
}

impl RunArgs {
    pub(super) async fn run(self, session: &Session) -> Result<Report, Problem> {
        let mut input = json!({
            "spec": self.spec.read()?,
            "stack_preference": self.stack,
            "style_preference": self.style,
            "webhook_url": self.webhook,
            "idempotency_key": self.key,
        });
        if !self.phases.is_empty() {
            input["phases"] = json!(self.phases);
        }
        let started = session.call("pipeline.full_pipeline", input).await?;
        let job = text(&started.output, "job_id").to_owned();
        if self.no_wait {
            session.printer.data(&job);
            session
                .printer
                .hint(&format!("windlass pipeline watch {job}"));
            return Ok(Report::new(
                format!("job {job} is on record"),
                started.output,
            ));
        }
        let status = accompany(session, &job).await?;
        let message = conclude(&status)?;
        if let Some(directory) = &self.out {
            write_all(session, &job, directory, self.force).await?;
            session
                .printer
                .notice(&format!("written to {}", directory.display()));
        } else {
            session
                .printer
                .hint(&format!("windlass pipeline artifact {job} all --out DIR"));
        }
        Ok(Report::new(message, status))
    }
}

/// Follows a job to its end and gives its status.
pub(super) async fn accompany(session: &Session, job: &str) -> Result<Value, Problem> {
    let job_id: RunId = job
        .parse()
        .map_err(|_| Problem::invalid("job_id", "format", format!("{job:?} is no job id")))?;
    let mut driving = Driving::new(session.engine());
    let followed = Follow {
        run_id: &job_id,
        after_seq: 0,
        beside: None,
        channel: Channel::Notice,
    }
    .run_with(session, &mut driving)
    .await;
    driving.stop().await;
    followed?;
    let status = session
        .call("pipeline.get_status", json!({ "job_id": job }))
        .await?;
    Ok(status.output)
}

/// A sentence about a job that has ended; its failure, if it failed.
pub(super) fn conclude(status: &Value) -> Result<String, Problem> {
    let job = text(status, "job_id");
    match text(status, "status") {
        "failed" | "timeout" => {
            let error = status.get("error").cloned().unwrap_or_default();
            let code = if text(status, "status") == "timeout" {
                &windlass_types::code::TIMEOUT
            } else {
                &windlass_types::code::STEP_FAILED
            };
            Err(Problem::new(code, text(&error, "message"))
                .with("job_id", job)
                .with("details", error.get("details").cloned().unwrap_or_default())
                .next(format!("windlass pipeline status {job}")))
        }
        state => Ok(format!("job {job} is {state}")),
    }
}

/// Writes everything a job has made: the project, and its documents beside it.
pub(super) async fn write_all(
    session: &Session,
    job: &str,
    directory: &Path,
    force: bool,
) -> Result<usize, Problem> {
    let input = json!({ "job_id": job, "artifact_type": "all" });
    let all = session.call("pipeline.get_artifact", input).await?.output;
    let none = Value::Null;
    let of = |phase: &str| all.get(phase).unwrap_or(&none);
    let mut written = tree::write(of("code"), directory, force)?;
    let documents = [
        ("docs/strategy.md", text(of("strategy"), "strategy_summary")),
        (
            "docs/architecture.md",
            text(of("architecture"), "architecture_markdown"),
        ),
        ("docs/ux.md", text(of("ux"), "ux_markdown")),
    ];
    for (path, content) in documents {
        if !content.is_empty() {
            tree::write_one(directory, path, content)?;
            written += 1;
        }
    }
    Ok(written)
}
