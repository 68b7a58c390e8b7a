//! `runs.export` and `runs.import`: a run as one verifiable document.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use windlass_engine::{
    Engine,
    operation::{Operation, operation as define},
    run::{RunExport, RunView},
};
use windlass_types::{EffectClass, RunId};

use crate::TOOLSET;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ExportInput {
    /// The run.
    run_id: RunId,
    /// Whether to add the forms in which this kind of run is also read, such as
    /// `events.ndjson`.
    #[serde(default)]
    files: bool,
}

pub(crate) fn export(engine: &Engine) -> Arc<dyn Operation> {
    let engine = engine.clone();
    define(TOOLSET, "export")
        .target("run_id")
        .describe(
            "Export a run",
            "Returns a run's whole journal and artifacts as one document that verifies anywhere.",
        )
        .found_by(&["save as a file", "hand over to an auditor", "back up a run"])
        .example(
            "One run",
            json!({ "run_id": "run_0123456789abcdef0123456789abcdef" }),
        )
        // Redacting a journal would break the hashes it is exported for.
        .discloses("events")
        .discloses("contents")
        .discloses("signature")
        .discloses("files")
        .handle(move |context, input: ExportInput| {
            let engine = engine.clone();
            async move {
                let mut export: RunExport =
                    engine.export_run(&context.principal, &input.run_id).await?;
                if input.files {
                    export.files = engine.export_files(&export)?;
                }
                Ok(export)
            }
        })
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ImportInput {
    /// The exported document.
    export: RunExport,
}

#[derive(Serialize, JsonSchema)]
struct ImportOutput {
    /// The run, as it is stored here now.
    run: RunView,
}

pub(crate) fn import(engine: &Engine) -> Arc<dyn Operation> {
    let engine = engine.clone();
    define(TOOLSET, "import")
        .describe(
            "Import a run",
            "Imports an exported, ended run into this store after verifying it.",
        )
        .found_by(&["load from another machine", "read an exported file"])
        .command(EffectClass::Write)
        .scope("admin")
        .handle_run(move |context, input: ImportInput| {
            let engine = engine.clone();
            async move {
                let run_id = engine.import_run(input.export).await?;
                let run = RunView::from(engine.visible_run(&context.principal, &run_id).await?);
                Ok((ImportOutput { run }, Some(run_id)))
            }
        })
}
