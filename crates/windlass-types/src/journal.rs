//! What can happen to a run, as typed event bodies.
//!
//! The store keeps bodies as text under a type name; this is the one place that knows
//! which name carries which fields. Events a domain emits have the type `event.<name>`.
//! Fields are only ever added, with a default, so that old journals stay readable.
//! Long because every event of the product is declared here, each with its fields.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{
    ArtifactRef, DeliveryId, Digest, EffectClass, Json, KeyId, Principal, Problem, RunId, Scope,
    Surface, Timestamp, TokenId, TraceId,
};

/// The journal of what befell the store itself.
pub const STORE_JOURNAL: &str = "sys_store";

/// The prefix of event types that domain code emits.
pub const DOMAIN_EVENT_PREFIX: &str = "event.";

macro_rules! bodies {
    ($($name:literal => $variant:ident;)*) => {
        /// The particulars of an event.
        #[derive(Clone, Debug, PartialEq)]
        #[expect(clippy::large_enum_variant, reason = "bodies live for one fold or one write; a box would cost every reader")]
        pub enum Body {
            $(
                #[doc = concat!("`", $name, "`")]
                $variant($variant),
            )*
            /// `event.<name>`: something domain code wanted to be known.
            Domain(String, DomainEvent),
        }

        impl Body {
            /// The type name and text to store.
            pub fn encode(&self) -> Result<(String, Json), serde_json::Error> {
                Ok(match self {
                    $(Self::$variant(body) => ($name.to_owned(), Json::of(body)?),)*
                    Self::Domain(name, body) => (format!("{DOMAIN_EVENT_PREFIX}{name}"), Json::of(body)?),
                })
            }

            /// Reads a stored body; `None` for a type this version does not know.
            pub fn decode(event_type: &str, payload: &Json) -> Result<Option<Self>, serde_json::Error> {
                Ok(Some(match event_type {
                    $($name => Self::$variant(payload.to()?),)*
                    other => match other.strip_prefix(DOMAIN_EVENT_PREFIX) {
                        Some(name) => Self::Domain(name.to_owned(), payload.to()?),
                        None => return Ok(None),
                    },
                }))
            }
        }

        $(
            impl From<$variant> for Body {
                fn from(body: $variant) -> Self {
                    Self::$variant(body)
                }
            }
        )*
    };
}

bodies! {
    "run.created" => RunCreated;
    "run.started" => RunStarted;
    "run.unwinding" => RunUnwinding;
    "run.completed" => RunCompleted;
    "run.failed" => RunFailed;
    "run.cancelled" => RunCancelled;
    "run.rolled_back" => RunRolledBack;
    "run.held" => RunHeld;
    "step.started" => StepStarted;
    "step.completed" => StepCompleted;
    "step.failed" => StepFailed;
    "undo.completed" => UndoCompleted;
    "undo.failed" => UndoFailed;
    "timer.started" => TimerStarted;
    "timer.fired" => TimerFired;
    "wait.started" => WaitStarted;
    "wait.completed" => WaitCompleted;
    "signal.received" => SignalReceived;
    "artifact.stored" => ArtifactStored;
    "child.started" => ChildStarted;
    "child.completed" => ChildCompleted;
    "webhook.enqueued" => WebhookEnqueued;
    "delivery.attempted" => DeliveryAttempted;
    "delivery.requeued" => DeliveryRequeued;
    "endpoint.disabled" => EndpointDisabled;
    "key.created" => KeyCreated;
    "key.revoked" => KeyRevoked;
    "key.used" => KeyUsed;
    "webhook.secret_set" => WebhookSecretSet;
    "webhook.secret_settled" => WebhookSecretSettled;
    "token.issued" => TokenIssued;
    "telemetry.reported" => TelemetryReported;
    "telemetry.updated" => TelemetryUpdated;
    "audit.call" => AuditCall;
    "audit.reads" => AuditReads;
    "store.loss_accepted" => LossAccepted;
    "run.imported" => RunImported;
}

macro_rules! body_structs {
    ($($(#[$meta:meta])* $name:ident { $($(#[$field_meta:meta])* $field:ident: $ty:ty,)* })*) => {$(
        $(#[$meta])*
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
        pub struct $name {
            $($(#[$field_meta])* pub $field: $ty,)*
        }
    )*};
}

body_structs! {
    /// A run came from another home. In a journal beside the run's own, which is stored as it came.
    RunImported {
        /// The run.
        run_id: RunId,
        /// The public key of the home that signed the export, and its signature.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        signed_by: Option<String>,
        /// The signature.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        signature: Option<String>,
    }
    /// Events that were acknowledged are gone, and the operator went on without them. Confirm tokens
    /// from before are void: which of them were used is not known.
    LossAccepted {
        /// What was missing.
        shortfall: String,
        /// Who decided.
        principal: Principal,
    }
    /// The first event of every run: all that is needed to execute it.
    RunCreated {
        /// Which code executes it.
        kind: String,
        /// Who asked.
        principal: Principal,
        /// Through which surface.
        surface: Surface,
        /// The run that started this one, and under which key.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        parent: Option<ParentRef>,
        /// The trace all its spans belong to.
        trace_id: TraceId,
        /// The caller's idempotency key.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        idempotency_key: Option<String>,
        /// The digest of kind and input, which the key is bound to.
        config_hash: Digest,
        /// What the run's code receives: the payload of the confirmed plan, or plain input.
        input: Value,
        /// The confirmed plan.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        plan_digest: Option<Digest>,
        /// The redeemed token; no other run can name it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        confirm_token: Option<TokenId>,
        /// Who approved where policy asked, or that an approval is still missing.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        approval: Option<ApprovalGate>,
        /// A short line for lists.
        #[serde(default)]
        title: String,
        /// What the gate admitted: the operation, what it touches, what its caller said.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        subject: Option<ChangeSubject>,
        /// What the run has for itself until it ends: one unfinished run per name.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        holds: Vec<String>,
        /// What happens where another run holds one of these names.
        #[serde(default, skip_serializing_if = "OnHeld::is_default")]
        on_held: OnHeld,
    }
    /// A process began (or, from the second time on, resumed) driving the run.
    RunStarted {
        /// The number of the driver: a later driver has a higher one.
        epoch: u64,
        /// How many times the run has been started, from 1.
        attempt: u32,
    }
    /// The run is undoing its effects, last one first.
    RunUnwinding {
        /// Why.
        reason: UnwindReason,
        /// The failure behind it, if one is.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        problem: Option<Problem>,
    }
    /// The run succeeded.
    RunCompleted {
        /// What it returned.
        output: Value,
    }
    /// The run failed; its effects were undone but for the residue.
    RunFailed {
        /// Why.
        problem: Problem,
        /// Steps whose effects remain.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        residue: Vec<String>,
    }
    /// The run was cancelled; its effects were undone but for the residue.
    RunCancelled {
        /// Steps whose effects remain.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        residue: Vec<String>,
    }
    /// A completed run was rolled back.
    RunRolledBack {
        /// Steps whose effects remain.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        residue: Vec<String>,
    }
    /// The run cannot continue with this version of the code; nothing was changed.
    RunHeld {
        /// Why.
        problem: Problem,
    }
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
        /// Who may answer an approval; whom policy names by default when empty.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        approvers: Vec<String>,
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
    /// A webhook is to be delivered.
    WebhookEnqueued {
        /// The key within the run.
        key: String,
        /// The delivery, whose id is the same on every attempt.
        delivery: WebhookDelivery,
    }
    /// A delivery was tried.
    DeliveryAttempted {
        /// The delivery.
        delivery_id: DeliveryId,
        /// Which try this was, from 1.
        attempt: u32,
        /// The answer's status, if there was an answer.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        status: Option<u16>,
        /// Why there was none, or the beginning of a refusing answer.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        error: Option<String>,
        /// How long it took.
        duration_ms: u64,
        /// What becomes of the delivery.
        verdict: DeliveryVerdict,
        /// The address that was connected to, or would have been.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        address: Option<String>,
        /// The beginning of what the receiver said.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        answer: Option<String>,
    }
    /// Another round of attempts was requested.
    DeliveryRequeued {
        /// The delivery.
        delivery_id: DeliveryId,
        /// Who asked.
        principal: Principal,
        /// When it is due.
        due_at: Timestamp,
    }
    /// A receiver said that it is gone.
    EndpointDisabled {
        /// Its address.
        url: String,
        /// The name of the secret that signs its deliveries: it is gone for the owner of
        /// that secret. Without one it is gone for everyone.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        owner: Option<String>,
    }
    /// An API key was made; the secret itself is never stored.
    KeyCreated {
        /// The public part.
        key_id: KeyId,
        /// What people call it.
        name: String,
        /// The digest of the secret part.
        secret_hash: Digest,
        /// Which limits apply.
        tier: String,
        /// What it may touch.
        scopes: Vec<Scope>,
        /// When it stops working.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        expires_at: Option<Timestamp>,
        /// Who made it.
        principal: Principal,
    }
    /// An API key stopped working.
    KeyRevoked {
        /// The key.
        key_id: KeyId,
        /// Who revoked it.
        principal: Principal,
    }
    /// An API key opened the door. Not recorded for every call.
    KeyUsed {
        /// The key.
        key_id: KeyId,
    }
    /// An owner's webhooks are signed with a new secret from now on.
    WebhookSecretSet {
        /// Whose: `local`, or the id of a key's principal.
        owner: String,
        /// The secret, encrypted.
        sealed: String,
        /// Until when the secret before it signs as well.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        previous_until: Option<Timestamp>,
        /// Who made it.
        principal: Principal,
    }
    /// The secret before the present one signs no more.
    WebhookSecretSettled {
        /// Whose.
        owner: String,
        /// Who said so.
        principal: Principal,
    }
    /// A confirm token that says nothing by itself was handed out.
    TokenIssued {
        /// The digest of the token; the token itself is kept nowhere.
        token_hash: Digest,
        /// Who may redeem it.
        principal: String,
        /// The operation it is for.
        operation: String,
        /// The plan it confirms.
        plan_digest: Digest,
        /// What the plan touches.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        targets: Vec<String>,
        /// When it stops working.
        expires_at: Timestamp,
        /// What the operation wants to find again when the token comes back.
        #[serde(default)]
        note: Value,
    }
    /// A client reported a run that happened elsewhere.
    TelemetryReported {
        /// Who reported it.
        principal: String,
        /// The run, as reported.
        run: Value,
    }
    /// What was reported about such a run has changed.
    TelemetryUpdated {
        /// Who said so.
        principal: String,
        /// Who reported the run; event ids are unique per reporter.
        reported_by: String,
        /// The event id it was reported with.
        event_id: String,
        /// The fields that are different now.
        changes: Value,
    }
    /// An operation was called.
    AuditCall {
        /// Who called.
        principal: String,
        /// Through which surface.
        surface: Surface,
        /// Which operation.
        operation: String,
        /// The digest of the input.
        input_hash: Digest,
        /// `OK` or an error code.
        outcome: String,
        /// The policy decision and the rule behind it.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        decision: String,
        /// The run it started or touched.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        run_id: Option<RunId>,
        /// How long it took.
        duration_us: u64,
    }
    /// Read-only calls that were answered between two flushes, in the order they ended.
    AuditReads {
        /// The calls.
        calls: Vec<AuditRead>,
    }
    /// One of them.
    AuditRead {
        /// When it ended.
        time: Timestamp,
        /// The call.
        #[serde(flatten)]
        call: AuditCall,
    }
    /// A change, as the gate sees it.
    ChangeSubject {
        /// The operation.
        operation: String,
        /// What it touches; empty where the plan is not known yet.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        targets: Vec<String>,
        /// What it does.
        effect: EffectClass,
        /// The lines of the plan that an approver is shown.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        lines: Vec<String>,
        /// Whether the caller said yes to exactly this.
        #[serde(default)]
        yes: bool,
    }
    /// Something a domain emitted.
    DomainEvent {
        /// The key within the run.
        key: String,
        /// The content.
        data: Value,
    }
    /// The run that started another.
    ParentRef {
        /// The parent.
        run_id: RunId,
        /// The key of the child call in the parent.
        key: String,
    }
    /// A webhook to be delivered.
    WebhookDelivery {
        /// The stable id.
        id: DeliveryId,
        /// Where to.
        url: String,
        /// The event's name, e.g. `pipeline.completed`.
        event: String,
        /// The exact body; these bytes are signed.
        body: String,
        /// The name of the signing secret in the secret store.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        secret_name: Option<String>,
    }
}

/// What becomes of a new run while another one holds what it names.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OnHeld {
    /// It is not created.
    #[default]
    Refuse,
    /// It is created and begins once the names are free, in the order of creation.
    Wait,
}

impl OnHeld {
    #[expect(
        clippy::trivially_copy_pass_by_ref,
        reason = "serde passes a reference"
    )]
    fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

/// Why a run undoes its effects.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum UnwindReason {
    /// A step failed.
    Failed,
    /// A caller cancelled it.
    Cancelled,
    /// A caller rolled back a completed run.
    Rollback,
}

/// How policy's question was answered when the run was created.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum ApprovalGate {
    /// The caller, who may approve, said yes.
    Given {
        /// Who.
        by: Principal,
        /// The plan they said yes to.
        plan_digest: Digest,
    },
    /// The run waits for one of these.
    Wanted {
        /// Principals or scopes named by policy.
        approvers: Vec<String>,
        /// The rule that asked.
        rule: String,
    },
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

/// What becomes of a delivery after an attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum DeliveryVerdict {
    /// The receiver has it.
    Delivered,
    /// It is tried again.
    Retry {
        /// When.
        due_at: Timestamp,
    },
    /// It is given up: the schedule is over, or the receiver is gone.
    Dead,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bodies_survive_the_store() {
        let bodies = [
            Body::from(StepCompleted {
                key: "write".into(),
                input_hash: Digest::ZERO,
                output: serde_json::json!({"ok": true}),
                undoable: true,
                effect: Some("a.txt".into()),
            }),
            Body::from(RunCancelled { residue: vec![] }),
            Body::Domain(
                "progress".into(),
                DomainEvent {
                    key: "progress".into(),
                    data: serde_json::json!({"pct": 5}),
                },
            ),
        ];
        for body in bodies {
            let (event_type, payload) = body.encode().unwrap();
            assert_eq!(Body::decode(&event_type, &payload).unwrap(), Some(body));
        }
    }

    #[test]
    fn unknown_types_are_none_and_broken_known_types_are_errors() {
        let payload = Json::from(serde_json::json!({"x": 1}));
        assert_eq!(Body::decode("future.thing", &payload).unwrap(), None);
        assert!(Body::decode("step.completed", &payload).is_err());
    }
}
