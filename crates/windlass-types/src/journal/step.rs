//! What happens inside a run: steps, undo, timers, waits, signals, artifacts, children.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{ApprovalTerms, ArtifactRef, Digest, Principal, Problem, RunId, Timestamp};

body_structs! {
    /// Intent: an effect is about to happen.
    StepStarted {
        /// The step's key within the run.
        key: String,
        /// The digest of its input, checked on replay.
        input_hash: Digest,
        /// The key the outside world may use to recognise a repetition.
        idempotency_key: String,
        /// Which try this is, from 1.
        attempt: u32,
        /// Whether it only costs: begun and never ended, it left nothing behind.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        paid: bool,
    }
    /// Outcome: the step's result, returned as it is on replay.
    StepCompleted {
        /// The step's key.
        key: String,
        /// The digest of its input.
        input_hash: Digest,
        /// The result.
        output: Value,
        /// Whether an undo belongs to it.
        #[serde(default)]
        undoable: bool,
        /// What undoing would act on, for rollback plans.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        effect: Option<String>,
    }
    /// An attempt of a step failed.
    StepFailed {
        /// The step's key.
        key: String,
        /// The digest of its input.
        input_hash: Digest,
        /// Why.
        problem: Problem,
        /// Which try this was.
        attempt: u32,
        /// When it is tried again; absent when it is not.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        retry_at: Option<Timestamp>,
    }
    /// A step's effect was undone.
    UndoCompleted {
        /// The step's key.
        key: String,
    }
    /// A step's effect could not be undone.
    UndoFailed {
        /// The step's key.
        key: String,
        /// Why.
        problem: Problem,
    }
    /// The run sleeps.
    TimerStarted {
        /// The timer's key.
        key: String,
        /// Until when.
        fire_at: Timestamp,
    }
    /// The run woke.
    TimerFired {
        /// The timer's key.
        key: String,
    }
    /// The run waits for a signal.
    WaitStarted {
        /// The wait's key.
        key: String,
        /// The signal it waits for.
        signal: String,
        /// Another signal that ends the wait as well.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        also: Option<String>,
        /// What an approval must name to answer it, where that is not the wait itself.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        question: Option<String>,
        /// What a person is asked.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        prompt: Option<String>,
        /// The plan an approval must name.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        plan_digest: Option<Digest>,
        /// Who may answer an approval.
        #[serde(flatten)]
        terms: ApprovalTerms,
        /// The lines of the plan that an approver is shown.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        lines: Vec<String>,
        /// When it stops waiting.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        deadline: Option<Timestamp>,
    }
    /// The wait is over.
    WaitCompleted {
        /// The wait's key.
        key: String,
        /// The place of the signal in this journal; absent when the deadline passed.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        signal_seq: Option<u64>,
    }
    /// The run received a signal: `approval`, `cancel`, `rollback`, or a domain's own.
    SignalReceived {
        /// The signal's name.
        signal: String,
        /// Who sent it.
        principal: Principal,
        /// What they said.
        #[serde(default)]
        payload: Value,
    }
    /// Bytes were kept.
    ArtifactStored {
        /// The key within the run.
        key: String,
        /// The artifact.
        artifact: ArtifactRef,
    }
    /// A child run was created.
    ChildStarted {
        /// The key within the run.
        key: String,
        /// The child.
        run_id: RunId,
        /// Its kind.
        kind: String,
    }
    /// A child run ended.
    ChildCompleted {
        /// The key within the run.
        key: String,
        /// The child.
        run_id: RunId,
        /// What it returned, or why it failed.
        outcome: ChildOutcome,
    }
    /// Something a domain emitted.
    DomainEvent {
        /// The key within the run.
        key: String,
        /// The content.
        data: Value,
    }
}

/// How a child ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum ChildOutcome {
    /// Well.
    Completed {
        /// What it returned.
        output: Value,
    },
    /// Badly.
    Failed {
        /// Why.
        problem: Problem,
    },
}
