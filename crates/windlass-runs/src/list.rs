//! `runs.list`: the runs a caller may see, newest first, in pages.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use windlass_engine::{
    Engine,
    operation::{Operation, operation as define},
    run::RunView,
};
use windlass_ports::RunFilter;
use windlass_types::{RunId, RunState};

use crate::TOOLSET;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    /// Only runs of this kind.
    #[serde(default)]
    kind: Option<String>,
    /// Only runs in these states.
    #[serde(default)]
    states: Vec<RunState>,
    /// Only children of this run.
    #[serde(default)]
    parent: Option<RunId>,
    /// How many at most.
    #[serde(default = "default_limit")]
    #[schemars(range(min = 1, max = 500))]
    limit: usize,
    /// Where the page starts: `next_cursor` of the previous page.
    #[serde(default)]
    cursor: Option<u64>,
}

/// Pages looked at for one answer, where most runs are another caller's; the cursor leads on.
const PAGES: usize = 20;

const fn default_limit() -> usize {
    50
}

#[derive(Serialize, JsonSchema)]
struct Output {
    /// The runs, newest first.
    runs: Vec<RunView>,
    /// Pass it as `cursor` for the next page; absent on the last.
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<u64>,
}

pub(crate) fn operation(engine: &Engine) -> Arc<dyn Operation> {
    let engine = engine.clone();
    define(TOOLSET, "list")
        .describe(
            "List runs",
            "Lists runs, newest first, with their state. Filter by kind, state or parent.",
        )
        .found_by(&[
            "what is running now",
            "recent activity",
            "what is waiting for me",
            "pending, failed, finished",
        ])
        .example("The newest runs", json!({}))
        .example(
            "Waiting runs",
            json!({ "states": ["waiting"], "limit": 10 }),
        )
        .handle(move |context, input: Input| {
            let engine = engine.clone();
            async move {
                let caller = &context.principal;
                let principal = (!caller.sees_all_runs()).then(|| caller.id());
                let mut filter = RunFilter {
                    kind: input.kind,
                    states: input.states,
                    or_waiting: principal.is_some(),
                    principal,
                    parent: input.parent,
                    before: input.cursor,
                    limit: input.limit,
                };
                let mut runs = Vec::new();
                let mut next_cursor = None;
                for _ in 0..PAGES {
                    let page = engine.store.runs(filter.clone()).await?;
                    for record in page.runs {
                        if engine.may_see(caller, &record) {
                            runs.push(engine.view(record).await?);
                        }
                    }
                    next_cursor = page.next;
                    filter.before = page.next;
                    filter.limit = input.limit.saturating_sub(runs.len());
                    if next_cursor.is_none() || filter.limit == 0 {
                        break;
                    }
                }
                Ok(Output { runs, next_cursor })
            }
        })
}
