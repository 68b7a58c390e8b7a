//! The four tools that make one thing and answer with it: each call is a job of one phase.

use std::{sync::Arc, time::Duration};

use serde_json::{Value, json};
use windlass_engine::operation::{
    Answer, AnswerWhen, CallContext, Operation, ProposedRun, Render, Reply,
};
use windlass_pipeline_design::model::{
    ArchitectureOutput, CodeOutput, Phase, StrategyOutput, UxOutput,
};
use windlass_types::{Problem, RunId, RunRecord, RunState, code};

use super::{Desk, schemas, tool};
use crate::{
    given,
    input::{Members, Wanted, check_product},
    run::artifact_name,
};

/// How long a call may wait for its job: longer than any phase may take.
const TIMEOUT: Duration = Duration::from_secs(1800);

pub(super) fn operations(desk: &Desk) -> Vec<Arc<dyn Operation>> {
    let own = |phase: Phase| (desk.clone(), phase);
    let strategize = own(Phase::Strategy);
    let architecture = own(Phase::Architecture);
    let ux = own(Phase::Ux);
    let code = own(Phase::Code);
    vec![
        tool(
            "strategize",
            "Derive requirements",
            "Generates product strategy and requirements from a spec. Every requirement says \
             which part of the spec it is from; nothing is added to what the spec says.",
        )
        .input_schema(schemas::strategize())
        .example("A small product", json!({ "spec": schemas::EXAMPLE }))
        .output::<StrategyOutput>()
        .delivers_content()
        .handle_reply(move |context, input| call(strategize.clone(), context, input)),
        tool(
            "design_architecture",
            "Design the architecture",
            "Designs data model, API and security from a spec, better with the requirements of \
             aios_strategize.",
        )
        .input_schema(schemas::architecture())
        .example("A small product", json!({ "spec": schemas::EXAMPLE }))
        .output::<ArchitectureOutput>()
        .delivers_content()
        .handle_reply(move |context, input| call(architecture.clone(), context, input)),
        tool(
            "design_ux",
            "Design the user experience",
            "Designs user flows, pages and design tokens from a spec, better with requirements \
             and architecture.",
        )
        .input_schema(schemas::ux())
        .example("A small product", json!({ "spec": schemas::EXAMPLE }))
        .output::<UxOutput>()
        .delivers_content()
        .handle_reply(move |context, input| call(ux.clone(), context, input)),
        tool(
            "generate_code",
            "Generate the code",
            "Generates the files of a project that installs and builds, from a spec, better with \
             architecture and UX.",
        )
        .input_schema(schemas::code())
        .example("A small product", json!({ "spec": schemas::EXAMPLE }))
        .output::<CodeOutput>()
        .delivers_content()
        .handle_reply(move |context, input| call(code.clone(), context, input)),
    ]
}

async fn call(
    (desk, phase): (Desk, Phase),
    _context: CallContext,
    input: Value,
) -> Result<Reply, Problem> {
    let operation = match phase {
        Phase::Strategy => "pipeline.strategize",
        Phase::Architecture => "pipeline.design_architecture",
        Phase::Ux => "pipeline.design_ux",
        Phase::Code => "pipeline.generate_code",
    };
    let proposed = desk.propose_phase(operation, read(phase, input)?)?;
    let render: Render = Box::new(move |record| {
        Box::pin(async move {
            let run_id = record.run_id.clone();
            Ok(Answer::of_run(desk.output(record, phase).await?, run_id))
        })
    });
    Ok(ProposedRun {
        answer_when: AnswerWhen::SettledSoon,
        timeout: TIMEOUT,
        render: Some(render),
        ..proposed
    }
    .into())
}

fn read(phase: Phase, input: Value) -> Result<Wanted, Problem> {
    let mut members = Members::read(input)?;
    let mut wanted = Wanted {
        spec: members.spec()?,
        phases: vec![phase],
        ..Wanted::default()
    };
    match phase {
        Phase::Strategy => wanted.context = members.context()?,
        Phase::Architecture => {
            wanted.requirements = members.requirements()?;
            (wanted.preset, wanted.not_honoured) = members.stack_preference()?;
        }
        Phase::Ux => {
            wanted.requirements = members.requirements()?;
            wanted.architecture = members.architecture()?;
            wanted.style_preference = members.text("style_preference")?;
        }
        Phase::Code => {
            wanted.architecture = members.architecture()?;
            wanted.ux_spec = members.ux_spec()?;
            wanted.target_files = members.target_files()?;
            wanted.preset = members.framework()?;
        }
    }
    check_product(&wanted)?;
    given::check_together(&wanted)?;
    wanted.ignored_fields = members.rest();
    Ok(wanted)
}

impl Desk {
    /// The result of a job of one phase.
    async fn output(&self, record: RunRecord, phase: Phase) -> Result<Value, Problem> {
        let job_id = &record.run_id;
        match (record.state, record.problem) {
            (RunState::Completed, _) => self.artifact(job_id, phase).await,
            (RunState::Cancelled, _) => {
                Err(Problem::new(&code::STEP_FAILED, "the job was cancelled")
                    .with("reason", "cancelled")
                    .with("phase", phase.as_str()))
            }
            (_, Some(problem)) => Err(problem),
            (state, None) => Err(Problem::internal(
                "pipeline",
                format!("job {job_id} is {} and has not ended", state.as_str()),
            )),
        }
    }

    /// The output of a phase.
    pub(super) async fn artifact(&self, job_id: &RunId, phase: Phase) -> Result<Value, Problem> {
        let name = artifact_name(phase);
        let artifacts = self.engine.store.artifacts(job_id).await?;
        let artifact = artifacts.iter().find(|artifact| artifact.name == name);
        let artifact = artifact
            .ok_or_else(|| Problem::internal("pipeline", format!("{name} is not there")))?;
        let bytes = self.engine.blobs.get(artifact.sha256).await;
        let bytes = bytes.map_err(|error| Problem::internal("content store", error))?;
        serde_json::from_slice(&bytes).map_err(|error| Problem::internal("artifact", error))
    }
}
