//! Keys, confirm tokens and calls: who was let in, and what they did.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{Digest, KeyId, Principal, RunId, Scope, Surface, Timestamp};

body_structs! {
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
    /// Read-only calls that were answered in a short time.
    AuditReads {
        /// The calls: one entry for all of a caller, a surface, an operation and an outcome.
        calls: Vec<AuditRead>,
    }
    /// Some of them.
    AuditRead {
        /// When the last ended.
        time: Timestamp,
        /// When the first ended, if there were several.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        first: Option<Timestamp>,
        /// How many there were, if there were several.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        count: Option<u64>,
        /// The last of them.
        #[serde(flatten)]
        call: AuditCall,
    }
    /// Calls were answered that are not on record: the store did not take their entries.
    AuditGap {
        /// How many.
        missed: u64,
        /// When the first of them ended.
        since: Timestamp,
    }
}
