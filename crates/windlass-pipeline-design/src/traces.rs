//! Lists of reasons: built from spans and requirements, joined without repetition.

use crate::model::Trace;

/// One reason per span.
pub(crate) fn of_spans(spans: &[String]) -> Vec<Trace> {
    let mut traces = Vec::new();
    for span in spans {
        add(&mut traces, Trace::spec(span));
    }
    traces
}

/// A single named default.
pub(crate) fn of_default(rule: &str) -> Vec<Trace> {
    vec![Trace::default_rule(rule)]
}

/// One reason more, unless it is there.
pub(crate) fn add(traces: &mut Vec<Trace>, trace: Trace) {
    if !traces.contains(&trace) {
        traces.push(trace);
    }
}

/// Several reasons more.
pub(crate) fn extend(traces: &mut Vec<Trace>, more: impl IntoIterator<Item = Trace>) {
    for trace in more {
        add(traces, trace);
    }
}
