//! One operation per tool of the contract, and what they share.

mod artifact;
mod full;
mod generate;
mod schemas;
mod status;

use std::sync::Arc;

use windlass_engine::{
    Engine,
    operation::{CallContext, Explain, Operation, OperationBuilder, ProposedRun, operation},
};
use windlass_ports::entropy::random;
use windlass_types::{Digest, EffectClass, Problem, RunId, RunRecord, journal::ChangeSubject};

use crate::{
    contract::{JOB_LIMIT, PipelineContract},
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

    /// A job that goes on by itself, if the caller's tier leaves room for one; the same key finds
    /// the same job.
    fn propose_job(&self, wanted: Wanted, key: Option<String>) -> Result<ProposedRun, Problem> {
        let explain: Explain = Box::new(|problem| {
            Box::pin(async move {
                match problem.code().name {
                    "IDEMPOTENCY_CONFLICT" => fault::invalid(
                        "idempotency_key",
                        "conflict",
                        "The 'idempotency_key' field was used before with another input",
                    ),
                    _ => problem,
                }
            })
        });
        Ok(ProposedRun {
            job_limit: Some(JOB_LIMIT),
            idempotency_key: key,
            explain: Some(explain),
            ..self.propose("pipeline.full_pipeline", EffectClass::Write, KIND, wanted)?
        })
    }

    /// A run of one phase, whose caller waits for its end.
    fn propose_phase(&self, operation: &str, wanted: Wanted) -> Result<ProposedRun, Problem> {
        self.propose(operation, EffectClass::Read, CALL_KIND, wanted)
    }

    fn propose(
        &self,
        operation: &str,
        effect: EffectClass,
        kind: &str,
        wanted: Wanted,
    ) -> Result<ProposedRun, Problem> {
        let engine = &self.engine;
        let fresh = format!(
            "job_{}",
            windlass_types::id::base32(random(&*engine.entropy))
        );
        let fresh: RunId = fresh
            .parse()
            .map_err(|error| Problem::internal("job id", error))?;
        let title = title(&wanted);
        let mut lines: Vec<String> = wanted
            .phases
            .iter()
            .map(|phase| format!("> {}", phase.as_str()))
            .collect();
        let mut targets = vec![fresh.to_string()];
        if let Some(url) = &wanted.webhook_url {
            lines.push(format!("> {url} is notified of the end"));
            targets.push(url.clone());
        }
        let input = JobInput {
            wanted,
            generator: self.outside.generator_name().to_owned(),
        };
        let input = serde_json::to_value(&input)
            .map_err(|error| Problem::internal("pipeline input", error))?;
        let proposed = ProposedRun::new(operation, effect, kind, input);
        Ok(ProposedRun {
            title,
            plan_digest: Some(Digest::of_json(&proposed.input)),
            subject: ChangeSubject {
                targets,
                lines,
                ..proposed.subject
            },
            run_id: Some(fresh),
            ..proposed
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
        .found_by(search_words(verb))
        .contract(&PipelineContract)
        .validates_itself()
}

/// What people say when they want a tool, in words that its description does not have.
const fn search_words(verb: &str) -> &'static [&'static str] {
    match verb.as_bytes() {
        b"strategize" => &[
            "write user stories from a PRD",
            "what has to be built",
            "roadmap",
        ],
        b"design_architecture" => &["database schema and endpoints of an idea", "entities"],
        b"design_ux" => &["screens, wireframes, navigation", "colours and fonts"],
        b"generate_code" => &["scaffold the source files", "write the app"],
        b"full_pipeline" => &["turn a product spec or an idea into a working app"],
        b"get_status" => &["is the generation finished", "progress"],
        b"get_artifact" => &["download what was generated"],
        _ => &[],
    }
}
