//! What a journal already answers: events folded into one entry per context call.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use serde_json::Value;
use windlass_types::{
    ArtifactRef, Body, DeliveryId, Digest, Event, Problem, RunId, Timestamp,
    journal::{ChildOutcome, RunCreated, RunUnwinding, SignalReceived},
};

use crate::run::SIGNAL_ROLLBACK;

/// A step, as far as the journal tells.
#[derive(Clone, Debug)]
pub(super) struct StepMemo {
    pub(super) input_hash: Digest,
    pub(super) attempts: u32,
    pub(super) retry_at: Option<Timestamp>,
    /// Whether it was done and did something to the world.
    pub(super) is_effect: bool,
    /// Whether it only costs.
    is_paid: bool,
    pub(super) outcome: Option<Result<Value, Problem>>,
}

/// A wait, as far as the journal tells.
#[derive(Clone, Debug)]
pub(super) struct WaitMemo {
    pub(super) deadline: Option<Timestamp>,
    /// `Some(None)` when the deadline passed.
    pub(super) completed: Option<Option<u64>>,
}

/// A timer, as far as the journal tells.
#[derive(Clone, Debug)]
pub(super) struct TimerMemo {
    pub(super) fire_at: Timestamp,
    pub(super) fired: bool,
}

/// A child, as far as the journal tells.
#[derive(Clone, Debug)]
pub(super) struct ChildMemo {
    pub(super) run_id: RunId,
    pub(super) outcome: Option<ChildOutcome>,
}

/// A whole journal, as answers.
#[derive(Debug)]
pub(super) struct Memo {
    pub(super) created: RunCreated,
    pub(super) created_at: Timestamp,
    pub(super) attempts: u32,
    pub(super) steps: HashMap<String, StepMemo>,
    pub(super) timers: HashMap<String, TimerMemo>,
    pub(super) waits: HashMap<String, WaitMemo>,
    pub(super) emitted: HashSet<String>,
    pub(super) artifacts: HashMap<String, ArtifactRef>,
    pub(super) children: HashMap<String, ChildMemo>,
    pub(super) webhooks: HashMap<String, DeliveryId>,
    pub(super) signals: BTreeMap<u64, SignalReceived>,
    /// How often the run had been started when a step or a wait was through.
    through: HashMap<String, u32>,
    pub(super) undone: HashMap<String, bool>,
    pub(super) unwinding: Option<RunUnwinding>,
    pub(super) completed: bool,
    pub(super) ended: bool,
}

/// A journal that cannot be executed.
#[derive(Debug, thiserror::Error)]
pub(super) enum MemoError {
    #[error("the journal does not begin with run.created")]
    NoBeginning,
    #[error("event {seq} cannot be read: {source}")]
    Unreadable { seq: u64, source: serde_json::Error },
}

impl Memo {
    pub(super) fn from_events(events: &[Event]) -> Result<Self, MemoError> {
        let mut memo: Option<Self> = None;
        for event in events {
            let body = Body::decode(&event.event_type, &event.payload).map_err(|source| {
                MemoError::Unreadable {
                    seq: event.seq,
                    source,
                }
            })?;
            match (&mut memo, body) {
                (None, Some(Body::RunCreated(created))) => {
                    memo = Some(Self::new(created, event.time))
                }
                (None, _) => return Err(MemoError::NoBeginning),
                (Some(memo), Some(body)) => memo.apply(event.seq, body),
                (Some(_), None) => {}
            }
        }
        memo.ok_or(MemoError::NoBeginning)
    }

    fn new(created: RunCreated, created_at: Timestamp) -> Self {
        Self {
            created,
            created_at,
            attempts: 0,
            steps: HashMap::new(),
            timers: HashMap::new(),
            waits: HashMap::new(),
            emitted: HashSet::new(),
            artifacts: HashMap::new(),
            children: HashMap::new(),
            webhooks: HashMap::new(),
            signals: BTreeMap::new(),
            through: HashMap::new(),
            undone: HashMap::new(),
            unwinding: None,
            completed: false,
            ended: false,
        }
    }

    fn apply(&mut self, seq: u64, body: Body) {
        match body {
            Body::RunStarted(started) => self.attempts = started.attempt,
            Body::StepStarted(step) => {
                let memo = self.step(step.key, step.input_hash);
                memo.attempts = step.attempt;
                memo.is_paid = step.paid;
                memo.retry_at = None;
            }
            Body::StepCompleted(step) => {
                self.through.insert(step.key.clone(), self.attempts);
                let memo = self.step(step.key, step.input_hash);
                memo.is_effect = step.undoable || step.effect.is_some();
                memo.outcome = Some(Ok(step.output));
            }
            Body::StepFailed(step) => {
                if step.retry_at.is_none() {
                    self.through.insert(step.key.clone(), self.attempts);
                }
                let memo = self.step(step.key, step.input_hash);
                memo.attempts = step.attempt;
                memo.retry_at = step.retry_at;
                if step.retry_at.is_none() {
                    memo.outcome = Some(Err(step.problem));
                }
            }
            Body::TimerStarted(timer) => {
                self.timers.insert(
                    timer.key,
                    TimerMemo {
                        fire_at: timer.fire_at,
                        fired: false,
                    },
                );
            }
            Body::TimerFired(timer) => {
                if let Some(memo) = self.timers.get_mut(&timer.key) {
                    memo.fired = true;
                }
            }
            Body::WaitStarted(wait) => self.begin_wait(&wait.key, wait.deadline),
            Body::WaitCompleted(wait) => {
                self.through.insert(wait.key.clone(), self.attempts);
                // What a step has taken has no wait that began.
                let memo = self.waits.entry(wait.key).or_insert(WaitMemo {
                    deadline: None,
                    completed: None,
                });
                memo.completed = Some(wait.signal_seq);
            }
            Body::SignalReceived(signal) => {
                if signal.signal == SIGNAL_ROLLBACK && self.ended {
                    // What could not be undone is tried again.
                    self.ended = false;
                    self.undone.retain(|_, is_undone| *is_undone);
                }
                self.signals.insert(seq, signal);
            }
            Body::Domain(_, event) => {
                self.emitted.insert(event.key);
            }
            Body::ArtifactStored(stored) => {
                self.artifacts.insert(stored.key, stored.artifact);
            }
            Body::ChildStarted(child) => {
                self.children.insert(
                    child.key,
                    ChildMemo {
                        run_id: child.run_id,
                        outcome: None,
                    },
                );
            }
            Body::ChildCompleted(child) => {
                if let Some(memo) = self.children.get_mut(&child.key) {
                    memo.outcome = Some(child.outcome);
                }
            }
            Body::WebhookEnqueued(webhook) => {
                self.webhooks.insert(webhook.key, webhook.delivery.id);
            }
            Body::UndoCompleted(undo) => {
                self.undone.insert(undo.key, true);
            }
            Body::UndoFailed(undo) => {
                self.undone.insert(undo.key, false);
            }
            Body::RunUnwinding(unwinding) => self.unwinding = Some(unwinding),
            Body::RunCompleted(_) => self.completed = true,
            Body::RunFailed(_) | Body::RunCancelled(_) | Body::RunRolledBack(_) => {
                self.ended = true
            }
            _ => {}
        }
    }

    /// A wait has begun.
    pub(super) fn begin_wait(&mut self, key: &str, deadline: Option<Timestamp>) {
        let wait = WaitMemo {
            deadline,
            completed: None,
        };
        self.waits.insert(key.to_owned(), wait);
    }

    fn step(&mut self, key: String, input_hash: Digest) -> &mut StepMemo {
        self.steps.entry(key).or_insert(StepMemo {
            input_hash,
            attempts: 0,
            retry_at: None,
            is_effect: false,
            is_paid: false,
            outcome: None,
        })
    }

    /// Paid work was begun or is done; another try of its step in this process must know.
    pub(super) fn note_paid(
        &mut self,
        key: &str,
        input_hash: Digest,
        attempt: u32,
        output: Option<Value>,
    ) {
        let memo = self.step(key.to_owned(), input_hash);
        memo.is_paid = true;
        memo.attempts = attempt;
        memo.outcome = output.map(Ok);
    }

    /// How often the run had been taken up again when a call was through, or has been so far.
    pub(super) fn resumptions(&self, call: &str) -> u32 {
        match self.through.get(call) {
            Some(starts) => starts.saturating_sub(1),
            None => self.attempts.saturating_sub(1),
        }
    }

    /// Every step that was begun or done, for a run that is let go without being undone.
    pub(super) fn effects(&self) -> Vec<String> {
        let mut keys: Vec<_> = self
            .steps
            .keys()
            .chain(self.children.keys())
            .cloned()
            .collect();
        keys.sort_unstable();
        keys
    }

    /// Effects that were begun and never recorded as done or failed.
    pub(super) fn dangling(&self) -> BTreeSet<String> {
        self.steps
            .iter()
            .filter(|(_, step)| {
                let is_open = step.outcome.is_none() && step.retry_at.is_none();
                is_open && step.attempts > 0 && !step.is_paid
            })
            .map(|(key, _)| key.clone())
            .collect()
    }

    /// The places of signals that waits have consumed.
    pub(super) fn consumed_signals(&self) -> impl Iterator<Item = u64> + '_ {
        self.waits
            .values()
            .filter_map(|wait| wait.completed.flatten())
    }
}
