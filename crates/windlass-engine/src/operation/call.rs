//! One call of an operation: who asks, through what, and what they get.

use std::path::PathBuf;

use serde_json::Value;
use windlass_types::{Digest, Principal, SpanId, Surface, TraceId};

use super::{Grant, Permit};

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
    /// What else the call carries.
    pub terms: Terms,
}

/// What a call carries besides its input.
#[derive(Clone, Debug, Default)]
pub struct Terms {
    /// The trace the call is part of.
    pub trace: Option<TraceParent>,
    /// Makes the run that the call starts the same run when the call is repeated. Set for calls
    /// that runs make.
    pub idempotency_key: Option<String>,
    /// The gate, to be asked again once the target is known. Set by the catalogue.
    pub permit: Option<Permit>,
    /// The approval that the call waited for. Set by the engine.
    pub grant: Option<Grant>,
}

impl Terms {
    /// Whether the call of this operation waited for an approval and has it.
    pub(crate) fn is_granted(&self, operation: &str) -> bool {
        self.grant
            .as_ref()
            .is_some_and(|grant| grant.operation == operation)
    }
}

/// A place in the caller's trace, as W3C `traceparent` says it.
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
    /// The span of this call: the same for everyone who knows the request.
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
