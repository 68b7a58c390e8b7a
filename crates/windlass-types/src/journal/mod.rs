//! What can happen to a run, as typed event bodies.
//!
//! The store keeps bodies as text under a type name; this is the one place that knows
//! which name carries which fields. Events a domain emits have the type `event.<name>`.
//! Fields are only ever added, with a default, so that old journals stay readable.
//! The fields are in the modules below, by what the events are about.

macro_rules! body_structs {
    ($($(#[$meta:meta])* $name:ident { $($(#[$field_meta:meta])* $field:ident: $ty:ty,)* })*) => {$(
        $(#[$meta])*
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
        pub struct $name {
            $($(#[$field_meta])* pub $field: $ty,)*
        }
    )*};
}

mod access;
mod report;
mod run;
mod step;
mod webhook;

use crate::Json;

pub use access::{
    AuditCall, AuditGap, AuditRead, AuditReads, KeyCreated, KeyRevoked, KeyUsed, TokenIssued,
};
pub use report::{LossAccepted, RunDamaged, TelemetryReported, TelemetryUpdated};
pub use run::{
    ApprovalGate, ChangeSubject, OnHeld, ParentRef, RunCancelled, RunCompleted, RunCreated,
    RunFailed, RunHeld, RunImported, RunRolledBack, RunStarted, RunUnwinding, UnwindReason,
};
pub use step::{
    ArtifactStored, ChildCompleted, ChildOutcome, ChildStarted, DomainEvent, SignalReceived,
    StepCompleted, StepFailed, StepStarted, TimerFired, TimerStarted, UndoCompleted, UndoFailed,
    WaitCompleted, WaitStarted,
};
pub use webhook::{
    DeliveryAttempted, DeliveryRequeued, DeliveryVerdict, EndpointDisabled, WebhookDelivery,
    WebhookEnqueued, WebhookSecretSet, WebhookSecretSettled,
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
    "audit.gap" => AuditGap;
    "store.loss_accepted" => LossAccepted;
    "store.run_damaged" => RunDamaged;
    "run.imported" => RunImported;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Digest;

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
