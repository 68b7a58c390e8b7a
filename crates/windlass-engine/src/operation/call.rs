//! One call of an operation: who asks, through what, and what they get.

use std::path::PathBuf;

use serde_json::Value;
use tokio::sync::watch;
use windlass_types::{Digest, Principal, RunId, SpanId, Surface, TraceId};

/// Who calls, and how.
#[derive(Clone, Debug)]
pub struct CallContext {
    /// The caller.
    pub principal: Principal,
    /// The surface the call came through.
    pub surface: Surface,
    /// An id that ties logs, errors and the audit entry together.
    pub request_id: String,
    /// The directory the caller works in, where it has one: the shell's, or the one a server
    /// was started for.
    pub directory: Option<PathBuf>,
    /// What else the caller brings or can take.
    pub terms: Terms,
}

/// What a caller may bring beside its input, and what it can take beside an answer.
#[derive(Clone, Debug, Default)]
pub struct Terms {
    /// The trace the call is part of.
    pub trace: Option<TraceParent>,
    /// Whether the caller can come back for the answer of something that takes long.
    pub may_defer: bool,
    /// Who hears of the run that the call starts.
    pub listener: Option<RunListener>,
}

/// Hears of the run that a call starts, as soon as there is one: a surface that waits for the
/// answer tells its client meanwhile how far the run is.
#[derive(Clone, Debug)]
pub struct RunListener(watch::Sender<Option<RunId>>);

impl Default for RunListener {
    fn default() -> Self {
        Self(watch::Sender::new(None))
    }
}

impl RunListener {
    /// Tells; also of a run that was found instead of started.
    pub fn tell(&self, run_id: &RunId) {
        self.0.send_replace(Some(run_id.clone()));
    }

    /// The first run that was started.
    pub async fn started(&self) -> Option<RunId> {
        let mut heard = self.0.subscribe();
        let run = heard.wait_for(Option::is_some).await.ok()?;
        run.clone()
    }
}

/// A place in somebody else's trace, as W3C `traceparent` says it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TraceParent {
    /// The trace.
    pub trace_id: TraceId,
    /// The span that calls.
    pub span_id: SpanId,
}

impl TraceParent {
    /// Reads a `traceparent`; anything but a well-formed one is not a trace.
    pub fn parse(text: &str) -> Option<Self> {
        let mut parts = text.trim().split('-');
        let (version, trace, span) = (parts.next()?, parts.next()?, parts.next()?);
        let flags = parts.next()?;
        let sound = version.len() == 2
            && version != "ff"
            && flags.len() == 2
            && (version != "00" || parts.next().is_none());
        let parent = Self {
            trace_id: trace.parse().ok()?,
            span_id: span.parse().ok()?,
        };
        let is_set = parent.trace_id != TraceId::default() && parent.span_id != SpanId::default();
        (sound && is_set).then_some(parent)
    }
}

impl CallContext {
    /// The span of this call: the same for whoever knows the request.
    pub fn span_id(&self) -> SpanId {
        let digest = Digest::of(self.request_id.as_bytes());
        let mut bytes = [0; 8];
        bytes.copy_from_slice(&digest.as_bytes()[..8]);
        SpanId::from_bytes(bytes)
    }
}

/// A call.
#[derive(Clone, Debug)]
pub struct CallRequest {
    /// The operation's name or its tool name.
    pub operation: String,
    /// The input.
    pub input: Value,
    /// Who calls, and how.
    pub context: CallContext,
}

/// The operation that a call of another one means.
#[derive(Clone, Debug, PartialEq)]
pub struct Delegated {
    /// Its name.
    pub operation: String,
    /// Its input.
    pub input: Value,
}

/// What an operation gives back.
#[derive(Clone, Debug)]
pub struct Answer {
    /// The output, before the envelope.
    pub output: Value,
    /// The run it started or touched; surfaces follow it for progress and tasks.
    pub run_id: Option<RunId>,
    /// Where there is no output yet: what to come back with, see `Operation::settled`.
    pub ticket: Option<String>,
}

impl Answer {
    /// An answer with no run behind it.
    pub const fn plain(output: Value) -> Self {
        Self {
            output,
            run_id: None,
            ticket: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_well_formed_traceparent_is_one() {
        let good = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
        let read = TraceParent::parse(good).unwrap();
        assert_eq!(
            read.trace_id.to_string(),
            "4bf92f3577b34da6a3ce929d0e0e4736"
        );
        assert_eq!(read.span_id.to_string(), "00f067aa0ba902b7");
        for bad in [
            "",
            "00",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-x",
            "ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
            "00-00000000000000000000000000000000-00f067aa0ba902b7-01",
            "00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01",
            "00-4bf92f3577b34da6-00f067aa0ba902b7-01",
            "00-zbf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
        ] {
            assert_eq!(TraceParent::parse(bad), None, "{bad:?}");
        }
    }
}
