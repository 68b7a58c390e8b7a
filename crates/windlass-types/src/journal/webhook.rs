//! Webhooks: deliveries, endpoints and signing secrets.

use serde::{Deserialize, Serialize};

use crate::{DeliveryId, Principal, Timestamp};

body_structs! {
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
