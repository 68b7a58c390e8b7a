//! Runs and events as the wire shows them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use windlass_types::{
    Digest, Event, Json, Problem, RunId, RunRecord, RunState, Surface, Timestamp, TraceId,
    WaitingOn, journal::ApprovalGate,
};

/// A run, as shown.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct RunView {
    /// The run.
    pub run_id: RunId,
    /// Its kind.
    pub kind: String,
    /// Where it stands.
    pub state: RunState,
    /// A short line.
    pub title: String,
    /// Who asked.
    pub principal: String,
    /// Through which surface.
    pub surface: Surface,
    /// The run that started it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<RunId>,
    /// The trace.
    pub trace_id: TraceId,
    /// The caller's idempotency key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idempotency_key: Option<String>,
    /// The confirmed plan.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plan_digest: Option<Digest>,
    /// What it waits for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub waiting_on: Vec<WaitingOn>,
    /// The operation it carries out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub operation: Option<String>,
    /// What it touches.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub targets: Vec<String>,
    /// The lines of its plan, where an approver has to see them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub plan_lines: Vec<String>,
    /// Who policy wants to be asked, as long as nobody has answered.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub approvers: Vec<String>,
    /// Who has approved so far, where several have to.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub approved_by: Vec<String>,
    /// Whether its cancellation was requested.
    #[serde(default)]
    pub cancel_requested: bool,
    /// What it returned.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<Value>,
    /// Why it failed or is held.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub problem: Option<Problem>,
    /// Steps whose effects remain after unwinding.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub residue: Vec<String>,
    /// How often it was started; more than one means that it was resumed.
    pub attempts: u32,
    /// When it was created.
    pub created_at: Timestamp,
    /// When its last event happened.
    pub updated_at: Timestamp,
    /// The place of its last event; a cursor for watching.
    pub last_seq: u64,
}

impl RunView {
    /// What to do next with a run in this state.
    pub fn next_actions(&self) -> Vec<String> {
        let id = &self.run_id;
        let asks = self.waiting_on.iter().any(|on| on.what == "approval")
            || (self.state == RunState::Queued && !self.approvers.is_empty());
        if asks {
            return vec![
                format!("windlass runs approve {id}"),
                format!("windlass runs reject {id} --reason \"…\""),
            ];
        }
        match self.state {
            RunState::Queued | RunState::Running | RunState::Waiting | RunState::Unwinding => {
                vec![format!("windlass runs watch {id}")]
            }
            RunState::Held => vec![
                format!("windlass runs show {id}"),
                format!("windlass runs cancel {id}"),
            ],
            RunState::Failed | RunState::Cancelled | RunState::RolledBack
                if self.residue.is_empty() =>
            {
                vec![format!("windlass runs show {id}")]
            }
            RunState::Completed | RunState::Failed | RunState::Cancelled | RunState::RolledBack => {
                vec![
                    format!("windlass runs show {id}"),
                    format!("windlass runs rollback {id}"),
                ]
            }
        }
    }
}

impl From<RunRecord> for RunView {
    fn from(record: RunRecord) -> Self {
        let approved_by = record.approved_by().to_vec();
        let asked = record
            .waiting_on
            .iter()
            .find(|(_, on)| !on.approvers.is_empty() && !on.answered);
        let approvers = match (asked, record.approval) {
            _ if record.gate_answered => Vec::new(),
            (Some((_, on)), _) => on.approvers.clone(),
            (None, Some(ApprovalGate::Wanted { approvers, .. }))
                if matches!(record.state, RunState::Queued | RunState::Waiting) =>
            {
                approvers
            }
            _ => Vec::new(),
        };
        let subject = record.subject;
        Self {
            run_id: record.run_id,
            kind: record.kind,
            state: record.state,
            title: record.title,
            principal: record.principal.id(),
            surface: record.surface,
            parent: record.parent.map(|parent| parent.run_id),
            trace_id: record.trace_id,
            idempotency_key: record.idempotency_key,
            plan_digest: record.plan_digest,
            waiting_on: record.waiting_on.into_iter().map(|(_, on)| on).collect(),
            operation: subject.as_ref().map(|subject| subject.operation.clone()),
            targets: subject
                .as_ref()
                .map(|subject| subject.targets.clone())
                .unwrap_or_default(),
            plan_lines: match subject {
                Some(subject) if !approvers.is_empty() => subject.lines,
                _ => Vec::new(),
            },
            approvers,
            approved_by,
            cancel_requested: record.cancel_requested,
            output: record.output,
            problem: record.problem,
            residue: record.residue,
            attempts: record.attempts,
            created_at: record.created_at,
            updated_at: record.updated_at,
            last_seq: record.last_seq,
        }
    }
}

/// An event, as shown: without the hashes, which `verify` and `export` are for.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct EventView {
    /// The place in the journal; pass it as the cursor to go on from here.
    pub seq: u64,
    /// When it happened.
    pub time: Timestamp,
    /// What happened.
    #[serde(rename = "type")]
    pub event_type: String,
    /// The particulars.
    pub payload: Json,
}

impl From<Event> for EventView {
    fn from(event: Event) -> Self {
        Self {
            seq: event.seq,
            time: event.time,
            event_type: event.event_type,
            payload: event.payload,
        }
    }
}
