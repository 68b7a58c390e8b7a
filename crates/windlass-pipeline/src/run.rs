//! The job: phases one after the other, each a durable step whose result is an artifact.
//!
//! A phase reads what earlier phases have left in the store, so that going on after a crash is
//! the same as going on at once. A phase that fails ends the job; what was done before stays.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::{Value, json};
use tokio::sync::Semaphore;
use windlass_engine::{
    Engine, WeakEngine,
    run::{Ended, Entry, RunContext, RunError, RunKind, Step, StepContext, WebhookRequest},
};
use windlass_pipeline_design::model::{ArchitectureOutput, Phase, StrategyOutput, UxOutput};
use windlass_ports::BoxFuture;
use windlass_types::{ArtifactRef, Body, Problem, Timestamp, Visibility};

use crate::{
    address::ArtifactAddress,
    fault,
    input::Wanted,
    make::{self, Material},
    outside::PipelineOutside,
    view::{self, PHASE_COMPLETED, PHASE_FAILED, PHASE_STARTED},
};

/// The kind of a job's run.
pub const KIND: &str = "pipeline";
/// The kind of a call's run: one phase, made while its caller waits. No job, so it counts against
/// no limit of jobs and cannot be asked after.
pub const CALL_KIND: &str = "pipeline_call";

/// What a job receives.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct JobInput {
    /// What is wanted.
    #[serde(flatten)]
    pub(crate) wanted: Wanted,
    /// `offline` or `llm`.
    pub(crate) generator: String,
}

impl JobInput {
    fn is_by_model(&self) -> bool {
        self.generator == "llm"
    }
}

/// The name of a phase's artifact.
pub(crate) fn artifact_name(phase: Phase) -> String {
    format!("{}.json", phase.as_str())
}

/// The code behind jobs and calls.
pub(crate) struct PipelineRun {
    kind: &'static str,
    outside: Arc<PipelineOutside>,
    engine: WeakEngine,
    /// Phases at work at once: as many as there are processors, but for one that answers calls.
    room: Arc<Semaphore>,
}

impl PipelineRun {
    /// The code of jobs and that of calls, which share the room there is.
    pub(crate) fn both(outside: &Arc<PipelineOutside>, engine: &WeakEngine) -> [Self; 2] {
        let processors = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        let room = Arc::new(Semaphore::new(processors.saturating_sub(1).max(1)));
        [KIND, CALL_KIND].map(|kind| Self {
            kind,
            outside: Arc::clone(outside),
            engine: engine.clone(),
            room: Arc::clone(&room),
        })
    }
}

/// What a phase's step keeps.
#[derive(Debug, Serialize, Deserialize)]
struct Made {
    artifact: ArtifactRef,
    ms: u64,
    /// What was asked of a model, for anyone who wants to look.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    record: Option<ArtifactRef>,
}

impl RunKind for PipelineRun {
    fn name(&self) -> &str {
        self.kind
    }

    fn run<'a>(
        &'a self,
        context: &'a dyn RunContext,
        input: Value,
    ) -> BoxFuture<'a, Result<Value, RunError>> {
        Box::pin(async move {
            let input: JobInput = serde_json::from_value(input)
                .map_err(|error| Problem::internal("pipeline input", error))?;
            let mut done: BTreeMap<Phase, ArtifactRef> = BTreeMap::new();
            let mut worked = Duration::ZERO;
            for phase in input.wanted.phases.clone() {
                let made = self.phase(context, phase, &input, &done, worked).await?;
                worked += Duration::from_millis(made.ms);
                done.insert(phase, made.artifact);
            }
            let phases: Vec<_> = done.keys().copied().collect();
            Ok(json!({ "phases_completed": phases }))
        })
    }

    fn farewell<'a>(&'a self, ended: &'a Ended<'a>) -> BoxFuture<'a, Vec<WebhookRequest>> {
        let told = self.told(ended);
        Box::pin(async move { told.into_iter().collect() })
    }

    fn kept_for(&self) -> Option<Duration> {
        Some(self.outside.retention)
    }
}

impl PipelineRun {
    async fn phase(
        &self,
        context: &dyn RunContext,
        phase: Phase,
        input: &JobInput,
        done: &BTreeMap<Phase, ArtifactRef>,
        worked: Duration,
    ) -> Result<Made, RunError> {
        let name = phase.as_str();
        let started = json!({ "phase": name, "message": format!("{name}: begun") });
        record(
            context,
            format!("started:{name}"),
            PHASE_STARTED,
            started,
            Vec::new(),
        )
        .await?;
        let limits = &self.outside.timeouts;
        let limit = limits.phase(phase, input.is_by_model());
        let limit = limit.min(limits.job.saturating_sub(worked));
        let work = PhaseWork {
            run: self,
            phase,
            input,
            done,
            limit,
        };
        let digests: BTreeMap<Phase, _> = done
            .iter()
            .map(|(phase, artifact)| (*phase, artifact.sha256))
            .collect();
        let made: Result<Made, RunError> = Step::pure(format!("phase:{name}"))
            .input(&json!({ "upstream": digests }))
            .run(context, async |step| work.make(&step).await)
            .await;
        match made {
            Ok(made) => {
                let completed = json!({
                    "phase": name,
                    "sha256": made.artifact.sha256,
                    "message": format!("{name}: done"),
                });
                let mut artifacts = vec![made.artifact.clone()];
                artifacts.extend(made.record.clone());
                let key = format!("completed:{name}");
                record(context, key, PHASE_COMPLETED, completed, artifacts).await?;
                Ok(made)
            }
            Err(RunError::Failed(problem)) => {
                let failed = json!({
                    "phase": name,
                    "timeout": problem.code().name == "TIMEOUT",
                    "message": format!("{name}: {}", view::shown_message(&problem)),
                });
                let key = format!("failed:{name}");
                record(context, key, PHASE_FAILED, failed, Vec::new()).await?;
                Err(problem.into())
            }
            Err(other) => Err(other),
        }
    }

    /// Where the end of a job is reported, if a receiver was given.
    fn told(&self, ended: &Ended<'_>) -> Option<WebhookRequest> {
        let input: JobInput = serde_json::from_value(ended.record.input.clone()).ok()?;
        let url = input.wanted.webhook_url?;
        let mut job = view::view(ended.record, ended.events);
        // The last event is not in the journal yet: it comes with this one.
        let (status, problem) = match ended.ending {
            Body::RunCompleted(_) => (view::JobStatus::Completed, None),
            Body::RunFailed(failed) => {
                let timed_out = failed.problem.code().name == "TIMEOUT";
                let status = if timed_out {
                    view::JobStatus::Timeout
                } else {
                    view::JobStatus::Failed
                };
                (status, Some(failed.problem.clone()))
            }
            _ => {
                let code = &windlass_types::code::STEP_FAILED;
                let cancelled =
                    Problem::new(code, "the job was cancelled").with("reason", "cancelled");
                (view::JobStatus::Failed, Some(cancelled))
            }
        };
        job.status = status;
        let event = format!("pipeline.{}", status.as_str());
        let until = ended.at.after(self.outside.retention);
        let base = &(self.outside.public_base)();
        let key = self.outside.signing_key.expose_secret();
        let addresses: BTreeMap<&str, String> = job
            .completed()
            .into_iter()
            .map(|phase| {
                let address = ArtifactAddress {
                    job_id: &ended.record.run_id,
                    phase,
                };
                (phase.as_str(), address.signed(base, key, until))
            })
            .collect();
        let mut body = json!({
            "event": event,
            "type": event,
            "job_id": ended.record.run_id,
            "status": status.as_str(),
            "phases_completed": job.completed(),
            "artifact_urls": addresses,
            "duration_ms": since(ended.record.created_at, ended.at),
            "timestamp": ended.at,
            "generator": input.generator,
        });
        if let Some(problem) = problem {
            body["error"] = view::error_object(&problem, ended.record.run_id.as_str()).into();
        }
        Some(WebhookRequest {
            name: "farewell".to_owned(),
            url,
            event,
            body,
            secret_name: Some(ended.record.principal.id()),
        })
    }
}

fn since(from: Timestamp, to: Timestamp) -> u64 {
    u64::try_from(to.as_millis() - from.as_millis()).unwrap_or_default()
}

async fn record(
    context: &dyn RunContext,
    key: String,
    name: &str,
    data: Value,
    artifacts: Vec<ArtifactRef>,
) -> Result<(), RunError> {
    let mut entries: Vec<Entry> = artifacts.into_iter().map(Entry::Artifact).collect();
    entries.push(Entry::Event {
        key,
        name: name.to_owned(),
        data,
    });
    context.record(entries).await
}

/// What one phase is made with.
struct PhaseWork<'a> {
    run: &'a PipelineRun,
    phase: Phase,
    input: &'a JobInput,
    done: &'a BTreeMap<Phase, ArtifactRef>,
    limit: Duration,
}

impl PhaseWork<'_> {
    fn engine(&self) -> Result<Engine, Problem> {
        self.run.engine.upgrade()
    }

    async fn make(&self, step: &StepContext<'_>) -> Result<Made, Problem> {
        let clock = self.engine()?.clock.clone();
        // Waiting for a place is not working.
        let place = self.run.room.acquire().await;
        let place = place.map_err(|error| Problem::internal("pipeline", error))?;
        let began = clock.now();
        let deadline = began.after(self.limit);
        let made = tokio::select! {
            made = self.generate(step) => made,
            () = clock.sleep_until(deadline) => {
                Err(fault::timeout(self.phase, self.limit.as_secs()))
            }
        };
        drop(place);
        let (artifact, record) = made?;
        Ok(Made {
            artifact,
            record,
            ms: since(began, clock.now()),
        })
    }

    async fn generate(
        &self,
        step: &StepContext<'_>,
    ) -> Result<(ArtifactRef, Option<ArtifactRef>), Problem> {
        let material = self.material().await?;
        let made = if self.input.is_by_model() {
            make::by_model(step, self.phase, material, &self.run.outside).await?
        } else {
            let phase = self.phase;
            let work = move || make::by_rules(phase, &material);
            tokio::task::spawn_blocking(work)
                .await
                .unwrap_or_else(|error| Err(Problem::internal("pipeline work", error)))?
        };
        let artifact = self.keep(&artifact_name(self.phase), &made.output).await?;
        let record = match &made.calls {
            Some(calls) => {
                let name = format!("calls/{}.json", self.phase.as_str());
                let calls = self.engine()?.redactor.redact_value(calls.clone());
                Some(self.keep(&name, &calls).await?)
            }
            None => None,
        };
        Ok((artifact, record))
    }

    /// What is known when the phase begins: given, or left by earlier phases.
    async fn material(&self) -> Result<Material, Problem> {
        let wanted = Arc::new(self.input.wanted.clone());
        let mut material = Material {
            requirements: wanted.requirements.clone(),
            architecture: wanted.architecture.clone(),
            ux_spec: wanted.ux_spec.clone(),
            wanted,
        };
        if let Some(output) = self.earlier::<StrategyOutput>(Phase::Strategy).await? {
            material.requirements = Some(output.requirements);
        }
        if let Some(output) = self
            .earlier::<ArchitectureOutput>(Phase::Architecture)
            .await?
        {
            material.architecture = Some(output.architecture);
        }
        if let Some(output) = self.earlier::<UxOutput>(Phase::Ux).await? {
            material.ux_spec = Some(output.ux_spec);
        }
        Ok(material)
    }

    async fn earlier<T: DeserializeOwned>(&self, phase: Phase) -> Result<Option<T>, Problem> {
        let Some(artifact) = self.done.get(&phase) else {
            return Ok(None);
        };
        let bytes = self.engine()?.blobs.get(artifact.sha256).await;
        let bytes = bytes.map_err(|error| Problem::internal("content store", error))?;
        let read = serde_json::from_slice(&bytes);
        read.map(Some)
            .map_err(|error| Problem::internal("earlier phase", error))
    }

    async fn keep(&self, name: &str, value: &Value) -> Result<ArtifactRef, Problem> {
        let mut text = serde_json::to_string_pretty(value)
            .map_err(|error| Problem::internal("artifact", error))?;
        text.push('\n');
        let size = text.len() as u64;
        let stored = self.engine()?.blobs.put(text.into_bytes()).await;
        Ok(ArtifactRef {
            name: name.to_owned(),
            content_type: "application/json".to_owned(),
            sha256: stored.map_err(|error| Problem::internal("content store", error))?,
            size,
            visibility: Visibility::Private,
            expires_at: None,
        })
    }
}
