//! What a journal says about a job: phases, progress, error. A pure function of it.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use windlass_engine::{
    Engine,
    contract::{Contract as _, EnvelopeContext},
};
use windlass_pipeline_design::model::Phase;
use windlass_types::{Body, Event, Problem, RunId, RunRecord, RunState, Timestamp};

use crate::contract::PipelineContract;

const PAGE: usize = 2000;

/// A phase began.
pub(crate) const PHASE_STARTED: &str = "PHASE_STARTED";
/// A unit of a phase is done.
pub(crate) const PHASE_PROGRESS: &str = "PHASE_PROGRESS";
/// A phase is done.
pub(crate) const PHASE_COMPLETED: &str = "PHASE_COMPLETED";
/// A phase failed or took too long.
pub(crate) const PHASE_FAILED: &str = "PHASE_FAILED";

/// Where a phase stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum PhaseStatus {
    Queued,
    Running,
    Completed,
    Failed,
    Timeout,
    Skipped,
}

impl PhaseStatus {
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Queued => "queued",
            Self::Running => "running",
            Self::Completed => "completed",
            Self::Failed => "failed",
            Self::Timeout => "timeout",
            Self::Skipped => "skipped",
        }
    }
}

/// Where a job stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum JobStatus {
    Running,
    Completed,
    Failed,
    Timeout,
}

impl JobStatus {
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Completed => "completed",
            Self::Failed => "failed",
            Self::Timeout => "timeout",
        }
    }
}

/// A phase in a status.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub(crate) struct PhaseView {
    pub(crate) status: PhaseStatus,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) started_at: Option<Timestamp>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) duration_ms: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) error: Option<Map<String, Value>>,
    /// How much of it is done, from 0 to 1.
    #[serde(skip)]
    pub(crate) share: f64,
}

/// A job.
#[derive(Clone, Debug)]
pub(crate) struct JobView {
    pub(crate) job_id: RunId,
    pub(crate) status: JobStatus,
    pub(crate) phases: BTreeMap<Phase, PhaseView>,
    pub(crate) progress_percent: u32,
    pub(crate) error: Option<Problem>,
    pub(crate) created_at: Timestamp,
    pub(crate) finished_at: Option<Timestamp>,
    pub(crate) generator: String,
    pub(crate) last_seq: u64,
}

impl JobView {
    /// The phases that are done, in order.
    pub(crate) fn completed(&self) -> Vec<Phase> {
        self.phases
            .iter()
            .filter(|(_, view)| view.status == PhaseStatus::Completed)
            .map(|(phase, _)| *phase)
            .collect()
    }
}

/// How much of the whole a phase is.
const fn weight(phase: Phase) -> u32 {
    match phase {
        Phase::Strategy => 15,
        Phase::Architecture => 25,
        Phase::Ux => 20,
        Phase::Code => 40,
    }
}

/// Folds a journal.
pub(crate) fn view(record: &RunRecord, events: &[Event]) -> JobView {
    let asked = record.input.get("phases").cloned().unwrap_or_default();
    let asked: Vec<Phase> = serde_json::from_value(asked).unwrap_or_default();
    let mut job = JobView {
        job_id: record.run_id.clone(),
        status: JobStatus::Running,
        phases: asked
            .into_iter()
            .map(|phase| {
                let queued = PhaseView {
                    status: PhaseStatus::Queued,
                    started_at: None,
                    duration_ms: None,
                    error: None,
                    share: 0.0,
                };
                (phase, queued)
            })
            .collect(),
        progress_percent: 0,
        error: None,
        created_at: record.created_at,
        finished_at: None,
        generator: record
            .input
            .get("generator")
            .and_then(Value::as_str)
            .unwrap_or("offline")
            .to_owned(),
        last_seq: 0,
    };
    for event in events {
        job.last_seq = event.seq;
        if let Ok(Some(body)) = Body::decode(&event.event_type, &event.payload) {
            hear(&mut job, event, body);
        }
    }
    if record.state == RunState::Held {
        end(&mut job, record.updated_at, record.problem.clone());
    }
    job
}

fn hear(job: &mut JobView, event: &Event, body: Body) {
    match body {
        Body::Domain(name, domain) => phase_event(job, event, &name, &domain.data),
        Body::RunCompleted(_) => {
            job.status = JobStatus::Completed;
            job.finished_at = Some(event.time);
            job.progress_percent = 100;
        }
        Body::RunFailed(failed) => end(job, event.time, Some(failed.problem)),
        Body::RunCancelled(_) => {
            let code = &windlass_types::code::STEP_FAILED;
            let problem = Problem::new(code, "the job was cancelled").with("reason", "cancelled");
            end(job, event.time, Some(problem));
        }
        _ => {}
    }
}

fn phase_event(job: &mut JobView, event: &Event, name: &str, data: &Value) {
    let phase = data.get("phase").and_then(Value::as_str);
    let Some(view) = phase
        .and_then(Phase::by_name)
        .and_then(|phase| job.phases.get_mut(&phase))
    else {
        return;
    };
    match name {
        PHASE_STARTED => {
            view.status = PhaseStatus::Running;
            view.started_at.get_or_insert(event.time);
        }
        PHASE_PROGRESS => {
            view.share = data
                .get("share")
                .and_then(Value::as_f64)
                .unwrap_or(view.share);
        }
        PHASE_COMPLETED => {
            view.status = PhaseStatus::Completed;
            view.share = 1.0;
            view.duration_ms = view.started_at.map(|began| elapsed(began, event.time));
        }
        PHASE_FAILED => {
            let timed_out = data.get("timeout").and_then(Value::as_bool) == Some(true);
            view.status = if timed_out {
                PhaseStatus::Timeout
            } else {
                PhaseStatus::Failed
            };
            view.duration_ms = view.started_at.map(|began| elapsed(began, event.time));
        }
        _ => return,
    }
    // Progress never falls, and is whole only when the job is.
    job.progress_percent = job.progress_percent.max(percent(&job.phases).min(99));
}

fn elapsed(from: Timestamp, to: Timestamp) -> u64 {
    u64::try_from(to.as_millis() - from.as_millis()).unwrap_or_default()
}

/// The share of all requested phases, by weight, rounded down.
fn percent(phases: &BTreeMap<Phase, PhaseView>) -> u32 {
    let all: u32 = phases.keys().map(|phase| weight(*phase)).sum();
    let done: f64 = phases
        .iter()
        .map(|(phase, view)| f64::from(weight(*phase)) * view.share.clamp(0.0, 1.0))
        .sum();
    if all == 0 {
        return 0;
    }
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a share of 100, never negative"
    )]
    let percent = (done * 100.0 / f64::from(all) + 1e-9).floor() as u32;
    percent
}

/// A job that failed: what ran failed, what was to come is skipped.
fn end(job: &mut JobView, at: Timestamp, problem: Option<Problem>) {
    let problem = problem.unwrap_or_else(|| Problem::internal("pipeline", "no reason on record"));
    let code = PipelineContract.code_name(problem.code());
    job.status = if code == "AGENT_TIMEOUT" {
        JobStatus::Timeout
    } else {
        JobStatus::Failed
    };
    job.finished_at = Some(at);
    for view in job.phases.values_mut() {
        match view.status {
            PhaseStatus::Running => {
                view.status = match job.status {
                    JobStatus::Timeout => PhaseStatus::Timeout,
                    _ => PhaseStatus::Failed,
                };
                view.duration_ms = view.started_at.map(|began| elapsed(began, at));
            }
            PhaseStatus::Queued => view.status = PhaseStatus::Skipped,
            _ => {}
        }
        if matches!(view.status, PhaseStatus::Failed | PhaseStatus::Timeout) {
            view.error = Some(error_object(&problem, job.job_id.as_str()));
        }
    }
    job.error = Some(problem);
}

/// The inner error object of the contract, as a failed call has it: what went wrong inside is
/// not told.
pub(crate) fn error_object(problem: &Problem, request_id: &str) -> Map<String, Value> {
    let context = EnvelopeContext {
        operation: "",
        request_id,
        input: &Value::Null,
    };
    match PipelineContract.failure(context, problem)["error"].take() {
        Value::Object(members) => members,
        _ => Map::new(),
    }
}

/// What anyone who follows a job is told of a failure: as much as in its status.
pub(crate) fn shown_message(problem: &Problem) -> String {
    let shown = error_object(problem, "");
    let message = shown.get("message").and_then(Value::as_str);
    message.unwrap_or_default().to_owned()
}

/// Reads a journal and folds it.
pub(crate) async fn load(engine: &Engine, record: &RunRecord) -> Result<JobView, Problem> {
    let mut events: Vec<Event> = Vec::new();
    loop {
        let after = events.last().map_or(0, |event| event.seq);
        let page = engine.store.events(&record.run_id, after, PAGE).await?;
        let last = page.len() < PAGE;
        events.extend(page);
        if last {
            return Ok(view(record, &events));
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_failed_inside_is_not_told() {
        let inside = Problem::internal("content store", "/home/ada/.windlass/blobs: no such file");
        assert_eq!(
            Value::from(error_object(&inside, "req_1")),
            json!({
                "code": "INTERNAL_ERROR",
                "message": "Unexpected server error",
                "details": {},
                "request_id": "req_1",
            })
        );
        let late = crate::fault::timeout(Phase::Ux, 30);
        assert_eq!(
            Value::from(error_object(&late, "req_1")),
            json!({
                "code": "AGENT_TIMEOUT",
                "message": "the ux phase did not end within 30 s",
                "details": { "phase": "ux", "limit_s": 30 },
                "request_id": "req_1",
            })
        );
    }
}
