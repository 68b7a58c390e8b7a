//! `runs.watch`: events after a cursor, waiting for the next one if asked to.

use std::{sync::Arc, time::Duration};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use windlass_engine::{
    Engine,
    operation::{Operation, operation as define},
    run::{EventView, RunView},
};
use windlass_types::RunId;

use crate::TOOLSET;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    /// The run.
    run_id: RunId,
    /// Only events after this place; 0 for all.
    #[serde(default)]
    after_seq: u64,
    /// How many at most.
    #[serde(default = "default_limit")]
    #[schemars(range(min = 1, max = 1000))]
    limit: usize,
    /// Wait up to this many seconds for the first one.
    #[serde(default)]
    #[schemars(range(min = 0, max = 60))]
    wait_seconds: u64,
}

const fn default_limit() -> usize {
    100
}

#[derive(Serialize, JsonSchema)]
struct Output {
    /// The current run.
    run: RunView,
    /// The events, oldest first.
    events: Vec<EventView>,
    /// Pass it as `after_seq` to continue.
    next_after_seq: u64,
    /// Whether the run has ended and every event was returned.
    done: bool,
}

pub(crate) fn operation(engine: &Engine) -> Arc<dyn Operation> {
    let engine = engine.clone();
    define(TOOLSET, "watch")
        .target("run_id")
        .describe(
            "Watch a run",
            "Returns a run's events after a cursor; can wait for the next one.",
        )
        .found_by(&[
            "follow the progress live",
            "events",
            "journal",
            "logs of a run",
        ])
        .example(
            "From the start",
            json!({ "run_id": "run_0123456789abcdef0123456789abcdef", "wait_seconds": 20 }),
        )
        .handle_run(move |context, input: Input| {
            let engine = engine.clone();
            async move {
                let before = engine
                    .visible_run(&context.principal, &input.run_id)
                    .await?;
                // An ended run has nothing more to wait for.
                let wait_seconds = if before.state.is_final() {
                    0
                } else {
                    input.wait_seconds
                };
                let events = engine
                    .events_after(
                        &input.run_id,
                        input.after_seq,
                        input.limit,
                        Duration::from_secs(wait_seconds),
                    )
                    .await?;
                let record = engine
                    .visible_run(&context.principal, &input.run_id)
                    .await?;
                let next_after_seq = events.last().map_or(input.after_seq, |event| event.seq);
                let output = Output {
                    done: record.state.is_final() && next_after_seq >= record.last_seq,
                    run: RunView::from(record),
                    events: events.into_iter().map(EventView::from).collect(),
                    next_after_seq,
                };
                Ok((output, Some(input.run_id)))
            }
        })
}
