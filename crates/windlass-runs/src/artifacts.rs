//! `runs.artifacts` and `runs.artifact`: what a run left behind.

use std::sync::Arc;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use windlass_engine::{
    Engine,
    operation::{Operation, operation as define},
};
use windlass_types::{ArtifactRef, RunId};

use crate::TOOLSET;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ListInput {
    /// The run.
    run_id: RunId,
}

#[derive(Serialize, JsonSchema)]
struct ListOutput {
    /// The artifacts, by name.
    artifacts: Vec<ArtifactRef>,
}

pub(crate) fn list(engine: &Engine) -> Arc<dyn Operation> {
    let engine = engine.clone();
    define(TOOLSET, "artifacts")
        .target("run_id")
        .describe(
            "List artifacts",
            "Lists the artifacts of a run: names, types, sizes, digests.",
        )
        .found_by(&["files a run produced", "outputs", "reports"])
        .example(
            "One run",
            json!({ "run_id": "run_0123456789abcdef0123456789abcdef" }),
        )
        .handle(move |context, input: ListInput| {
            let engine = engine.clone();
            async move {
                Ok(ListOutput {
                    artifacts: engine.artifacts(&context.principal, &input.run_id).await?,
                })
            }
        })
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct GetInput {
    /// The run.
    run_id: RunId,
    /// The artifact's name.
    #[schemars(length(min = 1, max = 255))]
    name: String,
}

#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
enum Encoding {
    #[serde(rename = "utf-8")]
    Utf8,
    Base64,
}

#[derive(Serialize, JsonSchema)]
struct GetOutput {
    /// What it is.
    artifact: ArtifactRef,
    /// How `content` is written: as text, or as base64 where it is not text.
    encoding: Encoding,
    /// The content, checked against its digest.
    content: String,
}

pub(crate) fn get(engine: &Engine) -> Arc<dyn Operation> {
    let engine = engine.clone();
    define(TOOLSET, "artifact")
        .target("run_id")
        .describe(
            "Fetch an artifact",
            "Returns one artifact's content, after checking it against its digest.",
        )
        // The digest is over these bytes.
        .discloses("content")
        .found_by(&["download", "get the file a run produced", "read a report"])
        .example(
            "A report",
            json!({ "run_id": "run_0123456789abcdef0123456789abcdef", "name": "report.json" }),
        )
        .handle(move |context, input: GetInput| {
            let engine = engine.clone();
            async move {
                let found = engine
                    .artifact(&context.principal, &input.run_id, &input.name)
                    .await?;
                let (encoding, content) = match String::from_utf8(found.bytes) {
                    Ok(text) => (Encoding::Utf8, text),
                    Err(error) => (Encoding::Base64, STANDARD.encode(error.into_bytes())),
                };
                Ok(GetOutput {
                    artifact: found.artifact,
                    encoding,
                    content,
                })
            }
        })
}
