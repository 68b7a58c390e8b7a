//! A refusal on its way to a service that speaks a protocol of its own.

use serde_json::Value;

/// What a caller is told instead of being served. A surface in front of another leaves it in a
/// request's extensions, so that the one behind can say it in its own protocol.
#[derive(Clone, Debug)]
pub struct Declined {
    /// For people.
    pub message: String,
    /// The failure in its envelope, for callers whose protocol cannot be followed that far.
    pub body: Value,
}
