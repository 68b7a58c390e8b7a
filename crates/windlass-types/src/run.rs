//! A run's record: what its journal says it is, folded event by event.
//!
//! The fold is the only definition of a run's state. The store keeps its result in an
//! index so that lists are fast, and `windlass store check` folds again to compare.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{
    ApprovalTerms, Body, Digest, Event, Principal, Problem, RunId, Surface, Timestamp, TokenId,
    TraceId, code,
    journal::{ApprovalGate, ChangeSubject, ParentRef, RunCreated},
    principal::person_of,
};

/// The signal that answers an approval.
pub const APPROVAL: &str = "approval";
/// Names, in the payload of such a signal, the one wait that it answers.
pub const ANSWERED_WAIT: &str = "wait";
/// The wait for the approval that policy wanted before the first step.
pub const GATE_WAIT: &str = "approval before start";
/// When a run that nobody has begun is due: before everything that has a time.
pub const DUE_NEW: Timestamp = Timestamp::EPOCH;

/// What a run whose journal is damaged may have left behind.
pub const DAMAGED_RESIDUE: &str =
    "everything it did: the damaged journal does not say what was undone";

/// Why a run with a damaged journal has failed.
pub fn damage_problem(run_id: &RunId, finding: &str) -> Problem {
    Problem::new(
        &code::STORE_DAMAGED,
        format!("the journal of {run_id} is damaged, so the run has failed: {finding}"),
    )
    .with("run_id", run_id.as_str())
    .next("windlass store check")
    .next("restore a backup, or look at what the run changed and start it again")
}

/// Why a run has to be driven although no driver executes it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Due {
    /// It is new, or waits for a moment.
    pub at: Option<Timestamp>,
    /// It has a signal that its code may not have seen.
    pub is_signalled: bool,
}

/// Where a run stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RunState {
    /// Created, not yet picked up.
    Queued,
    /// Being executed.
    Running,
    /// Waiting for time, a person or an outside event.
    Waiting,
    /// Undoing its effects.
    Unwinding,
    /// Held: the code and the journal disagree; nothing happens until a person decides.
    Held,
    /// Succeeded.
    Completed,
    /// Failed; effects undone or listed.
    Failed,
    /// Cancelled; effects undone or listed.
    Cancelled,
    /// Completed once, then rolled back.
    RolledBack,
}

impl RunState {
    /// Every state.
    pub const ALL: [Self; 9] = [
        Self::Queued,
        Self::Running,
        Self::Waiting,
        Self::Unwinding,
        Self::Held,
        Self::Completed,
        Self::Failed,
        Self::Cancelled,
        Self::RolledBack,
    ];

    /// Whether nothing more happens by itself.
    pub const fn is_final(self) -> bool {
        matches!(
            self,
            Self::Completed | Self::Failed | Self::Cancelled | Self::RolledBack
        )
    }

    /// The name on the wire.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Queued => "queued",
            Self::Running => "running",
            Self::Waiting => "waiting",
            Self::Unwinding => "unwinding",
            Self::Held => "held",
            Self::Completed => "completed",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
            Self::RolledBack => "rolled_back",
        }
    }

    /// The state of that name.
    pub fn by_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|state| state.as_str() == name)
    }
}

/// What a waiting run waits for.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct WaitingOn {
    /// `timer`, `child`, or the name of a signal such as `approval`.
    pub what: String,
    /// What a person is asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prompt: Option<String>,
    /// The plan an approval must name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plan_digest: Option<Digest>,
    /// Who may answer an approval.
    #[serde(flatten)]
    pub terms: ApprovalTerms,
    /// The lines of the plan that an approver is shown.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lines: Vec<String>,
    /// What an approval answers, where several waits ask the same in turn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub question: Option<String>,
    /// When the wait ends by itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<Timestamp>,
    /// Whether an approval was answered that the run has not processed yet.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub answered: bool,
    /// Who has approved so far, where several have to.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub approved_by: Vec<String>,
}

/// What a journal says about its run.
#[derive(Clone, Debug, PartialEq)]
pub struct RunRecord {
    /// The run.
    pub run_id: RunId,
    /// Which code executes it.
    pub kind: String,
    /// Where it stands.
    pub state: RunState,
    /// A short line for lists.
    pub title: String,
    /// Who asked.
    pub principal: Principal,
    /// Through which surface.
    pub surface: Surface,
    /// The run that started it.
    pub parent: Option<ParentRef>,
    /// The trace.
    pub trace_id: TraceId,
    /// The caller's idempotency key.
    pub idempotency_key: Option<String>,
    /// What that key is bound to.
    pub config_hash: Digest,
    /// What the code received.
    pub input: Value,
    /// The confirmed plan.
    pub plan_digest: Option<Digest>,
    /// The redeemed token.
    pub confirm_token: Option<TokenId>,
    /// Policy's question and its answer at creation.
    pub approval: Option<ApprovalGate>,
    /// What the gate admitted.
    pub subject: Option<ChangeSubject>,
    /// Whether the gate's question was answered before any driver took the run up.
    pub gate_answered: bool,
    /// Who had approved by then, where several have to.
    pub gate_approved_by: Vec<String>,
    /// What it has for itself until it ends.
    pub holds: Vec<String>,
    /// What it waits for now.
    pub waiting_on: Vec<(String, WaitingOn)>,
    /// Whether its cancellation was requested.
    pub cancel_requested: bool,
    /// What it returned.
    pub output: Option<Value>,
    /// Why it failed or is held.
    pub problem: Option<Problem>,
    /// Steps whose effects remain after unwinding.
    pub residue: Vec<String>,
    /// How often it was started.
    pub attempts: u32,
    /// When it was created.
    pub created_at: Timestamp,
    /// When its last event happened.
    pub updated_at: Timestamp,
    /// The place of its last event.
    pub last_seq: u64,
}

/// Counts an answer to an approval. Whether it decides: the first no does, and the yes that makes
/// the quorum. A second yes of the same approver counts for nothing.
fn decides(approved_by: &mut Vec<String>, quorum: u32, principal: &str, payload: &Value) -> bool {
    let approved = payload.get("approved").and_then(Value::as_bool);
    if quorum == 1 || approved != Some(true) {
        return true;
    }
    if !has_approved(approved_by, principal) {
        approved_by.push(principal.to_owned());
    }
    approved_by.len() as u64 >= u64::from(quorum)
}

/// Whether the person behind `principal` is among those who approved.
pub fn has_approved(approved_by: &[String], principal: &str) -> bool {
    let person = person_of(principal);
    approved_by.iter().any(|known| person_of(known) == person)
}

impl RunRecord {
    /// The record right after `run.created`.
    pub fn created(run_id: RunId, created: RunCreated, at: Timestamp) -> Self {
        Self {
            run_id,
            kind: created.kind,
            state: RunState::Queued,
            title: created.title,
            principal: created.principal,
            surface: created.surface,
            parent: created.parent,
            trace_id: created.trace_id,
            idempotency_key: created.idempotency_key,
            config_hash: created.config_hash,
            input: created.input,
            plan_digest: created.plan_digest,
            confirm_token: created.confirm_token,
            approval: created.approval,
            subject: created.subject,
            gate_answered: false,
            gate_approved_by: Vec::new(),
            holds: created.holds,
            waiting_on: Vec::new(),
            cancel_requested: false,
            output: None,
            problem: None,
            residue: Vec::new(),
            attempts: 0,
            created_at: at,
            updated_at: at,
            last_seq: 1,
        }
    }

    /// The terms of the approval that the run waits for; they name nobody where it is whom policy
    /// names by default. `None` when it waits for no approval.
    pub fn wanted_approval(&self) -> Option<ApprovalTerms> {
        let gate = self.gate_terms();
        let mut asked = self.waiting_on.iter();
        match asked.find(|(_, on)| on.what == APPROVAL && !on.answered) {
            Some((_, on)) if !on.terms.is_empty() => Some(on.terms.clone()),
            Some(_) => Some(gate),
            // No driver has announced the wait yet, but the gate stands in the first event.
            None if self.state == RunState::Queued && !self.gate_answered && !gate.is_empty() => {
                Some(gate)
            }
            None => None,
        }
    }

    /// The terms of the gate before the start.
    fn gate_terms(&self) -> ApprovalTerms {
        match &self.approval {
            Some(ApprovalGate::Wanted { terms, .. }) => terms.clone(),
            _ => ApprovalTerms::default(),
        }
    }

    /// Who has given the approval that the run waits for, where several have to.
    pub fn approved_by(&self) -> &[String] {
        let mut asked = self.waiting_on.iter();
        match asked.find(|(_, on)| on.what == APPROVAL && !on.answered) {
            Some((_, on)) => &on.approved_by,
            None => &self.gate_approved_by,
        }
    }

    /// Folds a whole journal; `None` when it does not begin with `run.created`.
    pub fn fold(events: &[Event]) -> Result<Option<Self>, serde_json::Error> {
        let mut record = None;
        for event in events {
            let body = Body::decode(&event.event_type, &event.payload)?;
            match (&mut record, body) {
                (None, Some(Body::RunCreated(created))) => {
                    record = Some(Self::created(event.run_id.clone(), created, event.time));
                }
                (Some(record), body) => record.apply(event.seq, event.time, body.as_ref()),
                (None, _) => return Ok(None),
            }
        }
        Ok(record)
    }

    /// Folds one more event in.
    pub fn apply(&mut self, seq: u64, at: Timestamp, body: Option<&Body>) {
        self.last_seq = seq;
        self.updated_at = at;
        let Some(body) = body else { return };
        match body {
            Body::RunStarted(started) => {
                self.attempts = started.attempt;
                if self.state != RunState::Unwinding {
                    self.state = if self.waiting_on.is_empty() {
                        RunState::Running
                    } else {
                        RunState::Waiting
                    };
                }
            }
            Body::TimerStarted(timer) => self.wait(
                &timer.key,
                WaitingOn {
                    what: "timer".to_owned(),
                    until: Some(timer.fire_at),
                    ..WaitingOn::default()
                },
            ),
            Body::TimerFired(timer) => self.wake(&timer.key),
            Body::WaitStarted(wait) => {
                // The gate's question may have been answered before anyone took the run up.
                let approved_by = match wait.signal == APPROVAL {
                    true => std::mem::take(&mut self.gate_approved_by),
                    false => Vec::new(),
                };
                let answered = wait.key == GATE_WAIT && self.gate_answered;
                let on = WaitingOn {
                    what: wait.signal.clone(),
                    prompt: wait.prompt.clone(),
                    plan_digest: wait.plan_digest,
                    terms: wait.terms.clone(),
                    lines: wait.lines.clone(),
                    question: wait.question.clone(),
                    until: wait.deadline,
                    answered,
                    approved_by,
                };
                self.wait(&wait.key, on);
            }
            Body::WaitCompleted(wait) => self.wake(&wait.key),
            Body::ChildStarted(child) => self.wait(
                &child.key,
                WaitingOn {
                    what: "child".to_owned(),
                    ..WaitingOn::default()
                },
            ),
            Body::ChildCompleted(child) => self.wake(&child.key),
            Body::SignalReceived(signal) => {
                if signal.signal == APPROVAL {
                    self.take_answer(&signal.principal.id(), &signal.payload);
                }
                self.hear(&signal.signal);
            }
            Body::RunUnwinding(unwinding) => {
                self.state = RunState::Unwinding;
                self.waiting_on.clear();
                self.problem.clone_from(&unwinding.problem);
            }
            Body::RunHeld(held) => {
                self.state = RunState::Held;
                self.problem = Some(held.problem.clone());
            }
            Body::RunCompleted(completed) => {
                self.end(RunState::Completed);
                self.output = Some(completed.output.clone());
            }
            Body::RunFailed(failed) => {
                self.end(RunState::Failed);
                self.problem = Some(failed.problem.clone());
                self.residue.clone_from(&failed.residue);
            }
            Body::RunCancelled(cancelled) => {
                self.end(RunState::Cancelled);
                self.residue.clone_from(&cancelled.residue);
            }
            Body::RunRolledBack(rolled_back) => {
                self.end(RunState::RolledBack);
                self.residue.clone_from(&rolled_back.residue);
            }
            _ => {}
        }
    }

    /// Ends an unfinished run whose journal cannot be read any more.
    pub fn fail_damaged(&mut self, finding: &str) {
        if self.state.is_final() {
            return;
        }
        self.end(RunState::Failed);
        self.problem = Some(damage_problem(&self.run_id, finding));
        self.residue = vec![DAMAGED_RESIDUE.to_owned()];
    }

    /// Notes that a question was answered: nobody is asked again while the run takes it up.
    fn take_answer(&mut self, principal: &str, payload: &Value) {
        let answered = payload.get(ANSWERED_WAIT).and_then(Value::as_str);
        let gate = self.gate_terms();
        let asked = self.waiting_on.iter_mut().find(|(key, on)| {
            on.what == APPROVAL && Some(on.question.as_deref().unwrap_or(key)) == answered
        });
        match asked {
            Some((_, on)) => {
                let quorum = match on.terms.is_empty() {
                    true => gate.quorum,
                    false => on.terms.quorum,
                };
                on.answered |= decides(&mut on.approved_by, quorum, principal, payload);
            }
            None if self.state == RunState::Queued => {
                let given = &mut self.gate_approved_by;
                self.gate_answered |= decides(given, gate.quorum, principal, payload);
            }
            None => {}
        }
    }

    /// Why a driver has to take the run up although no driver executes it, right after `body` was
    /// folded in. Nothing while a driver executes it, while it waits for nothing but a signal, and
    /// when it has ended. A run that names what it holds must have it besides.
    pub fn due_after(&self, body: &Body) -> Due {
        let at = match self.state {
            RunState::Queued => Some(DUE_NEW),
            // It was released while it was about to be held.
            RunState::Held if self.cancel_requested => Some(DUE_NEW),
            RunState::Waiting => self.waiting_on.iter().filter_map(|(_, on)| on.until).min(),
            _ => None,
        };
        let is_idle = matches!(self.state, RunState::Waiting | RunState::Unwinding);
        Due {
            at,
            is_signalled: is_idle && matches!(body, Body::SignalReceived(_)),
        }
    }

    fn hear(&mut self, signal: &str) {
        self.cancel_requested |= signal == "cancel";
        self.state = match (self.state, signal) {
            (state, "rollback") if state.is_final() => RunState::Unwinding,
            // The next driver resumes it, even if none drives now.
            (RunState::Held, "cancel" | "resume") => RunState::Queued,
            (state, _) => state,
        };
    }

    fn wait(&mut self, key: &str, on: WaitingOn) {
        self.waiting_on.retain(|(existing, _)| existing != key);
        self.waiting_on.push((key.to_owned(), on));
        if self.state == RunState::Running {
            self.state = RunState::Waiting;
        }
    }

    fn wake(&mut self, key: &str) {
        self.waiting_on.retain(|(existing, _)| existing != key);
        if self.waiting_on.is_empty() && self.state == RunState::Waiting {
            self.state = RunState::Running;
        }
    }

    fn end(&mut self, state: RunState) {
        self.state = state;
        self.waiting_on.clear();
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn apply(record: &mut RunRecord, event_type: &str, payload: Value) {
        let body = Body::decode(event_type, &payload.into()).unwrap();
        assert!(body.is_some(), "{event_type}");
        record.apply(record.last_seq + 1, Timestamp::EPOCH, body.as_ref());
    }

    fn queued() -> RunRecord {
        let created = json!({
            "kind": "demo", "surface": "cli", "trace_id": "0".repeat(32), "input": {},
            "principal": { "kind": "local", "name": "ada", "scopes": ["*"] },
            "config_hash": "0".repeat(64), "title": "demo.apply /srv/x",
            "approval": { "state": "wanted", "approvers": ["local:ada"], "rule": "r" },
        });
        let created = Body::decode("run.created", &created.into()).unwrap();
        let Some(Body::RunCreated(created)) = created else {
            panic!("not a run");
        };
        RunRecord::created("run_1".parse().unwrap(), created, Timestamp::EPOCH)
    }

    #[test]
    fn an_approval_given_before_the_run_is_taken_up_is_not_asked_for_again() {
        let wait =
            |key: &str| json!({ "key": key, "signal": APPROVAL, "approvers": ["local:ada"] });
        for (is_answered, wanted) in [(true, false), (false, true)] {
            let mut run = queued();
            assert!(run.wanted_approval().is_some());
            if is_answered {
                let signal = json!({
                    "signal": APPROVAL,
                    "principal": { "kind": "local", "name": "ada", "scopes": ["*"] },
                    "payload": { "approved": true, ANSWERED_WAIT: GATE_WAIT },
                });
                apply(&mut run, "signal.received", signal);
            }
            let started = json!({ "epoch": 1, "attempt": 1 });
            apply(&mut run, "run.started", started);
            apply(&mut run, "wait.started", wait(GATE_WAIT));
            assert_eq!(run.wanted_approval().is_some(), wanted, "{is_answered}");
            // What the run asks later is another question.
            apply(
                &mut run,
                "wait.completed",
                json!({ "key": GATE_WAIT, "signal_seq": 2 }),
            );
            apply(&mut run, "wait.started", wait("later"));
            assert!(run.wanted_approval().is_some(), "{is_answered}");
        }
    }
}
