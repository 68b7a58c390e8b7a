//! `windlass pipeline run`: the whole of it as one durable job.

use std::path::{Path, PathBuf};

use clap::Args;
use serde_json::{Value, json};
use windlass_types::{Problem, RunId, code};

use super::{
    spec::SpecArg,
    tree,
    view::{Files, JobError, JobStatus, Outputs},
};
use crate::{
    commands::{field, parse},
    flow::{Follow, approval_wanted, says_it_waits},
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
    /// minimal, corporate, playful, elegant, bold, or your own words.
    #[arg(long, value_name = "STYLE")]
    style: Option<String>,
    /// Where the result of the job is posted, signed.
    #[arg(long, value_name = "URL")]
    webhook: Option<String>,
    /// A key: repeating the command with it returns the same job.
    #[arg(long, value_name = "KEY")]
    key: Option<String>,
    /// The directory to write project and documents to.
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Overwrite what is in the directory.
    #[arg(long, requires = "out")]
    force: bool,
    /// Return once the job is recorded.
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
        let job: String = field(&started.output, "job_id")?;
        if self.no_wait {
            session.printer.data(&job);
            if !says_it_waits(session, &run_id(&job)?).await? {
                session
                    .printer
                    .hint(&format!("windlass pipeline watch {job}"));
            }
            return Ok(Report::new(
                format!("job {job} is recorded"),
                started.output,
            ));
        }
        let (status, output) = follow(session, &job).await?;
        let message = conclude(&status)?;
        if let Some(directory) = &self.out {
            let input = json!({ "job_id": job, "artifact_type": "all" });
            let all = session.call("pipeline.get_artifact", input).await?.output;
            write_all(&parse(&all)?, directory, self.force)?;
            session
                .printer
                .notice(&format!("written to {}", directory.display()));
        } else {
            session
                .printer
                .hint(&format!("windlass pipeline artifact {job} all --out DIR"));
        }
        Ok(Report::new(message, output))
    }
}

/// Follows a job to its end; its status, also as it was answered. A job that waits for an
/// approval has not ended, and nothing more happens until a person answers.
pub(super) async fn follow(session: &Session, job: &str) -> Result<(JobStatus, Value), Problem> {
    let job_id = run_id(job)?;
    Follow::new(&job_id).run(session).await?;
    if let Some(waits) = approval_wanted(session, &job_id).await? {
        return Err(waits.with("job_id", job));
    }
    ask_status(session, job).await
}

/// The run of a job.
pub(super) fn run_id(job: &str) -> Result<RunId, Problem> {
    job.parse()
        .map_err(|_| Problem::invalid("job_id", "format", format!("{job:?} is not a job id")))
}

/// Where a job stands; the status, also as it was answered.
pub(super) async fn ask_status(
    session: &Session,
    job: &str,
) -> Result<(JobStatus, Value), Problem> {
    let input = json!({ "job_id": job });
    let output = session.call("pipeline.get_status", input).await?.output;
    Ok((parse(&output)?, output))
}

/// A sentence about a job that has ended; its failure, if it failed.
pub(super) fn conclude(job: &JobStatus) -> Result<String, Problem> {
    let JobStatus { job_id, status, .. } = job;
    let code = match status.as_str() {
        "failed" => &code::STEP_FAILED,
        "timeout" => &code::TIMEOUT,
        _ => return Ok(sentence(job_id, status)),
    };
    let JobError { message, details } = job.error.clone().unwrap_or_default();
    Err(Problem::new(code, message)
        .with("job_id", job_id.as_str())
        .with("details", details)
        .next(format!("windlass pipeline status {job_id}")))
}

/// Where a job stands, as a sentence.
pub(super) fn sentence(job: &str, status: &str) -> String {
    match status {
        "completed" | "failed" => format!("job {job} has {status}"),
        "timeout" => format!("job {job} has timed out"),
        _ => format!("job {job} is {status}"),
    }
}

/// Writes everything a job has produced: the project, and its documents next to it. Returns how
/// many files.
pub(super) fn write_all(made: &Outputs, directory: &Path, force: bool) -> Result<usize, Problem> {
    let none = Files::default();
    let code = made.code.as_ref().unwrap_or(&none);
    let strategy = made.strategy.as_ref().map(|made| &made.strategy_summary);
    let architecture = made.architecture.as_ref();
    let architecture = architecture.map(|made| &made.architecture_markdown);
    let ux = made.ux.as_ref().map(|made| &made.ux_markdown);
    let documents = [
        ("docs/strategy.md", strategy),
        ("docs/architecture.md", architecture),
        ("docs/ux.md", ux),
    ];
    let documents = documents.into_iter().filter_map(|(path, content)| {
        let content = content.filter(|content| !content.is_empty())?;
        Some((path, content.as_str()))
    });
    tree::write(code.texts().chain(documents), directory, force)
}
