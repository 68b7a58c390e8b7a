//! One operation per tool of the contract, and what they share.

mod artifact;
mod full;
mod generate;
mod schemas;
mod status;

use std::sync::Arc;

use windlass_engine::{
    Engine,
    envelope::Envelope,
    operation::{CallContext, Operation, OperationBuilder, operation},
    run::NewRun,
};
use windlass_ports::entropy::random;
use windlass_types::{Problem, RunId, RunRecord};

use crate::{
    fault,
    input::Wanted,
    outside::PipelineOutside,
    run::{CALL_KIND, JobInput, KIND},
};

/// Everything that can be asked.
pub(crate) fn operations(
    outside: &Arc<PipelineOutside>,
    engine: &Engine,
) -> Vec<Arc<dyn Operation>> {
    let desk = Desk {
        outside: Arc::clone(outside),
        engine: engine.clone(),
    };
    let mut operations = generate::operations(&desk);
    operations.push(full::operation(&desk));
    operations.push(status::operation(&desk));
    operations.push(artifact::operation(&desk));
    operations
}

/// What every tool works with.
#[derive(Clone)]
pub(crate) struct Desk {
    pub(crate) outside: Arc<PipelineOutside>,
    pub(crate) engine: Engine,
}

impl Desk {
    /// A job the caller may see; anything else is not found.
    async fn job(&self, context: &CallContext, given: &str) -> Result<RunRecord, Problem> {
        let job_id: RunId = given
            .parse()
            .ok()
            .filter(|_| given.starts_with("job_"))
            .ok_or_else(|| fault::job_not_found(given))?;
        let found = self.engine.visible_run(&context.principal, &job_id).await;
        match found {
            Ok(record) if record.kind == KIND && !self.is_expired(&record) => Ok(record),
            Ok(_) => Err(fault::job_not_found(given)),
            Err(problem) if problem.code().name == "RUN_NOT_FOUND" => {
                Err(fault::job_not_found(given))
            }
            Err(problem) => Err(problem),
        }
    }

    /// Whether a job ended so long ago that it is as good as gone.
    fn is_expired(&self, record: &RunRecord) -> bool {
        let until = record.updated_at.after(self.outside.retention);
        record.state.is_final() && self.engine.now() >= until
    }

    /// Makes a job of what is wanted, if there is room for one, or finds the one that the same key
    /// made.
    async fn create_job(
        &self,
        context: &CallContext,
        wanted: Wanted,
        key: Option<String>,
    ) -> Result<RunId, Problem> {
        let new = self.new_run(KIND, context, wanted, key)?;
        let created = self.engine.create_job(new).await;
        created.map_err(|problem| match problem.code().name {
            "IDEMPOTENCY_CONFLICT" => fault::invalid(
                "idempotency_key",
                "conflict",
                "The 'idempotency_key' field was used before with another input",
            ),
            _ => problem,
        })
    }

    /// Makes a run of a call whose caller waits for its end.
    async fn create_call(&self, context: &CallContext, wanted: Wanted) -> Result<RunId, Problem> {
        let new = self.new_run(CALL_KIND, context, wanted, None)?;
        self.engine.create_run(new).await
    }

    fn new_run(
        &self,
        kind: &str,
        context: &CallContext,
        wanted: Wanted,
        key: Option<String>,
    ) -> Result<NewRun, Problem> {
        let engine = &self.engine;
        let fresh = format!(
            "job_{}",
            windlass_types::id::base32(random(&*engine.entropy))
        );
        let fresh: RunId = fresh
            .parse()
            .map_err(|error| Problem::internal("job id", error))?;
        let title = title(&wanted);
        let input = JobInput {
            wanted,
            generator: self.outside.generator_name().to_owned(),
        };
        Ok(NewRun {
            kind: kind.to_owned(),
            title,
            context: context.clone(),
            input: serde_json::to_value(&input)
                .map_err(|error| Problem::internal("pipeline input", error))?,
            plan_digest: None,
            confirm_token: None,
            approval: None,
            idempotency_key: key,
            run_id: Some(fresh),
            holds: windlass_engine::run::Holds::default(),
        })
    }
}

/// The first words of a spec.
fn title(wanted: &Wanted) -> String {
    let words: Vec<&str> = wanted.spec.split_whitespace().take(8).collect();
    let text: String = words.join(" ").chars().take(60).collect();
    format!("pipeline: {text}")
}

/// The beginning of a tool's definition.
fn tool(verb: &str, title: &str, description: &str) -> OperationBuilder {
    operation("pipeline", verb)
        .tool(&format!("aios_{verb}"))
        .describe(title, description)
        .envelope(Envelope::Pipeline)
        .validates_itself()
}
