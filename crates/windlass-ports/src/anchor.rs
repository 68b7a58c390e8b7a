//! Places outside the home that keep what the history was.

use futures::future::BoxFuture;
use serde::{Deserialize, Serialize};
use windlass_types::Timestamp;

/// Keeps lines in a place that the user of the home cannot rewrite.
pub trait AnchorSink: Send + Sync + 'static {
    /// The place, for a log.
    fn name(&self) -> String;

    /// Keeps one line.
    fn keep(&self, line: String) -> BoxFuture<'_, std::io::Result<()>>;
}

/// How a place outside the home took the last anchor that was sent there.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AnchorState {
    /// The place.
    pub place: String,
    /// When it last kept one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kept_at: Option<Timestamp>,
    /// Since when it keeps none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failing_since: Option<Timestamp>,
    /// Why it did not keep the last one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}
