//! Span ids on exported spans are those in the journal, so that one can be found by the other.
//!
//! The SDK asks a generator for ids when a span starts. For spans that stand for journal
//! entries the ids are known before; they are laid out for the generator on the thread that
//! starts the span.

use std::cell::Cell;

use opentelemetry::trace::{SpanId, TraceId};
use opentelemetry_sdk::trace::{IdGenerator, RandomIdGenerator};

thread_local! {
    static PRESET: Cell<Option<(TraceId, SpanId)>> = const { Cell::new(None) };
}

/// Runs `start`, which starts at most one span, with these ids laid out.
pub(crate) fn with_preset<T>(trace: TraceId, span: SpanId, start: impl FnOnce() -> T) -> T {
    PRESET.set(Some((trace, span)));
    let started = start();
    PRESET.set(None);
    started
}

/// Gives the laid-out ids, random ones otherwise.
#[derive(Debug, Default)]
pub(crate) struct JournalIds(RandomIdGenerator);

impl IdGenerator for JournalIds {
    fn new_trace_id(&self) -> TraceId {
        PRESET
            .get()
            .map_or_else(|| self.0.new_trace_id(), |(trace, _)| trace)
    }

    fn new_span_id(&self) -> SpanId {
        PRESET
            .get()
            .map_or_else(|| self.0.new_span_id(), |(_, span)| span)
    }
}
