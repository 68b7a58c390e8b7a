//! What is derived from events as they are merged: the indexes the port lets callers read.

use std::collections::{BTreeMap, HashMap, HashSet};

use windlass_ports::{
    ApiKeyRecord, AttemptRecord, Counted, DeliveryFilter, DeliveryRecord, DeliveryState, RunFilter,
    RunPage,
};
use windlass_types::{
    ArtifactRef, Body, DeliveryId, Digest, Event, KeyId, RunId, RunRecord, RunState, Timestamp,
    TokenId,
    journal::{DeliveryAttempted, DeliveryVerdict},
    run::{DUE_NEW, Due},
};

#[derive(Default)]
pub(super) struct Index {
    /// Records by the number of their journal, and so by age.
    runs: BTreeMap<u64, RunRecord>,
    numbers: HashMap<RunId, u64>,
    /// Journals of runs that happened elsewhere.
    imported: HashSet<u64>,
    tokens: HashMap<TokenId, RunId>,
    artifacts: HashMap<RunId, BTreeMap<String, ArtifactRef>>,
    keys: BTreeMap<KeyId, ApiKeyRecord>,
    deliveries: BTreeMap<DeliveryId, DeliveryRecord>,
    attempts: HashMap<DeliveryId, Vec<AttemptRecord>>,
    /// Receivers that are gone, and for whom; without an owner for everyone.
    disabled: HashSet<(Option<String>, String)>,
    /// Deliveries requested by hand: they go out to a receiver that is gone, too.
    forced: HashSet<DeliveryId>,
    /// Why runs that no driver executes must be resumed, by the number of their journal.
    due: BTreeMap<u64, Due>,
    /// Who holds a name (`true`) or waits for it, by name and age.
    holds: BTreeMap<(String, u64), bool>,
}

impl Index {
    /// Derives from one event of the journal with that number.
    pub(super) fn derive(
        &mut self,
        number: u64,
        imported: bool,
        event: &Event,
        body: Option<&Body>,
    ) {
        if let Some(Body::RunCreated(created)) = body {
            self.numbers.insert(event.run_id.clone(), number);
            let record = RunRecord::created(event.run_id.clone(), created.clone(), event.time);
            self.runs.insert(number, record);
            if imported {
                self.imported.insert(number);
            }
            if let Some(token) = &created.confirm_token {
                self.tokens.insert(token.clone(), event.run_id.clone());
            }
            if !imported {
                self.claim(number, &created.holds);
            }
            self.note_due(number, body);
            return;
        }
        if let Some(record) = self.runs.get_mut(&number) {
            let before = record.state;
            record.apply(event.seq, event.time, body);
            let (after, names) = (record.state, record.holds.clone());
            match (before.is_final(), after.is_final()) {
                (false, true) => self.release(number),
                (true, false) if !imported => self.claim(number, &names),
                _ => {}
            }
            if body.is_some_and(changes_run) {
                self.note_due(number, body);
            }
        }
        let is_run = self.runs.contains_key(&number);
        match body {
            Some(Body::ArtifactStored(stored)) => {
                let names = self.artifacts.entry(event.run_id.clone()).or_default();
                names.insert(stored.artifact.name.clone(), stored.artifact.clone());
            }
            Some(Body::WebhookEnqueued(enqueued)) => {
                let delivery = &enqueued.delivery;
                // The first to use an id keeps it; what another home sent is not sent again.
                self.deliveries
                    .entry(delivery.id.clone())
                    .or_insert_with(|| DeliveryRecord {
                        id: delivery.id.clone(),
                        run_id: event.run_id.clone(),
                        url: delivery.url.clone(),
                        event: delivery.event.clone(),
                        body: delivery.body.clone(),
                        secret_name: delivery.secret_name.clone(),
                        state: if imported {
                            DeliveryState::Dead
                        } else {
                            DeliveryState::Pending
                        },
                        attempts: 0,
                        due_at: event.time,
                        created_at: event.time,
                    });
            }
            _ if imported => {}
            Some(Body::DeliveryAttempted(attempted)) => self.attempt(event.time, attempted),
            Some(Body::DeliveryRequeued(requeued)) => {
                if let Some(delivery) = self.deliveries.get_mut(&requeued.delivery_id) {
                    delivery.state = DeliveryState::Pending;
                    delivery.due_at = requeued.due_at;
                    delivery.attempts = 0;
                    self.forced.insert(requeued.delivery_id.clone());
                }
            }
            Some(Body::EndpointDisabled(disabled)) => {
                let owner = disabled.owner.clone();
                self.disabled.insert((owner, disabled.url.clone()));
            }
            Some(Body::RunDamaged(damaged)) => {
                if let Some(number) = self.numbers.get(&damaged.run_id).copied()
                    && let Some(record) = self.runs.get_mut(&number)
                    && !record.state.is_final()
                {
                    record.fail_damaged(&damaged.finding);
                    self.release(number);
                    self.due.remove(&number);
                }
            }
            // A run's journal may come from a file, and a file must not bring a key.
            Some(Body::KeyCreated(created)) if !is_run => {
                self.keys
                    .entry(created.key_id.clone())
                    .or_insert_with(|| ApiKeyRecord {
                        key_id: created.key_id.clone(),
                        name: created.name.clone(),
                        secret_hash: created.secret_hash,
                        tier: created.tier.clone(),
                        scopes: created.scopes.clone(),
                        created_at: event.time,
                        expires_at: created.expires_at,
                        revoked_at: None,
                        last_used_at: None,
                    });
            }
            Some(Body::KeyRevoked(revoked)) if !is_run => {
                if let Some(key) = self.keys.get_mut(&revoked.key_id) {
                    key.revoked_at = key.revoked_at.or(Some(event.time));
                }
            }
            Some(Body::KeyUsed(used)) if !is_run => {
                if let Some(key) = self.keys.get_mut(&used.key_id) {
                    key.last_used_at = key.last_used_at.max(Some(event.time));
                }
            }
            _ => {}
        }
    }

    fn note_due(&mut self, number: u64, body: Option<&Body>) {
        let record = &self.runs[&number];
        let blocked = record.state == RunState::Queued
            && !record.cancel_requested
            && self
                .holds
                .iter()
                .any(|((_, other), holding)| *other == number && !holding);
        let mut due = body.map(|body| record.due_after(body)).unwrap_or_default();
        if blocked {
            due.at = None;
        }
        self.due.insert(number, due);
    }

    fn claim(&mut self, number: u64, names: &[String]) {
        let holding = self.obstacle(names, number).is_none();
        for name in names {
            self.holds.insert((name.clone(), number), holding);
        }
    }

    fn release(&mut self, number: u64) {
        self.holds.retain(|(_, other), _| *other != number);
        let waiting: Vec<u64> = self
            .runs
            .keys()
            .copied()
            .filter(|other| {
                self.holds
                    .iter()
                    .any(|((_, of), holding)| of == other && !holding)
            })
            .collect();
        for other in waiting {
            let names: Vec<String> = self
                .holds
                .keys()
                .filter(|(_, of)| *of == other)
                .map(|(name, _)| name.clone())
                .collect();
            if self.obstacle(&names, other).is_none() {
                for name in names {
                    self.holds.insert((name, other), true);
                }
                let granted = Due {
                    at: Some(DUE_NEW),
                    is_signalled: false,
                };
                self.due.insert(other, granted);
            }
        }
    }

    /// A name that another run holds, or that an older one waits for.
    fn obstacle(&self, names: &[String], number: u64) -> Option<(String, &RunRecord)> {
        names.iter().find_map(|name| {
            let others = self.holds.iter().filter(|((held, other), holding)| {
                held == name && *other != number && (**holding || *other < number)
            });
            let ((_, other), _) = others
                .max_by_key(|((_, other), holding)| (**holding, std::cmp::Reverse(*other)))?;
            Some((name.clone(), &self.runs[other]))
        })
    }

    /// The run that blocks one that would hold these names.
    pub(super) fn holder_of(
        &self,
        names: &[String],
        run_id: &RunId,
    ) -> Option<(String, RunId, RunState)> {
        let number = self.numbers.get(run_id).copied().unwrap_or(u64::MAX);
        let (name, record) = self.obstacle(names, number)?;
        Some((name, record.run_id.clone(), record.state))
    }

    pub(super) fn why_due(&self, run_id: &RunId) -> Due {
        let number = self.numbers.get(run_id);
        let due = number.and_then(|number| self.due.get(number));
        due.copied().unwrap_or_default()
    }

    pub(super) fn due(&self, after: Option<Timestamp>, by: Timestamp) -> Vec<RunId> {
        let mut due: Vec<(Timestamp, u64)> = self
            .due
            .iter()
            .filter_map(|(number, due)| Some((due.at?, *number)))
            .filter(|(at, _)| *at <= by && after.is_none_or(|after| *at > after))
            .collect();
        due.sort_unstable();
        due.into_iter()
            .map(|(_, number)| self.runs[&number].run_id.clone())
            .collect()
    }

    pub(super) fn signalled(&self) -> Vec<RunId> {
        let signalled = self.due.iter().filter(|(_, due)| due.is_signalled);
        signalled
            .map(|(number, _)| self.runs[number].run_id.clone())
            .collect()
    }

    pub(super) fn next_due_run(&self, after: Timestamp) -> Option<Timestamp> {
        let moments = self.due.values().filter_map(|due| due.at);
        moments.filter(|at| *at > after).min()
    }

    fn attempt(&mut self, at: Timestamp, attempted: &DeliveryAttempted) {
        let Some(delivery) = self.deliveries.get_mut(&attempted.delivery_id) else {
            return;
        };
        delivery.attempts += 1;
        match attempted.verdict {
            DeliveryVerdict::Delivered => delivery.state = DeliveryState::Delivered,
            DeliveryVerdict::Retry { due_at } => {
                delivery.state = DeliveryState::Pending;
                delivery.due_at = due_at;
            }
            DeliveryVerdict::Dead => delivery.state = DeliveryState::Dead,
        }
        self.attempts
            .entry(attempted.delivery_id.clone())
            .or_default()
            .push(AttemptRecord {
                time: at,
                attempt: attempted.attempt,
                status: attempted.status,
                error: attempted.error.clone(),
                duration_ms: attempted.duration_ms,
                address: attempted.address.clone(),
                answer: attempted.answer.clone(),
            });
    }

    /// Forgets a run whose journal is pruned; a redeemed token stays redeemed.
    pub(super) fn forget(&mut self, run_id: &RunId) {
        if let Some(number) = self.numbers.remove(run_id) {
            self.runs.remove(&number);
            self.due.remove(&number);
        }
        self.artifacts.remove(run_id);
        let attempts = &mut self.attempts;
        self.deliveries.retain(|id, delivery| {
            let keep = delivery.run_id != *run_id;
            if !keep {
                attempts.remove(id);
            }
            keep
        });
    }

    pub(super) fn run(&self, run_id: &RunId) -> Option<&RunRecord> {
        self.numbers
            .get(run_id)
            .and_then(|number| self.runs.get(number))
    }

    pub(super) fn all_runs(&self) -> impl Iterator<Item = &RunRecord> {
        self.runs.values()
    }

    pub(super) fn page(&self, filter: &RunFilter) -> RunPage {
        let matches = |record: &RunRecord| {
            filter.kind.as_ref().is_none_or(|kind| record.kind == *kind)
                && (filter.states.is_empty() || filter.states.contains(&record.state))
                && filter.principal.as_ref().is_none_or(|principal| {
                    let waits = matches!(record.state, RunState::Queued | RunState::Waiting);
                    record.principal.id() == *principal || (filter.or_waiting && waits)
                })
                && filter.parent.as_ref().is_none_or(|parent| {
                    record
                        .parent
                        .as_ref()
                        .is_some_and(|own| own.run_id == *parent)
                })
        };
        let before = filter.before.unwrap_or(u64::MAX);
        let mut page = RunPage::default();
        let mut last = None;
        for (number, record) in self
            .runs
            .range(..before)
            .rev()
            .filter(|(_, record)| matches(record))
        {
            if page.runs.len() == filter.limit {
                page.next = last;
                break;
            }
            last = Some(*number);
            page.runs.push(record.clone());
        }
        page
    }

    pub(super) fn unfinished(&self) -> usize {
        let goes_on =
            |record: &&RunRecord| !record.state.is_final() && record.state != RunState::Held;
        self.runs.values().filter(goes_on).count()
    }

    pub(super) fn redeemed_by(&self, token: &TokenId) -> Option<RunId> {
        self.tokens.get(token).cloned()
    }

    pub(super) fn holder_of_key(
        &self,
        principal: &str,
        kind: &str,
        key: &str,
    ) -> Option<(RunId, Digest)> {
        self.runs
            .iter()
            .filter(|(number, _)| !self.imported.contains(number))
            .map(|(_, record)| record)
            .find(|record| {
                record.idempotency_key.as_deref() == Some(key)
                    && record.kind == kind
                    && record.principal.id() == principal
            })
            .map(|record| (record.run_id.clone(), record.config_hash))
    }

    pub(super) fn artifacts(&self, run_id: &RunId) -> Vec<ArtifactRef> {
        self.artifacts
            .get(run_id)
            .map(|names| names.values().cloned().collect())
            .unwrap_or_default()
    }

    /// The contents that some artifact of a run outside `leaving` names and that have not expired.
    pub(super) fn wanted_contents(&self, now: Timestamp, leaving: &[RunId]) -> HashSet<Digest> {
        let staying = self
            .artifacts
            .iter()
            .filter(|(run_id, _)| !leaving.contains(run_id));
        let all = staying.flat_map(|(_, names)| names.values());
        all.filter(|artifact| artifact.expires_at.is_none_or(|moment| moment > now))
            .map(|artifact| artifact.sha256)
            .collect()
    }

    pub(super) fn keys(&self) -> Vec<ApiKeyRecord> {
        self.keys.values().cloned().collect()
    }

    pub(super) fn deliveries(&self, filter: &DeliveryFilter) -> Vec<DeliveryRecord> {
        let mut found: Vec<_> = self
            .deliveries
            .values()
            .filter(|delivery| filter.state.is_none_or(|state| delivery.state == state))
            .filter(|delivery| {
                filter
                    .run_id
                    .as_ref()
                    .is_none_or(|run_id| delivery.run_id == *run_id)
            })
            .filter(|delivery| {
                filter
                    .due_by
                    .is_none_or(|due_by| self.is_waiting(delivery) && delivery.due_at <= due_by)
            })
            .cloned()
            .collect();
        found.sort_by(|left, right| (left.due_at, &left.id).cmp(&(right.due_at, &right.id)));
        found.truncate(filter.limit);
        found
    }

    pub(super) fn next_due(&self) -> Option<Timestamp> {
        self.deliveries
            .values()
            .filter(|delivery| self.is_waiting(delivery))
            .map(|delivery| delivery.due_at)
            .min()
    }

    /// Whether a run has a pending delivery.
    pub(super) fn owes_delivery(&self, run_id: &RunId) -> bool {
        self.deliveries
            .values()
            .any(|delivery| delivery.run_id == *run_id && self.is_waiting(delivery))
    }

    fn is_waiting(&self, delivery: &DeliveryRecord) -> bool {
        delivery.state == DeliveryState::Pending
            && (self.forced.contains(&delivery.id) || !self.is_gone(delivery))
    }

    fn is_gone(&self, delivery: &DeliveryRecord) -> bool {
        let gone_for = |owner: Option<String>| {
            let place = (owner, delivery.url.clone());
            self.disabled.contains(&place)
        };
        gone_for(None) || gone_for(Some(delivery.secret_name.clone().unwrap_or_default()))
    }

    /// How many runs a quota counts, and when the oldest of them was created.
    pub(super) fn count(
        &self,
        principal: &str,
        kind: &str,
        counted: Counted,
    ) -> (usize, Option<Timestamp>) {
        let moments: Vec<Timestamp> = self
            .runs
            .values()
            .filter(|record| record.kind == kind && record.principal.id() == principal)
            .filter(|record| match counted {
                Counted::Unfinished => !record.state.is_final() && record.state != RunState::Held,
                Counted::CreatedAfter(moment) => record.created_at > moment,
            })
            .map(|record| record.created_at)
            .collect();
        (moments.len(), moments.into_iter().min())
    }

    pub(super) fn attempts(&self, delivery: &DeliveryId) -> Vec<AttemptRecord> {
        self.attempts.get(delivery).cloned().unwrap_or_default()
    }
}

/// Whether the event changes more of a run than its age.
fn changes_run(body: &Body) -> bool {
    matches!(
        body,
        Body::RunStarted(_)
            | Body::RunUnwinding(_)
            | Body::RunCompleted(_)
            | Body::RunFailed(_)
            | Body::RunCancelled(_)
            | Body::RunRolledBack(_)
            | Body::RunHeld(_)
            | Body::TimerStarted(_)
            | Body::TimerFired(_)
            | Body::WaitStarted(_)
            | Body::WaitCompleted(_)
            | Body::ChildStarted(_)
            | Body::ChildCompleted(_)
            | Body::SignalReceived(_)
    )
}
