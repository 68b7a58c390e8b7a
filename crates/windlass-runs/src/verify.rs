//! `runs.verify`: the hash chain of a journal, from its first event to its last.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use windlass_engine::{
    Engine,
    operation::{Operation, operation as define},
    run::VerifyReport,
};
use windlass_types::RunId;

use crate::TOOLSET;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {
    /// The run, or a system journal such as `sys_audit`.
    run_id: RunId,
}

pub(crate) fn operation(engine: &Engine) -> Arc<dyn Operation> {
    let engine = engine.clone();
    define(TOOLSET, "verify")
        .target("run_id")
        .describe(
            "Verify a journal",
            "Checks every event of a run against the SHA-256 chain.",
        )
        .found_by(&["tampered", "prove the history", "integrity", "audit"])
        .example(
            "One run",
            json!({ "run_id": "run_0123456789abcdef0123456789abcdef" }),
        )
        .example("The audit log", json!({ "run_id": "sys_audit" }))
        .handle(move |context, input: Input| {
            let engine = engine.clone();
            async move {
                let is_system =
                    input.run_id.as_str().starts_with("sys_") && context.principal.sees_all_runs();
                if !is_system {
                    engine
                        .visible_run(&context.principal, &input.run_id)
                        .await?;
                }
                let report: VerifyReport = engine.verify(&input.run_id).await?;
                Ok(report)
            }
        })
}
