//! The disk: journals and contents, and the one way to change them.
//!
//! A commit is staged first (conditions checked, events chained) and merged afterwards, so
//! that a death in between leaves nothing behind.

use std::collections::{BTreeMap, HashMap};

use tokio::sync::watch;
use windlass_ports::{
    Commit, CommitError, DriverScope, Expect, JournalWrite, LeaseName, LeaseRecord, LeaseUse,
    Quota, StoreError,
};
use windlass_types::{
    Body, Digest, Event, RunId, RunState,
    event::{ChainHead, verify_chain},
    journal::{OnHeld, RunCreated},
};

use super::derive::Index;

/// Journals of the store itself begin so; no file may bring one.
const SYSTEM_PREFIX: &str = "sys_";

/// One journal.
pub(super) struct Journal {
    /// Its place among all journals, by creation.
    pub(super) number: u64,
    pub(super) is_imported: bool,
    pub(super) events: Vec<Event>,
}

impl Journal {
    fn head(&self) -> ChainHead {
        self.events
            .last()
            .map_or_else(ChainHead::default, |event| ChainHead {
                seq: event.seq,
                hash: event.hash,
            })
    }
}

/// Everything that survives a process.
pub(super) struct Disk {
    pub(super) journals: HashMap<RunId, Journal>,
    /// Every event's journal and place there, by position.
    pub(super) feed: BTreeMap<u64, (RunId, u64)>,
    pub(super) index: Index,
    pub(super) contents: HashMap<Digest, Vec<u8>>,
    /// The drivers that are alive, by number.
    pub(super) drivers: BTreeMap<u64, (u32, DriverScope)>,
    /// Driver and epoch of every lease.
    pub(super) leases: HashMap<LeaseName, (u64, u64)>,
    last_driver: u64,
    last_epoch: u64,
    pub(super) changes: watch::Sender<u64>,
    pub(super) departures: watch::Sender<u64>,
    pub(super) followed: HashMap<RunId, watch::Sender<u64>>,
    pub(super) full: bool,
    next_journal: u64,
    next_position: u64,
    pub(super) next_process: u32,
}

/// A commit whose conditions hold, not yet part of the disk.
pub(super) struct Staged {
    writes: Vec<StagedWrite>,
    lease: Option<LeaseUse>,
}

struct StagedWrite {
    run_id: RunId,
    imported: bool,
    events: Vec<(Event, Option<Body>)>,
}

impl Staged {
    pub(super) fn events(&self) -> Vec<Event> {
        self.writes
            .iter()
            .flat_map(|write| write.events.iter().map(|(event, _)| event.clone()))
            .collect()
    }
}

impl Disk {
    pub(super) fn new() -> Self {
        Self {
            journals: HashMap::new(),
            feed: BTreeMap::new(),
            index: Index::default(),
            contents: HashMap::new(),
            drivers: BTreeMap::new(),
            leases: HashMap::new(),
            last_driver: 0,
            last_epoch: 0,
            changes: watch::Sender::new(0),
            departures: watch::Sender::new(0),
            followed: HashMap::new(),
            full: false,
            next_journal: 1,
            next_position: 1,
            next_process: 1,
        }
    }

    /// Checks the conditions of a commit and chains its events.
    pub(super) fn stage(&self, commit: Commit) -> Result<Staged, CommitError> {
        if let Some(lease) = &commit.lease {
            self.check_lease(lease)?;
        }
        let mut staged = Staged {
            writes: Vec::new(),
            lease: commit.lease,
        };
        for write in commit.writes {
            let bodies = decode(&write)?;
            self.check_standing(&staged, &write, &bodies)?;
            if let Some(Some(Body::RunCreated(created))) = bodies.first() {
                self.check_claims(&staged, created)?;
                self.check_holds(&staged, &write.run_id, created)?;
                if let Expect::NewWithin(quotas) = &write.expect {
                    self.check_quotas(&staged, created, quotas)?;
                }
            }
            let journal = self.journals.get(&write.run_id);
            if journal.is_some_and(|journal| journal.is_imported) && !write.events.is_empty() {
                return Err(CommitError::Imported {
                    run_id: write.run_id,
                });
            }
            self.check_reopening(&write.run_id, &bodies)?;
            let mut head = self.staged_head(&staged, &write.run_id);
            let mut events = Vec::with_capacity(bodies.len());
            for (new, body) in write.events.into_iter().zip(bodies) {
                let event = Event::chain(write.run_id.clone(), head.seq + 1, head.hash, new);
                head = ChainHead {
                    seq: event.seq,
                    hash: event.hash,
                };
                events.push((event, body));
            }
            staged.writes.push(StagedWrite {
                run_id: write.run_id,
                imported: false,
                events,
            });
        }
        Ok(staged)
    }

    /// Checks a journal from another home.
    pub(super) fn stage_import(&self, events: Vec<Event>) -> Result<Staged, CommitError> {
        let refuse = |why: String| {
            CommitError::Store(StoreError::Damaged(format!(
                "the imported journal is refused: {why}"
            )))
        };
        let run_id = events
            .first()
            .ok_or_else(|| refuse("it has no events".to_owned()))?
            .run_id
            .clone();
        if run_id.as_str().starts_with(SYSTEM_PREFIX)
            || events.iter().any(|event| event.run_id != run_id)
        {
            return Err(refuse(format!("{run_id} is not the journal of one run")));
        }
        verify_chain(ChainHead::default(), &events).map_err(|error| refuse(error.to_string()))?;
        let events = events
            .into_iter()
            .map(|event| {
                let body = Body::decode(&event.event_type, &event.payload)
                    .map_err(|error| refuse(error.to_string()))?;
                Ok((event, body))
            })
            .collect::<Result<Vec<_>, CommitError>>()?;
        let Some((_, Some(Body::RunCreated(created)))) = events.first() else {
            return Err(refuse("it does not begin with run.created".to_owned()));
        };
        let mut staged = Staged {
            writes: Vec::new(),
            lease: None,
        };
        if self.journals.contains_key(&run_id) {
            return Err(CommitError::Unexpected {
                state: self.state(&run_id),
                run_id,
            });
        }
        // The call it belongs to was made elsewhere.
        let without_key = RunCreated {
            idempotency_key: None,
            ..created.clone()
        };
        self.check_claims(&staged, &without_key)?;
        staged.writes.push(StagedWrite {
            run_id,
            imported: true,
            events,
        });
        Ok(staged)
    }

    /// Makes a staged commit part of the disk; the epoch of the lease it took.
    pub(super) fn merge(&mut self, staged: Staged) -> Option<u64> {
        for write in staged
            .writes
            .into_iter()
            .filter(|write| !write.events.is_empty())
        {
            if !self.journals.contains_key(&write.run_id) {
                let number = self.next_journal;
                self.next_journal += 1;
                self.journals.insert(
                    write.run_id.clone(),
                    Journal {
                        number,
                        is_imported: write.imported,
                        events: Vec::new(),
                    },
                );
            }
            for (event, body) in write.events {
                self.feed
                    .insert(self.next_position, (event.run_id.clone(), event.seq));
                self.next_position += 1;
                let journal = self.journals.get_mut(&write.run_id).expect("made above");
                journal.events.push(event.clone());
                let number = journal.number;
                self.index
                    .derive(number, write.imported, &event, body.as_ref());
            }
            let state = self.state(&write.run_id);
            if state.is_some_and(|state| state.is_final() || state == RunState::Held) {
                self.leases.remove(&LeaseName::Run(write.run_id.clone()));
            }
            if let Some(followed) = self.followed.get(&write.run_id) {
                followed.send_replace(self.journals[&write.run_id].head().seq);
            }
        }
        let epoch = match staged.lease {
            Some(LeaseUse::Take { name, driver, .. }) => {
                self.last_epoch += 1;
                self.leases.insert(name, (driver, self.last_epoch));
                Some(self.last_epoch)
            }
            Some(LeaseUse::Release(fence)) => {
                self.leases.remove(&fence.name);
                None
            }
            Some(LeaseUse::Hold(_)) | None => None,
        };
        let position = self.position();
        self.changes.send_replace(position);
        epoch
    }

    /// A driver of a process.
    pub(super) fn register(&mut self, process: u32, scope: DriverScope) -> u64 {
        self.last_driver += 1;
        self.drivers.insert(self.last_driver, (process, scope));
        self.last_driver
    }

    /// Drivers are gone; what they held can be taken over.
    pub(super) fn remove_drivers(&mut self, dead: impl Fn(u64, u32) -> bool) {
        self.drivers.retain(|id, (process, _)| !dead(*id, *process));
        self.departures.send_modify(|count| *count += 1);
    }

    pub(super) fn lease(&self, name: &LeaseName) -> Option<LeaseRecord> {
        let (driver, epoch) = *self.leases.get(name)?;
        Some(LeaseRecord {
            name: name.clone(),
            driver,
            epoch,
            is_alive: self.drivers.contains_key(&driver),
        })
    }

    fn check_lease(&self, lease: &LeaseUse) -> Result<(), CommitError> {
        match lease {
            LeaseUse::Hold(fence) | LeaseUse::Release(fence) => {
                let current = self.lease(&fence.name);
                match current.is_some_and(|lease| lease.epoch == fence.epoch) {
                    true => Ok(()),
                    false => Err(CommitError::Fenced),
                }
            }
            LeaseUse::Take {
                name,
                driver,
                replaces,
            } => {
                // Only in tests can a driver be declared dead while it acts.
                if !self.drivers.contains_key(driver) {
                    return Err(CommitError::Fenced);
                }
                let current = self.lease(name);
                let free = current
                    .as_ref()
                    .is_none_or(|lease| lease.driver == *driver || !lease.is_alive);
                if free && current.map(|lease| lease.epoch) == *replaces {
                    Ok(())
                } else {
                    Err(CommitError::Leased)
                }
            }
        }
    }

    fn check_holds(
        &self,
        staged: &Staged,
        run_id: &RunId,
        created: &RunCreated,
    ) -> Result<(), CommitError> {
        if created.on_held == OnHeld::Wait {
            return Ok(());
        }
        let within = staged.writes.iter().find_map(|write| {
            let Some((_, Some(Body::RunCreated(other)))) = write.events.first() else {
                return None;
            };
            let name = other
                .holds
                .iter()
                .find(|name| created.holds.contains(name))?;
            Some((name.clone(), write.run_id.clone(), RunState::Queued))
        });
        let stored = || self.index.holder_of(&created.holds, run_id);
        match within.or_else(stored) {
            Some((name, run_id, state)) => Err(CommitError::Held {
                name,
                run_id,
                state,
            }),
            None => Ok(()),
        }
    }

    /// An ended run holds nothing; to be rolled back it must have its names again.
    fn check_reopening(&self, run_id: &RunId, bodies: &[Option<Body>]) -> Result<(), CommitError> {
        let rolls_back = |body: &Option<Body>| matches!(body, Some(Body::SignalReceived(signal)) if signal.signal == "rollback");
        let Some(record) = self.index.run(run_id) else {
            return Ok(());
        };
        if !record.state.is_final() || !bodies.iter().any(rolls_back) {
            return Ok(());
        }
        match self.index.holder_of(&record.holds, run_id) {
            Some((name, run_id, state)) => Err(CommitError::Held {
                name,
                run_id,
                state,
            }),
            None => Ok(()),
        }
    }

    /// The place of the newest event.
    pub(super) const fn position(&self) -> u64 {
        self.next_position - 1
    }

    fn state(&self, run_id: &RunId) -> Option<RunState> {
        self.index.run(run_id).map(|record| record.state)
    }

    fn staged_head(&self, staged: &Staged, run_id: &RunId) -> ChainHead {
        let last = staged
            .writes
            .iter()
            .rfind(|write| write.run_id == *run_id)
            .and_then(|write| write.events.last());
        match last {
            Some((event, _)) => ChainHead {
                seq: event.seq,
                hash: event.hash,
            },
            None => self
                .journals
                .get(run_id)
                .map_or_else(ChainHead::default, Journal::head),
        }
    }

    fn check_standing(
        &self,
        staged: &Staged,
        write: &JournalWrite,
        bodies: &[Option<Body>],
    ) -> Result<(), CommitError> {
        let state = self.state(&write.run_id);
        let exists = self.journals.contains_key(&write.run_id)
            || staged
                .writes
                .iter()
                .any(|other| other.run_id == write.run_id);
        let expected = match &write.expect {
            Expect::Any => true,
            Expect::New | Expect::NewWithin(_) => !exists,
            Expect::State(states) => state.is_some_and(|state| states.contains(&state)),
            Expect::At(seq) => exists && self.staged_head(staged, &write.run_id).seq == *seq,
        };
        // A run begins with `run.created`, once: anywhere else the event would contradict the fold.
        let is_creation = |body: &Option<Body>| matches!(body, Some(Body::RunCreated(_)));
        let misplaced = bodies
            .iter()
            .enumerate()
            .any(|(at, body)| is_creation(body) && (at > 0 || exists));
        if expected && !misplaced {
            return Ok(());
        }
        Err(CommitError::Unexpected {
            run_id: write.run_id.clone(),
            state,
        })
    }

    /// The idempotency key comes first: a repetition of a call that redeemed its token must be
    /// recognised as one, not refused because of the token.
    fn check_claims(&self, staged: &Staged, created: &RunCreated) -> Result<(), CommitError> {
        let within = staged
            .writes
            .iter()
            .filter_map(|write| match write.events.first() {
                Some((_, Some(Body::RunCreated(other)))) => Some((&write.run_id, other)),
                _ => None,
            });
        if let Some(key) = &created.idempotency_key {
            let stored = self
                .index
                .holder_of_key(&created.principal.id(), &created.kind, key);
            let holder = stored.or_else(|| {
                within
                    .clone()
                    .find(|(_, other)| {
                        other.idempotency_key.as_ref() == Some(key)
                            && other.kind == created.kind
                            && other.principal.id() == created.principal.id()
                    })
                    .map(|(run_id, other)| (run_id.clone(), other.config_hash))
            });
            if let Some((run_id, config_hash)) = holder {
                return Err(CommitError::IdempotencyTaken {
                    run_id,
                    config_hash,
                });
            }
        }
        if let Some(token) = &created.confirm_token {
            let stored = self.index.redeemed_by(token);
            let holder = stored.or_else(|| {
                within
                    .clone()
                    .find(|(_, other)| other.confirm_token.as_ref() == Some(token))
                    .map(|(run_id, _)| run_id.clone())
            });
            if let Some(run_id) = holder {
                return Err(CommitError::TokenUsed { run_id });
            }
        }
        Ok(())
    }
}

impl Disk {
    fn check_quotas(
        &self,
        staged: &Staged,
        created: &RunCreated,
        quotas: &[Quota],
    ) -> Result<(), CommitError> {
        let principal = created.principal.id();
        let within = staged
            .writes
            .iter()
            .filter(|write| {
                matches!(write.events.first(), Some((_, Some(Body::RunCreated(other))))
                    if other.kind == created.kind && other.principal.id() == principal)
            })
            .count();
        for quota in quotas {
            let (count, oldest) = self.index.count(&principal, &created.kind, quota.counted);
            if count + within >= quota.limit as usize {
                return Err(CommitError::OverQuota {
                    quota: *quota,
                    oldest: oldest.unwrap_or_default(),
                });
            }
        }
        Ok(())
    }
}

/// What cannot be read back is not stored.
fn decode(write: &JournalWrite) -> Result<Vec<Option<Body>>, StoreError> {
    write
        .events
        .iter()
        .map(|new| {
            Body::decode(&new.event_type, &new.payload).map_err(|error| {
                StoreError::Io(format!(
                    "event {} cannot be read back: {error}",
                    new.event_type
                ))
            })
        })
        .collect()
}
