//! `admin.audit`: who called what, in the order it was recorded.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use windlass_engine::{
    Engine,
    audit::AUDIT_JOURNAL,
    operation::{Operation, operation as define},
};
use windlass_types::{
    Body, Digest, Event, Problem, RunId, Surface, Timestamp,
    journal::{AuditCall, AuditGap, AuditRead},
};

use crate::TOOLSET;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    /// Only entries recorded after this position; 0 for all.
    #[serde(default)]
    after_seq: u64,
    /// How many journal entries to read at most; one of them may hold several reads.
    #[serde(default = "default_limit")]
    #[schemars(range(min = 1, max = 1000))]
    limit: usize,
    /// Leave read-only calls out.
    #[serde(default)]
    changes_only: bool,
}

const fn default_limit() -> usize {
    100
}

#[derive(Serialize, JsonSchema)]
struct Output {
    /// The calls, oldest first. Read-only calls of a caller are counted, a minute at a time.
    calls: Vec<CallView>,
    /// Calls that are not on record, because the store did not take their entries.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    gaps: Vec<GapView>,
    /// Pass it as `after_seq` to continue.
    next_after_seq: u64,
}

#[derive(Serialize, JsonSchema)]
struct GapView {
    /// The place of the entry in the audit journal.
    seq: u64,
    /// How many calls are missing before it.
    missed: u64,
    /// When the first of them ended.
    since: Timestamp,
}

#[derive(Serialize, JsonSchema)]
struct CallView {
    /// The place of the entry in the audit journal.
    seq: u64,
    /// When the call ended; the last one where there were several.
    time: Timestamp,
    /// When the first of several ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    first: Option<Timestamp>,
    /// How many calls there were, if there were several; the rest is about the last.
    #[serde(skip_serializing_if = "Option::is_none")]
    count: Option<u64>,
    /// Who called.
    principal: String,
    /// Through which surface.
    surface: Surface,
    /// Which operation.
    operation: String,
    /// `OK` or an error code.
    outcome: String,
    /// The policy rule that was followed.
    #[serde(skip_serializing_if = "String::is_empty")]
    decision: String,
    /// The run it started or touched.
    #[serde(skip_serializing_if = "Option::is_none")]
    run_id: Option<RunId>,
    /// The digest of the input.
    input_hash: Digest,
    /// How long it took.
    duration_us: u64,
}

pub(crate) fn operation(engine: &Engine) -> Arc<dyn Operation> {
    let engine = engine.clone();
    define(TOOLSET, "audit")
        .describe(
            "Read the audit log",
            "Lists calls with caller, outcome, policy rule and run. `runs.verify` with `sys_audit` checks the chain.",
        )
        .example("What was changed", json!({ "changes_only": true }))
        .handle(move |_, input: Input| {
            let engine = engine.clone();
            async move {
                // What was answered before this call must be in its answer.
                engine.audit().flush().await;
                let journal: RunId = AUDIT_JOURNAL
                    .parse()
                    .map_err(|error| Problem::internal("journal name", error))?;
                let events = engine.store.events(&journal, input.after_seq, input.limit).await?;
                let next_after_seq = events.last().map_or(input.after_seq, |event| event.seq);
                let (mut calls, mut gaps) = (Vec::new(), Vec::new());
                for event in &events {
                    match body(event)? {
                        Some(Body::AuditCall(call)) => calls.push(view(event.seq, event.time, call)),
                        Some(Body::AuditReads(reads)) if !input.changes_only => {
                            calls.extend(reads.calls.into_iter().map(|read| view_read(event.seq, read)));
                        }
                        Some(Body::AuditGap(AuditGap { missed, since })) => {
                            gaps.push(GapView { seq: event.seq, missed, since });
                        }
                        _ => {}
                    }
                }
                Ok(Output { calls, gaps, next_after_seq })
            }
        })
}

fn body(event: &Event) -> Result<Option<Body>, Problem> {
    Body::decode(&event.event_type, &event.payload)
        .map_err(|error| Problem::internal("audit event", error))
}

fn view_read(seq: u64, read: AuditRead) -> CallView {
    CallView {
        first: read.first,
        count: read.count,
        ..view(seq, read.time, read.call)
    }
}

fn view(seq: u64, time: Timestamp, call: AuditCall) -> CallView {
    CallView {
        seq,
        time,
        first: None,
        count: None,
        principal: call.principal,
        surface: call.surface,
        operation: call.operation,
        outcome: call.outcome,
        decision: call.decision,
        run_id: call.run_id,
        input_hash: call.input_hash,
        duration_us: call.duration_us,
    }
}
