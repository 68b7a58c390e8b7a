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
        .example("The newest runs", json!({}))
        .example(
            "Waiting runs",
            json!({ "states": ["waiting"], "limit": 10 }),
        )
        .handle(move |context, input: Input| {
            let engine = engine.clone();
            async move {
                let principal =
                    (!context.principal.sees_all_runs()).then(|| context.principal.id());
                let page = engine
                    .store
                    .runs(RunFilter {
                        kind: input.kind,
                        states: input.states,
                        principal,
                        parent: input.parent,
                        before: input.cursor,
                        limit: input.limit,
                    })
                    .await?;
                Ok(Output {
                    runs: page.runs.into_iter().map(RunView::from).collect(),
                    next_cursor: page.next,
                })
            }
        })
}
