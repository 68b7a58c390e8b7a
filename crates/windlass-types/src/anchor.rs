//! How far the history of a store went at some moment, for a place that its user cannot rewrite.

use serde::{Deserialize, Serialize};

use crate::{Digest, Timestamp};

/// One line of an anchor file, one message to a syslog, one body of a webhook.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Anchor {
    /// When it was taken.
    pub time: Timestamp,
    /// The place of the newest event.
    pub position: u64,
    /// The hash of that event; zero where prune has removed it.
    pub hash: Digest,
    /// How many events were ever written.
    pub events: u64,
    /// How many of them prune has removed.
    pub pruned: u64,
    /// The sum of their keyed hashes. Says nothing without the key `keys/store.key`.
    pub sum: Digest,
}
