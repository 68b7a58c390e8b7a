//! `aios_get_status`: where a job stands.

use std::{collections::BTreeMap, sync::Arc};

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value, json};
use windlass_engine::operation::Operation;
use windlass_pipeline_design::model::Phase;
use windlass_types::{Problem, RunId, Timestamp};

use super::{Desk, schemas, tool};
use crate::{
    input::Members,
    view::{self, JobStatus, PhaseView},
};

/// The answer.
#[derive(Serialize, JsonSchema)]
struct Status {
    job_id: RunId,
    status: JobStatus,
    phases: BTreeMap<Phase, PhaseView>,
    progress_percent: u32,
    error: Option<Map<String, Value>>,
    created_at: Timestamp,
    #[serde(skip_serializing_if = "Option::is_none")]
    finished_at: Option<Timestamp>,
    /// When the job and its artifacts are gone.
    #[serde(skip_serializing_if = "Option::is_none")]
    expires_at: Option<Timestamp>,
    generator: String,
    run_id: RunId,
}

pub(super) fn operation(desk: &Desk) -> Arc<dyn Operation> {
    let desk = desk.clone();
    tool(
        "get_status",
        "Get the status of a job",
        "The status of a job, of each of its phases, and how much of it is done.",
    )
    .input_schema(schemas::job())
    .example("A job", json!({ "job_id": schemas::EXAMPLE_JOB }))
    .output::<Status>()
    .handle_json(move |context, input| {
        let desk = desk.clone();
        async move {
            let given = Members::read(input)?.required_text("job_id")?;
            let record = desk.job(&context, &given).await?;
            let job = view::load(&desk.engine, &record).await?;
            let error = job
                .error
                .as_ref()
                .map(|problem| view::error_object(problem, &context.request_id));
            let status = Status {
                status: job.status,
                progress_percent: job.progress_percent,
                error,
                created_at: job.created_at,
                expires_at: job.finished_at.map(|end| end.after(desk.outside.retention)),
                finished_at: job.finished_at,
                generator: job.generator,
                phases: job.phases,
                run_id: record.run_id.clone(),
                job_id: job.job_id,
            };
            let output =
                serde_json::to_value(status).map_err(|error| Problem::internal("status", error))?;
            Ok((output, Some(record.run_id)))
        }
    })
}
