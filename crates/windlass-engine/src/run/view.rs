//! Runs and events as the wire shows them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use windlass_types::{
    ApprovalTerms, Digest, Event, Json, Problem, RunId, RunRecord, RunState, Surface, Timestamp,
    TraceId, WaitingOn, journal::ApprovalGate,
};

use super::RunOrigin;
use crate::Engine;

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
    #[serde(flatten)]
    pub terms: ApprovalTerms,
    /// Who has approved so far, where several have to.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub approved_by: Vec<String>,
    /// Where it happened, if that was another home.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub imported: Option<ImportedView>,
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

/// A run that came from another home: history, which is never resumed, signalled or undone.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ImportedView {
    /// The public key that signed its export; absent when that was unsigned.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signed_by: Option<String>,
}

impl ImportedView {
    /// `imported, signed by ed25519:…`.
    pub fn text(&self) -> String {
        match &self.signed_by {
            Some(key) => format!("imported, signed by {key}"),
            None => "imported, unsigned".to_owned(),
        }
    }
}

impl Engine {
    /// A run as it is shown, with where it happened.
    pub async fn view(&self, record: RunRecord) -> Result<RunView, Problem> {
        // Only ended runs are imported.
        let imported = match record.state.is_final() {
            true => match self.origin(&record.run_id).await? {
                RunOrigin::Imported { signature } => Some(ImportedView {
                    signed_by: signature.map(|signature| signature.key),
                }),
                RunOrigin::Here { .. } => None,
            },
            false => None,
        };
        Ok(RunView {
            imported,
            ..RunView::from(record)
        })
    }
}

impl RunView {
    /// What to do next with a run in this state.
    pub fn next_actions(&self) -> Vec<String> {
        let id = &self.run_id;
        let asks = self.waiting_on.iter().any(|on| on.what == "approval")
            || (self.state == RunState::Queued && !self.terms.is_empty());
        if asks {
            return vec![
                format!("windlass runs approve {id}"),
                format!("windlass runs reject {id} --reason \"…\""),
            ];
        }
        if self.imported.is_some() {
            return vec![format!("windlass runs verify {id}")];
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
            .find(|(_, on)| !on.terms.is_empty() && !on.answered);
        let terms = match (asked, record.approval) {
            _ if record.gate_answered => ApprovalTerms::default(),
            (Some((_, on)), _) => on.terms.clone(),
            (None, Some(ApprovalGate::Wanted { terms, .. }))
                if matches!(record.state, RunState::Queued | RunState::Waiting) =>
            {
                terms
            }
            _ => ApprovalTerms::default(),
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
                Some(subject) if !terms.is_empty() => subject.lines,
                _ => Vec::new(),
            },
            terms,
            approved_by,
            imported: None,
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
