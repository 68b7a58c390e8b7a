//! `windlass runs`: watching, steering and examining runs.

mod approve;
mod artifact;
mod artifacts;
mod cancel;
mod export;
mod import;
mod list;
mod reject;
mod resume;
mod rollback;
mod show;
mod steps;
mod verify;
mod watch;

use clap::Subcommand;
use windlass_types::{Problem, RunState};

use crate::{
    cli::Need,
    output::Tone,
    session::{Report, Session},
};

#[derive(Debug, Subcommand)]
#[command(defer = true)]
pub(crate) enum RunsCommand {
    /// List runs, newest first.
    #[command(visible_alias = "ls")]
    List(list::ListArgs),
    /// Show one run: state, steps, artifacts, what to do next.
    Show(show::ShowArgs),
    /// Follow a run until it ends or waits for a person.
    Watch(watch::WatchArgs),
    /// Ask a run to stop and undo what it did.
    Cancel(cancel::CancelArgs),
    /// Approve what a run waits for.
    Approve(approve::ApproveArgs),
    /// Reject what a run waits for.
    Reject(reject::RejectArgs),
    /// Resume a run that a crash or a hold has stopped.
    Resume(resume::ResumeArgs),
    /// Check the hash chain of a run's journal.
    Verify(verify::VerifyArgs),
    /// List the artifacts of a run.
    Artifacts(artifacts::ArtifactsArgs),
    /// Fetch one artifact.
    Artifact(artifact::ArtifactArgs),
    /// Write a run, journal and artifacts, as one file.
    Export(export::ExportArgs),
    /// Import a run that was exported elsewhere.
    Import(import::ImportArgs),
    /// Undo the effects of a completed run.
    Rollback(rollback::RollbackArgs),
}

impl RunsCommand {
    pub(crate) const fn need(&self) -> Need {
        match self {
            Self::Watch(_)
            | Self::Cancel(_)
            | Self::Approve(_)
            | Self::Reject(_)
            | Self::Resume(_)
            | Self::Rollback(_) => Need::Long,
            _ => Need::Short,
        }
    }

    pub(crate) async fn run(self, session: &Session) -> Result<Report, Problem> {
        match self {
            Self::List(args) => args.run(session).await,
            Self::Show(args) => args.run(session).await,
            Self::Watch(args) => args.run(session).await,
            Self::Cancel(args) => args.run(session).await,
            Self::Approve(args) => args.run(session).await,
            Self::Reject(args) => args.run(session).await,
            Self::Resume(args) => args.run(session).await,
            Self::Verify(args) => args.run(session).await,
            Self::Artifacts(args) => args.run(session).await,
            Self::Artifact(args) => args.run(session).await,
            Self::Export(args) => args.run(session).await,
            Self::Import(args) => args.run(session).await,
            Self::Rollback(args) => args.run(session).await,
        }
    }
}

const fn state_tone(state: RunState) -> Tone {
    match state {
        RunState::Completed => Tone::Good,
        RunState::Failed | RunState::Held => Tone::Bad,
        RunState::Waiting | RunState::Unwinding => Tone::Warn,
        RunState::Queued | RunState::Running => Tone::Active,
        RunState::Cancelled | RunState::RolledBack => Tone::Dim,
    }
}
