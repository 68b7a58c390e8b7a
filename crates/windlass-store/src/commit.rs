//! A commit before it is written: read once, so that what is stored can be read back, and
//! its conditions, checked inside the transaction.

use rusqlite::Connection;
use windlass_ports::{Commit, CommitError, Counted, Expect, LeaseUse, Quota, StoreError};
use windlass_types::{
    Body, NewEvent, RunId, RunState,
    journal::{OnHeld, RunCreated},
};

use crate::{
    error::{Failure, Result},
    index::{self, holds, runs, tokens},
    journal::Journal,
};

/// A commit whose events were found readable, outside the writer's thread.
pub(crate) struct PreparedCommit {
    pub(crate) writes: Vec<PreparedWrite>,
    pub(crate) lease: Option<LeaseUse>,
    /// About how much will be written.
    pub(crate) bytes: usize,
}

/// Events for one journal, with the bodies of those that something is derived from.
pub(crate) struct PreparedWrite {
    pub(crate) run_id: RunId,
    pub(crate) expect: Expect,
    pub(crate) events: Vec<NewEvent>,
    pub(crate) bodies: Vec<Option<Body>>,
}

impl PreparedCommit {
    pub(crate) fn new(commit: Commit) -> Result<Self, StoreError> {
        let mut bytes = 0;
        let mut writes = Vec::with_capacity(commit.writes.len());
        for write in commit.writes {
            let mut bodies = Vec::with_capacity(write.events.len());
            for event in &write.events {
                let body = match event.event_type.as_str() {
                    // Hundreds of calls in one event, written by one place, read by nobody here.
                    AUDIT_READS => None,
                    _ => decode(&write.run_id, event)?,
                };
                bytes += event.payload.as_str().len() + EVENT_OVERHEAD;
                bodies.push(body.filter(index::is_indexed));
            }
            writes.push(PreparedWrite {
                run_id: write.run_id,
                expect: write.expect,
                events: write.events,
                bodies,
            });
        }
        Ok(Self {
            writes,
            lease: commit.lease,
            bytes,
        })
    }
}

fn decode(run_id: &RunId, event: &NewEvent) -> Result<Option<Body>, StoreError> {
    Body::decode(&event.event_type, &event.payload).map_err(|error| {
        StoreError::Io(format!(
            "event {} for {run_id} is refused because it could not be read back: {error}",
            event.event_type
        ))
    })
}

const AUDIT_READS: &str = "audit.reads";

/// What an event takes besides its payload: ids, hashes, index entries.
const EVENT_OVERHEAD: usize = 200;

/// What a journal is before a commit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Standing {
    /// It does not exist.
    Absent,
    /// It exists and is no run's.
    System,
    /// It is a run's, in this state.
    Run(RunState),
}

impl Standing {
    fn state(self) -> Option<RunState> {
        match self {
            Self::Run(state) => Some(state),
            Self::Absent | Self::System => None,
        }
    }
}

/// Whether the journal looks as expected and the events may begin or continue it.
pub(crate) fn check_standing(
    run_id: &RunId,
    expect: &Expect,
    bodies: &[Option<Body>],
    standing: Standing,
    last_seq: u64,
) -> Result<(), CommitError> {
    let expected = match expect {
        Expect::Any => true,
        Expect::New | Expect::NewWithin(_) => standing == Standing::Absent,
        Expect::State(states) => standing
            .state()
            .is_some_and(|state| states.contains(&state)),
        Expect::At(seq) => standing != Standing::Absent && *seq == last_seq,
    };
    // A run begins with `run.created`, once: anywhere else the event would contradict the fold.
    let is_creation = |body: &Option<Body>| matches!(body, Some(Body::RunCreated(_)));
    let misplaced = bodies.iter().skip(1).any(is_creation)
        || (standing != Standing::Absent && bodies.first().is_some_and(is_creation));
    if expected && !misplaced {
        Ok(())
    } else {
        Err(CommitError::Unexpected {
            run_id: run_id.clone(),
            state: standing.state(),
        })
    }
}

/// Whether what a run holds stands against a rollback of it: an ended run has it no more.
pub(crate) fn check_reopening(
    connection: &Connection,
    journal: &Journal,
    bodies: &[Option<Body>],
    standing: Standing,
) -> Result<(), CommitError> {
    let rolls_back = |body: &Option<Body>| matches!(body, Some(Body::SignalReceived(signal)) if signal.signal == "rollback");
    let has_ended = matches!(standing, Standing::Run(state) if state.is_final());
    if !has_ended || !bodies.iter().any(rolls_back) {
        return Ok(());
    }
    let names = runs::names_held(connection, journal).map_err(store)?;
    refuse_held(connection, &names, Some(journal.id))
}

fn refuse_held(
    connection: &Connection,
    names: &[String],
    journal: Option<i64>,
) -> Result<(), CommitError> {
    match holds::obstacle(connection, names, journal).map_err(store)? {
        Some((name, run_id, state)) => Err(CommitError::Held {
            name,
            run_id,
            state,
        }),
        None => Ok(()),
    }
}

/// Tokens, keys and names that runs of one commit claim, so that two of them cannot claim the
/// same.
#[derive(Default)]
pub(crate) struct Claims<'a> {
    made: Vec<(&'a RunId, &'a RunCreated)>,
    /// Whether the runs happened elsewhere, where they held what they name.
    imported: bool,
}

impl<'a> Claims<'a> {
    pub(crate) fn imported() -> Self {
        Self {
            imported: true,
            ..Self::default()
        }
    }

    /// Claims the idempotency key, the confirm token and the room of the run that `bodies`
    /// create. The key first: a caller who repeats a whole call gets the run that the first one
    /// started.
    pub(crate) fn claim(
        &mut self,
        connection: &Connection,
        run_id: &'a RunId,
        expect: &Expect,
        bodies: &'a [Option<Body>],
    ) -> Result<(), CommitError> {
        let Some(Some(Body::RunCreated(created))) = bodies.first() else {
            return Ok(());
        };
        let claimed = created.idempotency_key.as_ref();
        if let Some(key) = claimed.filter(|_| !self.imported) {
            let principal = created.principal.id();
            let within = self.made.iter().find(|(_, other)| {
                other.idempotency_key.as_ref() == Some(key)
                    && other.kind == created.kind
                    && other.principal.id() == principal
            });
            let holder = match within {
                Some((run_id, other)) => Some(((*run_id).clone(), other.config_hash)),
                None => runs::holder_of_key(connection, &principal, &created.kind, key)
                    .map_err(store)?,
            };
            if let Some((run_id, config_hash)) = holder {
                return Err(CommitError::IdempotencyTaken {
                    run_id,
                    config_hash,
                });
            }
        }
        if let Some(token) = &created.confirm_token {
            let within = self
                .made
                .iter()
                .find(|(_, other)| other.confirm_token.as_ref() == Some(token));
            let holder = match within {
                Some((run_id, _)) => Some((*run_id).clone()),
                None => tokens::redeemed_by(connection, token).map_err(store)?,
            };
            if let Some(run_id) = holder {
                return Err(CommitError::TokenUsed { run_id });
            }
        }
        if created.on_held == OnHeld::Refuse && !self.imported {
            let within = self.made.iter().find_map(|(run_id, other)| {
                let name = other
                    .holds
                    .iter()
                    .find(|name| created.holds.contains(name))?;
                Some((name.clone(), (*run_id).clone()))
            });
            if let Some((name, run_id)) = within {
                return Err(CommitError::Held {
                    name,
                    run_id,
                    state: RunState::Queued,
                });
            }
            refuse_held(connection, &created.holds, None)?;
        }
        if let Expect::NewWithin(quotas) = expect {
            for quota in quotas {
                self.check_quota(connection, created, *quota)?;
            }
        }
        self.made.push((run_id, created));
        Ok(())
    }

    fn check_quota(
        &self,
        connection: &Connection,
        created: &RunCreated,
        quota: Quota,
    ) -> Result<(), CommitError> {
        let principal = created.principal.id();
        let after = match quota.counted {
            Counted::Unfinished => None,
            Counted::CreatedAfter(moment) => Some(moment),
        };
        let (count, oldest) =
            runs::count(connection, &principal, &created.kind, after).map_err(store)?;
        let within = self
            .made
            .iter()
            .filter(|(_, other)| other.kind == created.kind && other.principal.id() == principal)
            .count() as u64;
        if count + within < u64::from(quota.limit) {
            return Ok(());
        }
        Err(CommitError::OverQuota {
            quota,
            oldest: oldest.unwrap_or_default(),
        })
    }
}

fn store(failure: Failure) -> CommitError {
    CommitError::Store(failure.into())
}

#[cfg(test)]
#[path = "commit_tests.rs"]
mod tests;
