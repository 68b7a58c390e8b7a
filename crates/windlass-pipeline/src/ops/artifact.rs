//! `aios_get_artifact`: what a job has made.

use std::sync::Arc;

use serde_json::{Map, Value, json};
use windlass_engine::operation::{CallContext, Operation};
use windlass_pipeline_design::model::Phase;
use windlass_types::{Problem, RunId};

use super::{Desk, schemas, tool};
use crate::{
    fault,
    input::Members,
    view::{self, JobStatus, JobView, PhaseStatus},
};

pub(super) fn operation(desk: &Desk) -> Arc<dyn Operation> {
    let desk = desk.clone();
    tool(
        "get_artifact",
        "Get the output of a job",
        "The output of one phase of a job, or of all of them, in the shape of the tool that makes \
         it alone.",
    )
    .input_schema(schemas::artifact())
    .example(
        "The code",
        json!({ "job_id": schemas::EXAMPLE_JOB, "artifact_type": "code" }),
    )
    .delivers_content()
    .handle_json(move |context, input| {
        let desk = desk.clone();
        async move { read(&desk, context, input).await }
    })
}

async fn read(
    desk: &Desk,
    context: CallContext,
    input: Value,
) -> Result<(Value, Option<RunId>), Problem> {
    let mut members = Members::read(input)?;
    let given = members.required_text("job_id")?;
    let kind = members.required_text("artifact_type")?;
    let names = ["strategy", "architecture", "ux", "code", "all"];
    if !names.contains(&kind.as_str()) {
        return Err(fault::invalid(
            "artifact_type",
            "enum",
            format!(
                "The 'artifact_type' field must be one of {}",
                names.join(", ")
            ),
        )
        .with("allowed", names.to_vec()));
    }
    let record = desk.job(&context, &given).await?;
    let job = view::load(&desk.engine, &record).await?;
    let output = match Phase::by_name(&kind) {
        Some(phase) => one(desk, &job, phase).await?,
        None => all(desk, &job).await?,
    };
    Ok((output, Some(record.run_id)))
}

async fn one(desk: &Desk, job: &JobView, phase: Phase) -> Result<Value, Problem> {
    let Some(view) = job.phases.get(&phase) else {
        return Err(fault::invalid(
            "artifact_type",
            "phase_not_requested",
            format!("The job was not asked for its {} phase", phase.as_str()),
        ));
    };
    if view.status != PhaseStatus::Completed {
        let running = job.status == JobStatus::Running;
        let percent = job.progress_percent;
        let status = view.status.as_str();
        return Err(fault::not_ready(phase.as_str(), status, percent, running));
    }
    desk.artifact(&job.job_id, phase).await
}

async fn all(desk: &Desk, job: &JobView) -> Result<Value, Problem> {
    let completed = job.completed();
    let running = job.status == JobStatus::Running;
    if running || completed.is_empty() {
        let percent = job.progress_percent;
        return Err(fault::not_ready(
            "all",
            job.status.as_str(),
            percent,
            running,
        ));
    }
    let mut outputs = Map::new();
    for phase in &completed {
        let output = desk.artifact(&job.job_id, *phase).await?;
        outputs.insert(phase.as_str().to_owned(), output);
    }
    if job.status != JobStatus::Completed {
        let missing: Vec<&str> = job
            .phases
            .keys()
            .filter(|phase| !completed.contains(phase))
            .map(|phase| phase.as_str())
            .collect();
        outputs.insert("missing".to_owned(), json!(missing));
    }
    Ok(Value::Object(outputs))
}
