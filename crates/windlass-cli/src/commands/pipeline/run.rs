//! `windlass pipeline run`: the whole of it as one durable job.

use std::path::{Path, PathBuf};

use clap::Args;
use serde_json::{Value, json};
use windlass_pipeline_design::{model::quality::Level, quality_markdown, verdict_name, works_line};
use windlass_secrets::Redactor;
use windlass_types::{Problem, RunId, code};

use super::{
    spec::{self, SpecArg},
    tree::{self, Written},
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
        let spec = self.spec.read()?;
        let stack = spec::stack(self.stack)?;
        if let Some(directory) = &self.out {
            tree::ready(directory, self.force)?;
        }
        let mut input = json!({
            "spec": spec,
            "stack_preference": stack,
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
        let (status, mut output) = follow(session, &job).await?;
        let message = conclude(&status)?;
        if let Some(directory) = &self.out {
            let input = json!({ "job_id": job, "artifact_type": "all" });
            let all = session.call("pipeline.get_artifact", input).await?.output;
            let made: Outputs = parse(&all)?;
            let redactor = &session.engine().redactor;
            let written = write_all(redactor, &made, directory, self.force)?;
            written.note(&mut output);
            for line in judgement(&made) {
                session.printer.notice(&line);
            }
            session
                .printer
                .notice(&format!("written: {}", written.message(directory)));
            if made.architecture.is_some() {
                session.printer.hint(&format!(
                    "review who may do what in {}",
                    directory.join("docs/architecture.md").display()
                ));
            }
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

/// The verdict on the last phase, what works, and how many findings there are.
fn judgement(made: &Outputs) -> Vec<String> {
    let Some((coverage, report)) = made.judged() else {
        return Vec::new();
    };
    let count = |level: Level| {
        let of_level = report.findings.iter().filter(|one| one.severity == level);
        of_level.count()
    };
    let findings = format!(
        "verdict {}; findings: {} high, {} medium, {} low (docs/quality.md)",
        verdict_name(report.verdict),
        count(Level::High),
        count(Level::Medium),
        count(Level::Low),
    );
    works_line(coverage).into_iter().chain([findings]).collect()
}

/// Writes everything a job has produced: the project, and its documents next to it.
pub(super) fn write_all(
    redactor: &Redactor,
    made: &Outputs,
    directory: &Path,
    force: bool,
) -> Result<Written, Problem> {
    let none = Files::default();
    let code = made.code.as_ref().unwrap_or(&none);
    let strategy = made.strategy.as_ref().map(|made| &made.strategy_summary);
    let architecture = made.architecture.as_ref();
    let architecture = architecture.map(|made| &made.architecture_markdown);
    let ux = made.ux.as_ref().map(|made| &made.ux_markdown);
    let quality = made.judged().map(|(coverage, report)| {
        let requirements = made.strategy.as_ref().map(|made| &made.requirements);
        quality_markdown(requirements, coverage, report)
    });
    let documents = [
        ("docs/strategy.md", strategy),
        ("docs/architecture.md", architecture),
        ("docs/ux.md", ux),
        ("docs/quality.md", quality.as_ref()),
    ];
    let documents = documents.into_iter().filter_map(|(path, content)| {
        let content = content.filter(|content| !content.is_empty())?;
        Some((path, content.as_str()))
    });
    tree::write(redactor, code.texts().chain(documents), directory, force)
}
