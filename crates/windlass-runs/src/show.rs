//! `runs.show`: one run, with its artifacts and what may be done next.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use windlass_engine::{
    Engine,
    operation::{Operation, operation as define},
    run::RunView,
};
use windlass_types::{ArtifactRef, RunId};

use crate::TOOLSET;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    /// The run.
    run_id: RunId,
}

#[derive(Serialize, JsonSchema)]
struct Output {
    /// The run.
    run: RunView,
    /// What it left behind.
    artifacts: Vec<ArtifactRef>,
    /// What to do next.
    next_actions: Vec<String>,
}

pub(crate) fn operation(engine: &Engine) -> Arc<dyn Operation> {
    let engine = engine.clone();
    define(TOOLSET, "show")
        .target("run_id")
        .describe(
            "Show a run",
            "Shows one run: state, what it waits for, output or failure, artifacts, next steps.",
        )
        .found_by(&[
            "what did the run do",
            "details of one",
            "why did it fail",
            "is it finished",
        ])
        .example(
            "One run",
            json!({ "run_id": "run_0123456789abcdef0123456789abcdef" }),
        )
        .handle_run(move |context, input: Input| {
            let engine = engine.clone();
            async move {
                let record = engine
                    .visible_run(&context.principal, &input.run_id)
                    .await?;
                let artifacts = engine.store.artifacts(&input.run_id).await?;
                let run = engine.view(record).await?;
                let next_actions = run.next_actions();
                Ok((
                    Output {
                        run,
                        artifacts,
                        next_actions,
                    },
                    Some(input.run_id),
                ))
            }
        })
}
