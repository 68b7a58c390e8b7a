//! What Windlass says about itself: log lines, spans and metrics.
//!
//! Logs go to standard error only, because standard output carries data. Spans are
//! exported over OTLP/HTTP when a collector is configured and cost nothing otherwise. All
//! text passes the redaction function the binary hands in. Metrics are numbers in memory,
//! rendered as Prometheus text by the HTTP surface. Not the journal: what must survive is
//! an event of a run (windlass-engine).

#[cfg(feature = "otlp")]
mod export;
#[cfg(not(feature = "otlp"))]
#[path = "no_export.rs"]
mod export;
mod ids;
mod init;
pub mod metrics;
mod span;

pub use init::{Guard, InitError, Options, Otlp, Redact, init};
pub use metrics::Metrics;
pub use span::{run_span, step_span};
