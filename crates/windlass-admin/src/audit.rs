//! `admin.audit`: who called what, newest first, by caller, operation and time.

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

/// Journal entries read at a time.
const PAGE: usize = 500;
/// Pages read for one answer; its cursor leads on.
const PAGES: usize = 40;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    /// Only entries recorded after this position, oldest first: for followers.
    #[serde(default)]
    after_seq: Option<u64>,
    /// Only entries recorded before this position: `next_before_seq` of the answer before.
    #[serde(default)]
    before_seq: Option<u64>,
    /// How many calls at most; an entry of several reads is not cut.
    #[serde(default = "default_limit")]
    #[schemars(range(min = 1, max = 1000))]
    limit: usize,
    /// Leave read-only calls out.
    #[serde(default)]
    changes_only: bool,
    /// Only calls of this principal: `local:ada`, or a beginning with a star such as `key:*`.
    #[serde(default)]
    #[schemars(length(min = 1, max = 200))]
    principal: Option<String>,
    /// Only calls of this operation: `demo.apply`, or a beginning with a star such as `demo.*`.
    #[serde(default)]
    #[schemars(length(min = 1, max = 200))]
    operation: Option<String>,
    /// Only calls that ended at this time or later.
    #[serde(default)]
    since: Option<Timestamp>,
    /// Only calls that ended before this time.
    #[serde(default)]
    until: Option<Timestamp>,
}

const fn default_limit() -> usize {
    100
}

impl Input {
    fn wants(&self, call: &CallView) -> bool {
        let fits = |pattern: &Option<String>, text: &str| match pattern.as_deref() {
            None => true,
            Some(pattern) => match pattern.strip_suffix('*') {
                Some(beginning) => text.starts_with(beginning),
                None => text == pattern,
            },
        };
        fits(&self.principal, &call.principal)
            && fits(&self.operation, &call.operation)
            && self.since.is_none_or(|since| call.time >= since)
            && self
                .until
                .is_none_or(|until| call.first.unwrap_or(call.time) < until)
    }

    /// What is wanted of an entry.
    fn take(&self, event: &Event, found: &mut Found) -> Result<(), Problem> {
        match body(event)? {
            Some(Body::AuditCall(call)) => {
                found.add(self, [view(event.seq, event.time, call)]);
            }
            Some(Body::AuditReads(reads)) if !self.changes_only => {
                let calls = reads.calls.into_iter();
                let mut calls: Vec<CallView> =
                    calls.map(|read| view_read(event.seq, read)).collect();
                if self.after_seq.is_none() {
                    calls.reverse();
                }
                found.add(self, calls);
            }
            Some(Body::AuditGap(AuditGap { missed, since })) => {
                found.gaps.push(GapView {
                    seq: event.seq,
                    missed,
                    since,
                });
            }
            _ => {}
        }
        Ok(())
    }
}

/// What was found so far.
#[derive(Default)]
struct Found {
    calls: Vec<CallView>,
    gaps: Vec<GapView>,
}

impl Found {
    fn add(&mut self, input: &Input, calls: impl IntoIterator<Item = CallView>) {
        let calls = calls.into_iter();
        self.calls.extend(calls.filter(|call| input.wants(call)));
    }
}

#[derive(Serialize, JsonSchema)]
struct Output {
    /// The calls, newest first; oldest first with `after_seq`. Read-only calls of a caller are
    /// counted, a minute at a time.
    calls: Vec<CallView>,
    /// Calls that are not on record, because the store did not take their entries.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    gaps: Vec<GapView>,
    /// Pass it as `after_seq` for what is recorded later.
    next_after_seq: u64,
    /// Pass it as `before_seq` for older entries; absent when there are none.
    #[serde(skip_serializing_if = "Option::is_none")]
    next_before_seq: Option<u64>,
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
            "Lists calls, newest first, with caller, outcome, policy rule and run. `runs.verify` with `sys_audit` checks the chain.",
        )
        .example("What was changed", json!({ "changes_only": true }))
        .example(
            "What programs applied since a day",
            json!({ "operation": "demo.*", "principal": "local:ada/*", "since": "2026-11-17T00:00:00Z" }),
        )
        .handle(move |_, input: Input| {
            let engine = engine.clone();
            async move {
                // What was answered before this call must be in its answer.
                engine.audit().flush().await;
                let journal: RunId = AUDIT_JOURNAL
                    .parse()
                    .map_err(|error| Problem::internal("journal name", error))?;
                match input.after_seq {
                    Some(after) => forwards(&engine, &journal, &input, after).await,
                    None => backwards(&engine, &journal, &input).await,
                }
            }
        })
}

/// Oldest first, from a position on.
async fn forwards(
    engine: &Engine,
    journal: &RunId,
    input: &Input,
    after: u64,
) -> Result<Output, Problem> {
    let (mut found, mut next) = (Found::default(), after);
    'pages: for _ in 0..PAGES {
        let events = engine.store.events(journal, next, PAGE).await?;
        if events.is_empty() {
            break;
        }
        for event in &events {
            if input.before_seq.is_some_and(|before| event.seq >= before)
                || found.calls.len() >= input.limit
            {
                break 'pages;
            }
            input.take(event, &mut found)?;
            next = event.seq;
        }
    }
    Ok(Output {
        calls: found.calls,
        gaps: found.gaps,
        next_after_seq: next,
        next_before_seq: None,
    })
}

/// Newest first.
async fn backwards(engine: &Engine, journal: &RunId, input: &Input) -> Result<Output, Problem> {
    let newest = last_seq(engine, journal).await?;
    let mut found = Found::default();
    // Everything from here on was looked at.
    let mut from = input.before_seq.unwrap_or(u64::MAX).min(newest + 1);
    let mut is_over = from <= 1;
    'pages: for _ in 0..PAGES {
        if is_over {
            break;
        }
        let after = from.saturating_sub(PAGE as u64 + 1);
        let events = engine.store.events(journal, after, PAGE).await?;
        let before = from;
        let events: Vec<&Event> = events.iter().filter(|event| event.seq < before).collect();
        // Nothing is left of older ones.
        is_over = events.is_empty() || after == 0;
        for event in events.into_iter().rev() {
            // An entry is written after the calls it is about.
            if input.since.is_some_and(|since| event.time < since) {
                is_over = true;
                break 'pages;
            }
            if found.calls.len() >= input.limit {
                is_over = false;
                break 'pages;
            }
            input.take(event, &mut found)?;
            from = event.seq;
        }
    }
    Ok(Output {
        calls: found.calls,
        gaps: found.gaps,
        next_after_seq: newest,
        next_before_seq: (!is_over).then_some(from),
    })
}

/// The position of the newest entry. Journals are read forwards, so it is looked for.
async fn last_seq(engine: &Engine, journal: &RunId) -> Result<u64, Problem> {
    let first_after = async |seq: u64| -> Result<Option<u64>, Problem> {
        let events = engine.store.events(journal, seq, 1).await?;
        Ok(events.first().map(|event| event.seq))
    };
    let (mut low, mut step) = (0_u64, 1_u64);
    while let Some(seq) = first_after(low.saturating_add(step)).await? {
        (low, step) = (seq, step.saturating_mul(2));
    }
    // The last one is after `low` and not after `high`.
    let mut high = low.saturating_add(step);
    while low < high {
        let middle = low + (high - low) / 2;
        match first_after(middle).await? {
            Some(seq) => low = seq,
            None => high = middle,
        }
    }
    Ok(low)
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
