//! `windlass pipeline`: from a product spec to a project on disk (contract 001).
//!
//! One file per command. `spec` reads what is asked for, `tree` writes what was made, `view` is
//! what jobs answer.

mod artifact;
mod make;
mod run;
mod spec;
mod status;
mod tree;
mod view;
mod watch;

use clap::Subcommand;
use serde::de::DeserializeOwned;
use serde_json::Value;
use windlass_types::Problem;

use crate::{
    cli::Need,
    commands::parse,
    dispatch::Failure,
    flow::Call,
    session::{Report, Session},
};

#[derive(Debug, Subcommand)]
#[command(defer = true)]
pub(crate) enum PipelineCommand {
    /// Requirements from a spec.
    Strategize(make::StrategizeArgs),
    /// Data model, API and security from a spec.
    Architecture(make::ArchitectureArgs),
    /// Pages, flows and design tokens from a spec.
    Ux(make::UxArgs),
    /// A project that installs and builds, from a spec.
    Code(make::CodeArgs),
    /// Run all phases as one durable job.
    ///
    /// Follows the job until it ends; Ctrl-C ends the command, not the job. With `--out`, the
    /// project and its documents are written to a directory.
    Run(run::RunArgs),
    /// Show the status of a job.
    Status(status::StatusArgs),
    /// Print what a job has produced.
    Artifact(artifact::ArtifactArgs),
    /// Follow a job until it ends.
    Watch(watch::WatchArgs),
}

impl PipelineCommand {
    pub(crate) const fn need(&self) -> Need {
        match self {
            Self::Status(_) | Self::Artifact(_) => Need::Short,
            _ => Need::Long,
        }
    }

    pub(crate) async fn run(self, session: &Session) -> Result<Report, Failure> {
        let (operation, outcome) = match self {
            Self::Strategize(args) => ("pipeline.strategize", args.run(session).await),
            Self::Architecture(args) => ("pipeline.design_architecture", args.run(session).await),
            Self::Ux(args) => ("pipeline.design_ux", args.run(session).await),
            Self::Code(args) => ("pipeline.generate_code", args.run(session).await),
            Self::Run(args) => ("pipeline.full_pipeline", args.run(session).await),
            Self::Status(args) => ("pipeline.get_status", args.run(session).await),
            Self::Artifact(args) => ("pipeline.get_artifact", args.run(session).await),
            Self::Watch(args) => ("pipeline.get_status", args.run(session).await),
        };
        outcome.map_err(|problem| Failure {
            problem,
            contract: session.contract(operation),
            operation: operation.to_owned(),
            request_id: session.request_id.clone(),
            input: Value::Null,
        })
    }
}

/// Calls an operation that waits for a job of its own, which this command drives.
async fn make<T: DeserializeOwned>(
    session: &Session,
    operation: &str,
    input: Value,
) -> Result<(T, Value), Problem> {
    let call = Call {
        operation,
        input,
        waiting: "working on the spec",
        interrupted: "interrupted; the same command continues the job",
    };
    let output = call.answer(session).await?.output;
    Ok((parse(&output)?, output))
}
