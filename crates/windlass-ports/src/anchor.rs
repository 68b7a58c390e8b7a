//! Places outside the home that keep what the history was.

use futures::future::BoxFuture;

/// Keeps lines in a place that the user of the home cannot rewrite.
pub trait AnchorSink: Send + Sync + 'static {
    /// The place, for a log.
    fn name(&self) -> String;

    /// Keeps one line.
    fn keep(&self, line: String) -> BoxFuture<'_, std::io::Result<()>>;
}
