//! What a killed process left half done is completed or undone by the next process.
//!
//! A journal whose roots are still locked belongs to a running transaction and is not
//! touched: the locks die with their process, the journal does not.

use std::{
    path::{Path, PathBuf},
    time::Instant,
};

use windlass_pack_model::fault::{self, is_absent};
use windlass_types::Problem;

use crate::state::{
    commit::{Way, apply},
    held_contents::HeldContents,
    journal::{self, Entry, Journal, is_undoing, undoing_name},
    observe::{Standing, standing},
    pack_state::PackState,
    probe::{FaultProbe, NoFaults, Stop},
    settle,
    undo::undo,
};

/// What became of an interrupted transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It held already; only tidying up was left.
    Settled,
    /// It was completed.
    Completed,
    /// It was undone.
    Undone,
}

/// An interrupted transaction that was found and dealt with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recovered {
    /// Its run.
    pub run_id: String,
    /// What became of it.
    pub outcome: Outcome,
    /// Its snapshot, if it holds.
    pub snapshot_id: Option<String>,
    /// What was left alone, for people.
    pub warnings: Vec<String>,
}

/// A transaction that has not ended: still running, or interrupted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pending {
    /// Its run.
    pub run_id: String,
    /// Its roots.
    pub roots: Vec<PathBuf>,
}

/// The result of checking one journal.
pub(crate) enum Attempt {
    /// Another process has dealt with it.
    Gone,
    /// Its owner is alive.
    Busy,
    /// It was dealt with.
    Done(Recovered),
}

/// Completes or undoes every interrupted transaction. Those that still run are left alone.
pub fn recover(state: &PackState) -> Result<Vec<Recovered>, Problem> {
    recover_with(state, &NoFaults)
}

/// [`recover`], with faults.
pub fn recover_with(state: &PackState, probe: &dyn FaultProbe) -> Result<Vec<Recovered>, Problem> {
    let mut recovered = Vec::new();
    for path in journal::list(state)? {
        if let Attempt::Done(run) = settle_one(state, &path, Instant::now(), probe)? {
            recovered.push(run);
        }
    }
    Ok(recovered)
}

/// The transactions that have not ended. Touches nothing; for commands that may not write.
pub fn pending(state: &PackState) -> Result<Vec<Pending>, Problem> {
    let mut pending = Vec::new();
    for path in journal::list(state)? {
        if let Some(journal) = Journal::read(&path)? {
            pending.push(Pending {
                run_id: journal.run_id,
                roots: journal.roots.into_iter().map(|root| root.root).collect(),
            });
        }
    }
    Ok(pending)
}

/// Deals with one journal, waiting for its roots until the deadline.
pub(crate) fn settle_one(
    state: &PackState,
    path: &Path,
    deadline: Instant,
    probe: &dyn FaultProbe,
) -> Result<Attempt, Problem> {
    let Some(journal) = Journal::read(path)? else {
        return Ok(Attempt::Gone);
    };
    let run_id = format!("recovery of {}", journal.run_id);
    let Some(_locks) = state.take_for_recovery(&journal.roots, &run_id, deadline)? else {
        return Ok(Attempt::Busy);
    };
    // Its owner may have ended, or begun to undo, before the locks were ours.
    let path = match std::fs::symlink_metadata(path) {
        Err(error) if is_absent(&error) => undoing_name(path),
        _ => path.to_owned(),
    };
    let Some(journal) = Journal::read(&path)? else {
        return Ok(Attempt::Gone);
    };
    let _blobs = state.lock_blobs(false)?;
    match settle_locked(state, &journal, &path, probe) {
        Ok(recovered) => Ok(Attempt::Done(recovered)),
        Err(Stop::Crashed) => Err(Stop::Crashed.into_problem()),
        Err(Stop::Failed(cause)) => Err(failed(&journal, &path, &cause)),
    }
}

fn settle_locked(
    state: &PackState,
    journal: &Journal,
    path: &Path,
    probe: &dyn FaultProbe,
) -> Result<Recovered, Stop> {
    let mut standings = Vec::with_capacity(journal.entries.len());
    let mut buffer = Vec::new();
    for entry in &journal.entries {
        standings.push(look(entry, &mut buffer)?);
    }
    let mut warnings = Vec::new();
    let mut outcome = decide(journal.is_committed(state), is_undoing(path), &standings);
    if outcome == Outcome::Completed {
        let pending: Vec<bool> = standings
            .iter()
            .map(|standing| *standing == Standing::Before)
            .collect();
        let contents = HeldContents::default();
        let way = Way::Resume { pending: &pending };
        match apply(state, journal, &contents, &way, probe) {
            Ok(()) => {}
            Err(Stop::Crashed) => return Err(Stop::Crashed),
            Err(Stop::Failed(_)) if journal.is_committed(state) => {}
            // What cannot be completed is undone.
            Err(Stop::Failed(problem)) => {
                warnings.push(format!("it could not be completed: {}", problem.message()));
                outcome = Outcome::Undone;
            }
        }
    }
    match outcome {
        Outcome::Settled | Outcome::Completed => settle::settle(state, journal, path, probe)?,
        Outcome::Undone => {
            warnings.extend(undo(state, journal, probe)?);
            settle::drop_journal(path, probe)?;
        }
    }
    let snapshot = journal.snapshot.as_ref();
    Ok(Recovered {
        run_id: journal.run_id.clone(),
        outcome,
        snapshot_id: snapshot
            .filter(|_| outcome != Outcome::Undone)
            .map(|snapshot| snapshot.id.clone()),
        warnings,
    })
}

fn look(entry: &Entry, buffer: &mut Vec<u8>) -> Result<Standing, Stop> {
    standing(entry, buffer).map_err(|error| fault::io("read", &entry.path, &error).into())
}

/// What to do with an interrupted transaction. If its snapshot is there it holds. If every
/// destination is as it was or as it should be, it is completed. Once another writer has edited
/// one of them, or it was reported as failed, it is undone.
fn decide(committed: bool, undoing: bool, standings: &[Standing]) -> Outcome {
    if committed {
        Outcome::Settled
    } else if undoing || standings.contains(&Standing::Foreign) {
        Outcome::Undone
    } else {
        Outcome::Completed
    }
}

fn failed(journal: &Journal, path: &Path, cause: &Problem) -> Problem {
    let problem = fault::unexpected(
        "recovery_failed",
        &["fix_permissions", "free_disk_space", "retry_command"],
        format!(
            "run {} was interrupted, and completing or undoing it failed: {}. The next command tries again",
            journal.run_id,
            cause.message()
        ),
    )
    .with("run_id", journal.run_id.clone())
    .with("journal", path.display().to_string())
    .with("cause", cause.code().name);
    match cause.details().get("path") {
        Some(at) => problem.with("path", at.clone()),
        None => problem,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_to_do_with_an_interrupted_run() {
        use Standing::{After, Before, Foreign};
        for (committed, undoing, standings, outcome) in [
            (false, false, &[Before, Before][..], Outcome::Completed),
            (false, false, &[After, Before], Outcome::Completed),
            (false, false, &[After, Foreign], Outcome::Undone),
            (false, true, &[After, Before], Outcome::Undone),
            (true, false, &[After, Foreign], Outcome::Settled),
            (true, false, &[], Outcome::Settled),
        ] {
            assert_eq!(decide(committed, undoing, standings), outcome);
        }
    }
}
