//! `launch_get_artifact`: what a run has made, by the name in its index.

use std::sync::Arc;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};
use windlass_engine::operation::{CallContext, Operation};
use windlass_launch_model::spec_of;
use windlass_types::{Digest, Problem, RunId};

use super::{Desk, EXAMPLE_RUN, reading, run_id_schema, traced::traced};
use crate::{arguments::Arguments, fault, precondition};

/// The answer.
#[derive(Serialize, JsonSchema)]
struct ArtifactAnswer {
    run_id: RunId,
    artifact: Artifact,
}

#[derive(Serialize, JsonSchema)]
struct Artifact {
    name: String,
    /// The media type; `;base64` where the content is base64.
    content_type: String,
    /// Over the raw bytes.
    sha256: Digest,
    content: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    encoding: Option<String>,
}

pub(super) fn operation(desk: &Desk) -> Arc<dyn Operation> {
    let desk = desk.clone();
    reading(
        "get_artifact",
        "Read an artifact",
        "The content of an artifact of a run, by the name launch_get_status lists: text as it is, \
         anything else as base64.",
        json!({
            "type": "object",
            "properties": {
                "run_id": run_id_schema(),
                "artifact_name": {
                    "type": "string",
                    "minLength": 1,
                    "description": "A name from the run's status, such as page_plan.json.",
                },
            },
            "required": ["run_id", "artifact_name"],
            "additionalProperties": false,
        }),
    )
    .example(
        "The plan of pages",
        json!({ "run_id": EXAMPLE_RUN, "artifact_name": "page_plan.json" }),
    )
    // The bytes are what their digest says; a run keeps no secret in them.
    .discloses("artifact")
    .judged_by_plan()
    .output::<ArtifactAnswer>()
    .handle_json(move |context, input| {
        let desk = desk.clone();
        async move {
            let mut arguments = Arguments::read(input, &["run_id", "artifact_name"])?;
            let run_id = arguments.run_id()?;
            let answer = async {
                let name = arguments.required_text("artifact_name")?;
                read(&desk, &context, &run_id, &name).await
            };
            let tool = "launch_get_artifact";
            let answer = traced(&desk, &context, tool, &run_id, answer).await?;
            Ok((answer, Some(run_id)))
        }
    })
}

async fn read(
    desk: &Desk,
    context: &CallContext,
    run_id: &RunId,
    name: &str,
) -> Result<Value, Problem> {
    let view = desk.judged_view(context, run_id).await?;
    let Some(indexed) = view.artifacts.get(name) else {
        if let Some(spec) = spec_of(name) {
            let comes = view.is_driving() && view.state.can_reach(spec.produced_in);
            let problem = fault::illegal_state(
                run_id,
                view.state,
                &[spec.produced_in],
                "not_produced",
                format!(
                    "{name} is not there yet; it is written in {}",
                    spec.produced_in.as_str()
                ),
            )
            .with("produced_in_state", spec.produced_in.as_str());
            return Err(precondition::waiting_helps(problem, comes));
        }
        let shown: String = name.chars().filter(|c| !c.is_control()).take(100).collect();
        let available: Vec<&String> = view.artifacts.keys().collect();
        return Err(fault::invalid(
            "/artifact_name",
            "unknown_artifact",
            format!("no launch writes an artifact {shown:?}"),
        )
        .with("available", json!(available)));
    };
    let bytes = desk.engine.blobs.get(indexed.sha256).await;
    let bytes = bytes
        .map_err(|error| Problem::internal("content store", error).with("artifact_name", name))?;
    let media = media_type(name);
    let (content, content_type, encoding) = match String::from_utf8(bytes) {
        Ok(text) if is_text(media) => (text, media.to_owned(), None),
        Ok(text) => encoded(text.as_bytes(), media),
        Err(error) => encoded(error.as_bytes(), media),
    };
    let answer = ArtifactAnswer {
        run_id: run_id.clone(),
        artifact: Artifact {
            name: name.to_owned(),
            content_type,
            sha256: indexed.sha256,
            content,
            encoding,
        },
    };
    serde_json::to_value(answer).map_err(|error| Problem::internal("artifact", error))
}

fn encoded(bytes: &[u8], media: &str) -> (String, String, Option<String>) {
    (
        STANDARD.encode(bytes),
        format!("{media};base64"),
        Some("base64".to_owned()),
    )
}

fn media_type(name: &str) -> &'static str {
    let ending = name.rsplit_once('.').map_or("", |(_, ending)| ending);
    match ending {
        "json" => "application/json",
        "md" => "text/markdown",
        "yaml" | "yml" => "application/yaml",
        "diff" => "text/x-diff",
        "txt" | "log" => "text/plain",
        _ => "application/octet-stream",
    }
}

fn is_text(media: &str) -> bool {
    media != "application/octet-stream"
}
