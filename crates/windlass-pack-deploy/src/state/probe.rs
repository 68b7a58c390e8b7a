//! Places where a transaction can be made to fail or to stop, for proofs that neither hurts.
//!
//! Production passes [`NoFaults`]. A test counts the places of a transaction and then fails or
//! stops it at each.

use std::{io, path::Path};

use windlass_pack_model::fault;
use windlass_types::Problem;

/// Something about to be done to the disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Step {
    /// Write a blob under a temporary name, or into a container.
    WriteBlob,
    /// Write the index of a container and flush it.
    FlushContainer,
    /// Give a blob or a container its name.
    PublishBlob,
    /// Write the journal under a temporary name and flush it.
    WriteJournal,
    /// Give the journal its name.
    PublishJournal,
    /// Create a directory for a destination.
    CreateDirectory,
    /// Create a staged file.
    CreateTemp,
    /// Write into a staged file.
    WriteTemp,
    /// Move a staged file to its destination.
    Replace,
    /// Remove a destination.
    Remove,
    /// Write the snapshot under a temporary name and flush it.
    WriteSnapshot,
    /// Give the snapshot its name: the moment the transaction holds.
    PublishSnapshot,
    /// Remove a directory that became empty.
    RemoveDirectory,
    /// Write down known roots and created directories.
    WriteRemembered,
    /// Remove a temporary file that is not needed any more.
    DropTemp,
    /// Remove the journal.
    DropJournal,
}

/// What a probe wants to happen instead of the step.
#[derive(Debug)]
pub enum Injected {
    /// The step fails with this error.
    Fail(io::Error),
    /// The process is as good as dead: nothing more is done, not even undoing.
    Crash,
}

/// Asked before each step.
pub trait FaultProbe {
    /// Lets the step happen, or not.
    fn at(&self, step: Step, path: &Path) -> Result<(), Injected>;
}

/// Lets every step happen.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoFaults;

impl FaultProbe for NoFaults {
    fn at(&self, _: Step, _: &Path) -> Result<(), Injected> {
        Ok(())
    }
}

/// Why work on the disk stopped.
#[derive(Debug)]
pub(crate) enum Stop {
    /// It failed; what was done must be undone.
    Failed(Problem),
    /// A probe said so; nothing more may be done.
    Crashed,
}

impl From<Problem> for Stop {
    fn from(problem: Problem) -> Self {
        Self::Failed(problem)
    }
}

impl Stop {
    /// As a problem to report.
    pub(crate) fn into_problem(self) -> Problem {
        match self {
            Self::Failed(problem) => problem,
            Self::Crashed => fault::unexpected("internal", &[], "stopped by a fault probe"),
        }
    }
}

/// Asks the probe and does the step, in one place, so that no step goes unasked.
pub(crate) fn step<T>(
    probe: &dyn FaultProbe,
    step: Step,
    action: &str,
    path: &Path,
    act: impl FnOnce() -> io::Result<T>,
) -> Result<T, Stop> {
    let done = match probe.at(step, path) {
        Ok(()) => act(),
        Err(Injected::Fail(error)) => Err(error),
        Err(Injected::Crash) => return Err(Stop::Crashed),
    };
    done.map_err(|error| Stop::Failed(fault::io(action, path, &error)))
}
