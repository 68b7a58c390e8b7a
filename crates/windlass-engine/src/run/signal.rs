//! Steering a run: approve, reject, cancel, roll back, or a domain's own signal.
//!
//! A signal is an event in the run's journal, written by its sender. The driver notices
//! and acts; the sender needs no driver.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use windlass_policy::may_approve;
use windlass_ports::{CommitError, Expect};
use windlass_types::{
    ApprovalTerms, Body, Digest, Principal, Problem, RunId, RunRecord, RunState, SpanId, code,
    event::SpanIds,
    journal::{DomainEvent, SignalReceived},
    run::has_approved,
};

use crate::{Engine, engine::commit_problem};

/// A person's answer to an approval.
pub const SIGNAL_APPROVAL: &str = windlass_types::APPROVAL;
/// A request to stop and undo.
pub const SIGNAL_CANCEL: &str = "cancel";
/// A request to undo a completed run.
pub const SIGNAL_ROLLBACK: &str = "rollback";

pub(crate) use windlass_types::{ANSWERED_WAIT, GATE_WAIT};

/// A person's answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ApprovalDecision {
    /// Yes or no.
    pub approved: bool,
    /// The plan the answer is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plan_digest: Option<Digest>,
    /// Why.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

const ACTIVE: [RunState; 3] = [RunState::Queued, RunState::Running, RunState::Waiting];

impl Engine {
    /// Answers the approval a run waits for.
    pub async fn answer_approval(
        &self,
        principal: &Principal,
        run_id: &RunId,
        decision: ApprovalDecision,
    ) -> Result<(), Problem> {
        let record = self.visible_run(principal, run_id).await?;
        let wanted = wanted_approval(&record, self.policy.approvers()).ok_or_else(|| {
            Problem::new(
                &code::ILLEGAL_STATE,
                format!(
                    "run {run_id} does not wait for an approval: it is {}",
                    record.state.as_str()
                ),
            )
            .with("run_id", run_id.as_str())
            .with("state", record.state.as_str())
            .next(format!("windlass runs show {run_id}"))
        })?;
        if !may_approve(principal, &wanted.terms) {
            let why = if wanted.terms.excludes(&principal.id()) {
                ": it is its own request, and policy wants another approver"
            } else {
                ""
            };
            return Err(Problem::new(
                &code::FORBIDDEN,
                format!("{principal} may not answer approvals of run {run_id}{why}"),
            )
            .with("required_scopes", json!(["approve"]))
            .with_approval(&wanted.terms));
        }
        let terms = &wanted.terms;
        let has_approved = has_approved(record.approved_by(), &principal.id());
        if decision.approved && terms.quorum > 1 && has_approved {
            let given = record.approved_by().len();
            let message = format!(
                "{principal} has approved run {run_id} already: {}; another approver has to",
                terms.progress(given).unwrap_or_default()
            );
            return Err(Problem::new(&code::ILLEGAL_STATE, message)
                .with("run_id", run_id.as_str())
                .with_approval(terms));
        }
        if let (Some(wanted), Some(named)) = (wanted.plan_digest, decision.plan_digest)
            && wanted != named
        {
            return Err(Problem::new(
                &code::CONFIRM_TOKEN_MISMATCH,
                format!("run {run_id} waits for an approval of another plan"),
            )
            .with("reason_code", "plan_changed")
            .with("wanted_plan_digest", wanted.to_string()));
        }
        let decision = ApprovalDecision {
            plan_digest: wanted.plan_digest,
            ..decision
        };
        let mut payload =
            serde_json::to_value(decision).map_err(|error| Problem::internal("approval", error))?;
        payload[ANSWERED_WAIT] = Value::from(wanted.wait);
        self.signal(principal, run_id, SIGNAL_APPROVAL, payload, ACTIVE.to_vec())
            .await
    }

    /// Asks a run to stop and undo what it did.
    pub async fn cancel(
        &self,
        principal: &Principal,
        run_id: &RunId,
        reason: Option<&str>,
    ) -> Result<(), Problem> {
        self.visible_run(principal, run_id).await?;
        let states = ACTIVE.into_iter().chain([RunState::Held]).collect();
        self.signal(
            principal,
            run_id,
            SIGNAL_CANCEL,
            json!({ "reason": reason }),
            states,
        )
        .await
    }

    /// Lets a held run try again, for instance after an upgrade. Unfinished runs need no such
    /// word: the driver resumes them.
    pub async fn resume(
        &self,
        principal: &Principal,
        run_id: &RunId,
    ) -> Result<RunRecord, Problem> {
        let record = self.visible_run(principal, run_id).await?;
        if record.state == RunState::Held {
            self.signal(
                principal,
                run_id,
                "resume",
                Value::Null,
                vec![RunState::Held],
            )
            .await?;
        } else if record.state.is_final() {
            return Err(Problem::new(
                &code::ILLEGAL_STATE,
                format!(
                    "run {run_id} is {}; there is nothing to resume",
                    record.state.as_str()
                ),
            )
            .with("run_id", run_id.as_str())
            .with("state", record.state.as_str()));
        }
        Ok(record)
    }

    /// Asks for a completed run to be undone, or for what remains of one that could not be undone
    /// wholly. Harmless when it has been asked before.
    pub async fn request_rollback(
        &self,
        principal: &Principal,
        run_id: &RunId,
        plan_digest: Option<Digest>,
    ) -> Result<(), Problem> {
        let record = self.visible_run(principal, run_id).await?;
        let states = match record.state {
            RunState::Unwinding => return Ok(()),
            RunState::RolledBack if record.residue.is_empty() => return Ok(()),
            state if can_roll_back(&record) => vec![state],
            _ => vec![RunState::Completed],
        };
        let payload = json!({ "plan_digest": plan_digest });
        self.signal(principal, run_id, SIGNAL_ROLLBACK, payload, states)
            .await
    }

    /// Puts events on a run's record from outside of it: what was asked of the run, which its own
    /// code does not see. Each key must be new.
    pub async fn note(
        &self,
        run_id: &RunId,
        span_id: SpanId,
        events: Vec<(String, DomainEvent)>,
    ) -> Result<(), Problem> {
        let bodies = events
            .into_iter()
            .map(|(name, event)| {
                let data = self.redactor.redact_value(event.data);
                Body::Domain(name, DomainEvent { data, ..event })
            })
            .collect();
        let spans = SpanIds {
            span_id,
            parent_span_id: None,
        };
        self.append(run_id, Expect::Any, bodies, spans, None)
            .await
            .map(drop)
            .map_err(commit_problem)
    }

    /// Tells a run something it may be waiting for.
    pub async fn send_signal(
        &self,
        principal: &Principal,
        run_id: &RunId,
        signal: &str,
        payload: Value,
    ) -> Result<(), Problem> {
        self.visible_run(principal, run_id).await?;
        if [SIGNAL_APPROVAL, SIGNAL_CANCEL, SIGNAL_ROLLBACK].contains(&signal) {
            return Err(Problem::invalid(
                "signal",
                "reserved",
                format!("{signal:?} has an operation of its own"),
            ));
        }
        self.signal(principal, run_id, signal, payload, ACTIVE.to_vec())
            .await
    }

    async fn signal(
        &self,
        principal: &Principal,
        run_id: &RunId,
        signal: &str,
        payload: Value,
        states: Vec<RunState>,
    ) -> Result<(), Problem> {
        let received = SignalReceived {
            signal: signal.to_owned(),
            principal: principal.clone(),
            payload,
        };
        let sent = self.append_signal(run_id, received, states).await;
        sent.map_err(commit_problem)
    }

    async fn append_signal(
        &self,
        run_id: &RunId,
        received: SignalReceived,
        states: Vec<RunState>,
    ) -> Result<(), CommitError> {
        let spans = SpanIds {
            span_id: self.new_span(),
            parent_span_id: None,
        };
        let bodies = vec![received.into()];
        self.append(run_id, Expect::State(states), bodies, spans, None)
            .await
            .map(drop)
    }

    /// Asks for a completed run to be undone because the run that called for it is.
    pub(crate) async fn request_rollback_of(&self, run_id: &RunId) -> Result<(), Problem> {
        self.tell(run_id, SIGNAL_ROLLBACK, vec![RunState::Completed])
            .await
    }

    /// Asks a run to stop because the run that called for it does.
    pub(crate) async fn request_cancel_of(&self, run_id: &RunId) -> Result<(), Problem> {
        self.tell(run_id, SIGNAL_CANCEL, ACTIVE.to_vec()).await
    }

    /// A run that has just moved on is not told; the caller looks at it again.
    async fn tell(
        &self,
        run_id: &RunId,
        signal: &str,
        states: Vec<RunState>,
    ) -> Result<(), Problem> {
        match self.signal_child(run_id, signal, states).await {
            Ok(()) | Err(CommitError::Unexpected { .. }) => Ok(()),
            Err(error) => Err(commit_problem(error)),
        }
    }

    /// A signal from the engine itself, to a child run.
    pub(crate) async fn signal_child(
        &self,
        run_id: &RunId,
        signal: &str,
        states: Vec<RunState>,
    ) -> Result<(), CommitError> {
        let received = SignalReceived {
            signal: signal.to_owned(),
            principal: Principal::system(),
            payload: json!({ "reason": "parent" }),
        };
        self.append_signal(run_id, received, states).await
    }

    /// Whether a principal may see a run.
    pub fn may_see(&self, principal: &Principal, record: &RunRecord) -> bool {
        principal.sees_all_runs()
            || record.principal.id() == principal.id()
            || wanted_approval(record, self.policy.approvers())
                .is_some_and(|wanted| may_approve(principal, &wanted.terms))
    }

    /// A run's record, if the principal may see it: its own, any for the owner of the home, and
    /// one that waits for an approval for those who may give it. Others are told that it does not
    /// exist.
    pub async fn visible_run(
        &self,
        principal: &Principal,
        run_id: &RunId,
    ) -> Result<RunRecord, Problem> {
        self.store
            .run(run_id)
            .await?
            .filter(|record| self.may_see(principal, record))
            .ok_or_else(|| {
                Problem::new(&code::RUN_NOT_FOUND, format!("no run {run_id}"))
                    .with("run_id", run_id.as_str())
                    .next("windlass runs list")
            })
    }
}

struct WantedApproval {
    wait: String,
    terms: ApprovalTerms,
    plan_digest: Option<Digest>,
}

/// The approval a run waits for: the gate before its start, or one its code asked for.
fn wanted_approval(record: &RunRecord, default_approvers: &[String]) -> Option<WantedApproval> {
    let asked = record
        .waiting_on
        .iter()
        .find(|(_, on)| on.what == SIGNAL_APPROVAL && !on.answered);
    let wanted = record.wanted_approval()?;
    let terms = match wanted.is_empty() {
        true => ApprovalTerms::by(default_approvers),
        false => wanted,
    };
    match asked {
        Some((key, on)) => Some(WantedApproval {
            wait: on.question.clone().unwrap_or_else(|| key.clone()),
            terms,
            plan_digest: on.plan_digest,
        }),
        None => Some(WantedApproval {
            wait: GATE_WAIT.to_owned(),
            terms,
            plan_digest: record.plan_digest,
        }),
    }
}

/// Whether there is something of the run to take back: it has completed, or an earlier undo left
/// residue.
pub fn can_roll_back(record: &RunRecord) -> bool {
    match record.state {
        RunState::Completed => true,
        RunState::Failed | RunState::Cancelled | RunState::RolledBack => !record.residue.is_empty(),
        _ => false,
    }
}
