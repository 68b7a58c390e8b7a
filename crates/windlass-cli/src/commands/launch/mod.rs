//! `windlass launch`: products on sites, from two repositories to a pull request (contract 004).
//!
//! One file per command. `live` follows a run, `event_lines` describes its events, `show` prints
//! where it stands, `advice` says what to do about a failure.

mod advice;
mod artifact;
mod cancel;
mod config;
mod event_lines;
mod fix;
mod list;
mod live;
mod open_pr;
mod resume;
mod show;
mod start;
mod status;
mod validate;
mod view;
mod watch;

use clap::{Args, Subcommand};
use serde_json::{Value, json};
use windlass_engine::contract::EnvelopeContext;
use windlass_types::{Problem, RunId, code};

use crate::{
    cli::Need,
    dispatch::Failure,
    exit,
    flow::find_run,
    session::{Report, Session},
};

const LATEST: &str = "latest";

/// What exit codes mean for these commands.
pub(crate) const EXIT_NOTES: &[(u8, &str)] = &[(
    exit::UNSOUND,
    "Of `windlass launch`: the gates ran and found open issues. The run waits for a decision.",
)];

#[derive(Debug, Subcommand)]
#[command(defer = true)]
pub(crate) enum LaunchCommand {
    /// Start a launch and follow it until it waits or ends.
    ///
    /// Reads commits, never working files: what is not committed is not part of the launch. The
    /// run reads both repositories, plans and writes pages, and runs every gate on them. It then
    /// waits: for `windlass launch fix` or `resume` if a gate found something, else for
    /// `windlass launch open-pr`. Ctrl-C ends the command, not the run.
    Start(Box<start::StartArgs>),
    /// Show a launch: state, sections, open issues, artifacts, what to do next.
    Status(status::StatusArgs),
    /// List the artifacts of a launch, or fetch one.
    Artifact(artifact::ArtifactArgs),
    /// Run every gate again.
    Validate(validate::ValidateArgs),
    /// Fix the next issue and run every gate again.
    Fix(fix::FixArgs),
    /// Continue a launch: after an interruption, or until nothing is left to fix.
    Resume(resume::ResumeArgs),
    /// Stop a launch, wherever it is.
    Cancel(cancel::CancelArgs),
    /// Commit the pages on a new branch and open the pull request.
    OpenPr(open_pr::OpenPrArgs),
    /// List launches, newest first.
    #[command(visible_alias = "ls")]
    List(list::ListArgs),
    /// Follow a launch until it waits or ends.
    Watch(watch::WatchArgs),
}

impl LaunchCommand {
    pub(crate) const fn need(&self) -> Need {
        match self {
            Self::Status(_) | Self::Artifact(_) | Self::List(_) => Need::Short,
            _ => Need::Long,
        }
    }

    pub(crate) async fn run(self, session: &Session) -> Result<Report, Failure> {
        let (operation, outcome) = match self {
            Self::Start(args) => ("launch.start_run", args.run(session).await),
            Self::Status(args) => ("launch.get_status", args.run(session).await),
            Self::Artifact(args) => ("launch.get_artifact", args.run(session).await),
            Self::Validate(args) => ("launch.validate", args.run(session).await),
            Self::Fix(args) => ("launch.fix_next", args.run(session).await),
            Self::Resume(args) => ("launch.resume", args.run(session).await),
            Self::Cancel(args) => ("launch.cancel", args.run(session).await),
            Self::OpenPr(args) => ("launch.open_pr", args.run(session).await),
            Self::List(args) => ("launch.list_runs", args.run(session).await),
            Self::Watch(args) => ("launch.get_status", args.run(session).await),
        };
        match outcome {
            Ok(report) => Ok(Report {
                data: enveloped(operation, session, report.data),
                ..report
            }),
            Err(problem) => {
                let run_id = problem.details().get("run_id").and_then(Value::as_str);
                let run_id = run_id.and_then(|id| id.parse::<RunId>().ok());
                Err(Failure {
                    problem: advice::advised(problem, run_id.as_ref()),
                    contract: session.contract(operation),
                    operation: operation.to_owned(),
                    request_id: String::new(),
                    input: Value::Null,
                })
            }
        }
    }
}

/// An answer as contract 004 writes it.
fn enveloped(operation: &str, session: &Session, output: Value) -> Value {
    let context = EnvelopeContext {
        operation,
        request_id: &session.request_id,
        input: &Value::Null,
    };
    session.contract(operation).success(context, output)
}

// A launch on the command line.
#[derive(Args, Clone, Debug)]
struct LaunchArg {
    /// The launch: its run id, the beginning of it, or `latest`.
    #[arg(value_name = "RUN")]
    run: String,
}

impl LaunchArg {
    /// The run that is meant.
    async fn find(&self, session: &Session) -> Result<RunId, Problem> {
        if self.run != LATEST {
            return match find_run(session, &self.run).await {
                Err(problem) if problem.code() == &code::RUN_NOT_FOUND => {
                    Err(none_called(&self.run))
                }
                found => found,
            };
        }
        let answer = session
            .call("launch.list_runs", json!({ "limit": 1 }))
            .await?;
        let newest = answer.output.pointer("/runs/0/run_id");
        newest
            .and_then(Value::as_str)
            .and_then(|id| id.parse().ok())
            .ok_or_else(|| {
                Problem::new(&code::RUN_NOT_FOUND, "there are no launches yet")
                    .next("windlass launch start --help")
            })
    }
}

fn none_called(text: &str) -> Problem {
    Problem::new(
        &code::RUN_NOT_FOUND,
        format!("no launch is called {text:?} or starts with it"),
    )
    .next("windlass launch list")
}

#[cfg(test)]
#[path = "launch_tests.rs"]
mod tests;
