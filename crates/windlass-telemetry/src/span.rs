//! Spans for runs and steps, with the ids the journal gave them.
//!
//! Called by the engine's driver around the code of a run and of each step.

use opentelemetry::{
    Context,
    trace::{SpanContext, TraceContextExt, TraceFlags, TraceState},
};
use tracing::Span;
use tracing_opentelemetry::OpenTelemetrySpanExt;
use windlass_types::{RunId, SpanIds, TraceId};

use crate::ids;

/// The span of a run. Without an exporter it only adds the run's id to log lines.
pub fn run_span(trace_id: TraceId, ids: SpanIds, run_id: &RunId, kind: &str) -> Span {
    let span = tracing::info_span!("run", run = %run_id, kind, otel.name = tracing::field::Empty);
    start(span, trace_id, ids, || format!("run {kind}"))
}

/// The span of one step of a run.
pub fn step_span(trace_id: TraceId, ids: SpanIds, name: &str) -> Span {
    let span = tracing::info_span!("step", step = name, otel.name = tracing::field::Empty);
    start(span, trace_id, ids, || format!("step {name}"))
}

fn start(span: Span, trace_id: TraceId, ids: SpanIds, name: impl FnOnce() -> String) -> Span {
    let trace = opentelemetry::trace::TraceId::from_bytes(*trace_id.as_bytes());
    let parent = ids.parent_span_id.map_or_else(Context::new, |parent| {
        let parent = opentelemetry::trace::SpanId::from_bytes(*parent.as_bytes());
        let remote = SpanContext::new(trace, parent, TraceFlags::SAMPLED, true, TraceState::NONE);
        Context::new().with_remote_span_context(remote)
    });
    // Fails when no exporter is configured; then there is no name to give and no id to set.
    if span.set_parent(parent).is_ok() {
        span.record("otel.name", name());
        let own = opentelemetry::trace::SpanId::from_bytes(*ids.span_id.as_bytes());
        // Asking for the context is what starts the exported span.
        ids::with_preset(trace, own, || span.context());
    }
    span
}
