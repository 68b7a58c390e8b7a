//! `aios_full_pipeline`: a job that goes on by itself.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Value, json};
use windlass_engine::operation::{
    Answer, AnswerWhen, CallContext, Operation, ProposedRun, Render, Reply,
};
use windlass_pipeline_design::model::Phase;
use windlass_ports::store::RunFilter;
use windlass_types::{EffectClass, Problem, RunId, RunState};

use super::{Desk, schemas, tool};
use crate::{
    fault,
    input::{Members, Wanted, check_product},
    run::{JobInput, KIND},
    view,
};

/// The answer.
#[derive(Serialize, JsonSchema)]
struct Started {
    job_id: RunId,
    status: view::JobStatus,
    phases_queued: Vec<Phase>,
    estimated_duration_seconds: u64,
    /// `offline` or `llm`.
    generator: String,
}

pub(super) fn operation(desk: &Desk) -> Arc<dyn Operation> {
    let desk = desk.clone();
    tool(
        "full_pipeline",
        "Run the whole pipeline",
        "Runs strategy, architecture, UX and code as one durable job and answers at once with its \
         id. Follow it with aios_get_status; fetch results with aios_get_artifact. With \
         webhook_url, the end is posted there, signed.",
    )
    .command(EffectClass::Write)
    .confirmed_by_call()
    .judged_by_plan()
    .input_schema(schemas::full())
    .example("Everything", json!({ "spec": schemas::EXAMPLE }))
    .output::<Started>()
    .handle_reply(move |context, input| {
        let desk = desk.clone();
        async move { start(&desk, context, input).await }
    })
}

async fn start(desk: &Desk, context: CallContext, input: Value) -> Result<Reply, Problem> {
    let mut members = Members::read(input)?;
    let spec = members.spec()?;
    let phases = members.phases()?;
    let (preset, not_honoured) = members.stack_preference()?;
    let style_preference = members.text("style_preference")?;
    let webhook_url = members.text("webhook_url")?;
    let key = members.idempotency_key()?;
    if let Some(url) = &webhook_url {
        let principal = &context.principal;
        desk.engine
            .check_webhook(principal, "webhook_url", url)
            .await?;
    }
    let wanted = Wanted {
        spec,
        phases,
        preset,
        not_honoured,
        style_preference,
        webhook_url,
        ignored_fields: members.rest(),
        ..Wanted::default()
    };
    check_product(&wanted)?;
    let phases = wanted.phases.clone();
    let own = desk.clone();
    let render: Render = Box::new(move |record| {
        Box::pin(async move { started(&own, &context, record.run_id, phases).await })
    });
    Ok(ProposedRun {
        answer_when: AnswerWhen::Created,
        render: Some(render),
        ..desk.propose_job(wanted, key)?
    }
    .into())
}

async fn started(
    desk: &Desk,
    context: &CallContext,
    job_id: RunId,
    phases: Vec<Phase>,
) -> Result<Answer, Problem> {
    let record = desk
        .job(context, job_id.as_str())
        .await
        .map_err(|problem| match problem.code().name {
            // Found by its key, and as good as gone.
            "RUN_NOT_FOUND" => fault::invalid(
                "idempotency_key",
                "expired",
                "The 'idempotency_key' field belongs to a job that has expired; use another key",
            ),
            _ => problem,
        })?;
    let job = view::load(&desk.engine, &record).await?;
    let started = Started {
        status: job.status,
        estimated_duration_seconds: estimate(desk, &phases).await?,
        phases_queued: phases,
        generator: job.generator,
        job_id: job_id.clone(),
    };
    let output =
        serde_json::to_value(started).map_err(|error| Problem::internal("answer", error))?;
    Ok(Answer::of_run(output, job_id))
}

/// How long such jobs took lately; without any, what they usually take.
async fn estimate(desk: &Desk, phases: &[Phase]) -> Result<u64, Problem> {
    let generator = desk.outside.generator_name();
    let filter = RunFilter {
        kind: Some(KIND.to_owned()),
        states: vec![RunState::Completed],
        limit: 100,
        ..RunFilter::default()
    };
    let page = desk.engine.store.runs(filter).await?;
    let mut took: Vec<i64> = page
        .runs
        .iter()
        .filter(|record| {
            let input: Option<JobInput> = serde_json::from_value(record.input.clone()).ok();
            input.is_some_and(|input| input.generator == generator && input.wanted.phases == phases)
        })
        .take(20)
        .map(|record| record.updated_at.as_millis() - record.created_at.as_millis())
        .collect();
    took.sort_unstable();
    let seconds = match took.get(took.len() / 2) {
        Some(median) => u64::try_from((median + 999) / 1000).unwrap_or(1),
        None => phases.iter().map(|phase| usual(*phase, generator)).sum(),
    };
    Ok(seconds.max(1))
}

fn usual(phase: Phase, generator: &str) -> u64 {
    match (generator, phase) {
        ("llm", Phase::Strategy) => 15,
        ("llm", Phase::Architecture | Phase::Ux) => 30,
        ("llm", Phase::Code) => 45,
        _ => 1,
    }
}
