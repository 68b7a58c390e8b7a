//! What a journal says about a launch: state, sections, issues, artifacts. A pure function of it.
//!
//! Status, preconditions, lists, the live view and the local telemetry interface all read this.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use windlass_engine::{
    Engine,
    run::{ExportedFile, SIGNAL_CANCEL},
};
use windlass_launch_model::{Issue, LaunchState, Profile, Section, SectionState, ids};
use windlass_types::{
    Body, Digest, Event, Problem, RunId, RunRecord, RunState, SpanId, Timestamp, TraceId,
};

use crate::{event, fault};

const PAGE: usize = 2000;

/// Where a work item stands.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct WorkItem {
    /// `{run_id}:{worker}:{attempt}:{scope_key}`.
    pub work_item_id: String,
    /// Who does it.
    pub worker: String,
    /// On what.
    pub scope_key: String,
    /// Which try this is.
    pub attempt: u32,
    /// `queued`, `running`, `finished`, `failed` or `skipped`.
    pub status: String,
    /// When it was begun.
    pub started_at: Timestamp,
    /// When it ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended_at: Option<Timestamp>,
}

/// An artifact, as `ARTIFACT_WRITTEN` named it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct IndexedArtifact {
    /// Where it is within the run.
    pub path: String,
    /// The SHA-256 of its bytes.
    pub sha256: Digest,
    /// The schema it fits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub schema_id: Option<String>,
    /// Who wrote it.
    pub writer_worker: String,
    /// When.
    pub ts: Timestamp,
    /// The event that says so.
    pub event_id: String,
}

/// Why a run failed, or cannot go on by itself.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Failure {
    /// The run-level code.
    pub code: String,
    /// What happened.
    pub message: String,
    /// The particulars.
    pub details: Value,
}

impl Failure {
    fn of(problem: &Problem) -> Self {
        let mut details = problem.details().clone();
        let code = details
            .remove(fault::FAILURE_CODE)
            .and_then(|code| code.as_str().map(str::to_owned));
        Self {
            code: code.unwrap_or_else(|| problem.code().name.to_owned()),
            message: problem.message().to_owned(),
            details: Value::Object(details),
        }
    }
}

/// The pull request of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct OpenedPr {
    /// Where to look at it.
    pub pr_url: String,
    /// Its branch.
    pub branch: String,
    /// Its commit.
    pub commit_sha: String,
}

/// What came of something a tool asked a parked run to do.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct ActionOutcome {
    pub(crate) action: String,
    /// The calls it answers.
    pub(crate) call_id: String,
    /// What was done.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) result: Option<Value>,
    /// Why it was not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) problem: Option<Problem>,
}

/// A launch, as its journal tells it.
#[derive(Clone, Debug)]
pub struct LaunchView {
    /// The run.
    pub run_id: RunId,
    /// Where it stands.
    pub state: LaunchState,
    /// How far each section is.
    pub section_states: BTreeMap<Section, SectionState>,
    /// Every issue that is open, by id.
    pub open_issues: BTreeMap<String, Issue>,
    /// The newest of every artifact.
    pub artifacts: BTreeMap<String, IndexedArtifact>,
    /// Everything that was begun.
    pub work_items: Vec<WorkItem>,
    /// Why it failed or does not go on.
    pub failure: Option<Failure>,
    /// The pull request.
    pub pr: Option<OpenedPr>,
    /// The hash of its configuration.
    pub config_hash: Digest,
    /// The product.
    pub product_slug: String,
    /// The repositories it reads and changes.
    pub repositories: Vec<String>,
    /// How strictly it is judged.
    pub profile: Profile,
    /// How often issues may be fixed.
    pub max_fix_attempts: u32,
    /// How often that was done.
    pub fix_attempts: u32,
    /// How many validations have ended with a report.
    pub validations: u32,
    /// Whether the last report is good; none without a report.
    pub report_ok: Option<bool>,
    /// Whether it waits to be told what to do.
    pub parked: bool,
    /// Whether it was taken back after it was done.
    pub rolled_back: bool,
    /// When it was created.
    pub started_at: Timestamp,
    /// When it ended.
    pub finished_at: Option<Timestamp>,
    /// When cancelling was asked for.
    pub cancelled_at: Option<Timestamp>,
    /// The trace of the run.
    pub trace_id: TraceId,
    /// The place of the last event.
    pub last_seq: u64,
    pub(crate) outcomes: BTreeMap<String, ActionOutcome>,
    /// The calls whose end is on record, by the key of that record.
    pub(crate) returned: BTreeSet<String>,
    /// Whether nothing more will happen.
    pub(crate) ended: bool,
}

/// What policy rules may name of a launch.
pub(crate) fn targets(run_id: &RunId, product_slug: &str, repositories: &[String]) -> Vec<String> {
    let mut targets = vec![
        run_id.to_string(),
        product_slug.to_owned(),
        ids::branch_name(run_id, product_slug),
    ];
    targets.extend(repositories.iter().cloned());
    targets
}

impl LaunchView {
    fn new(record: &RunRecord) -> Self {
        let config = record.input.get("config").unwrap_or(&Value::Null);
        let text = |key: &str| config.get(key).and_then(Value::as_str).unwrap_or_default();
        let profile = serde_json::from_value(json!(text("validation_profile")));
        let max = config.get("max_fix_attempts").and_then(Value::as_u64);
        Self {
            run_id: record.run_id.clone(),
            state: LaunchState::Created,
            section_states: BTreeMap::new(),
            open_issues: BTreeMap::new(),
            artifacts: BTreeMap::new(),
            work_items: Vec::new(),
            failure: None,
            pr: None,
            config_hash: record
                .input
                .get("config_hash")
                .and_then(|hash| serde_json::from_value(hash.clone()).ok())
                .unwrap_or_default(),
            product_slug: text("product_slug").to_owned(),
            repositories: ["github_repo_url", "site_repo_url", "workflows_repo_url"]
                .into_iter()
                .map(|key| text(key).to_owned())
                .filter(|url| !url.is_empty())
                .collect(),
            profile: profile.unwrap_or_default(),
            max_fix_attempts: max.and_then(|max| u32::try_from(max).ok()).unwrap_or(3),
            fix_attempts: 0,
            validations: 0,
            report_ok: None,
            parked: false,
            rolled_back: false,
            started_at: record.created_at,
            finished_at: None,
            cancelled_at: None,
            trace_id: record.trace_id,
            last_seq: 0,
            outcomes: BTreeMap::new(),
            returned: BTreeSet::new(),
            ended: false,
        }
    }

    /// What policy rules may name: the run, the product, its repositories and its branch.
    pub fn targets(&self) -> Vec<String> {
        targets(&self.run_id, &self.product_slug, &self.repositories)
    }

    /// Whether the engine drives it, or will do so.
    pub fn is_driving(&self) -> bool {
        !self.parked && !self.ended && !self.state.is_terminal()
    }

    /// The open issues in the order they are fixed in.
    pub fn issues_in_order(&self) -> Vec<&Issue> {
        let mut issues: Vec<&Issue> = self.open_issues.values().collect();
        issues.sort_by(|a, b| a.fix_order(b));
        issues
    }

    fn apply(&mut self, event: &Event, body: Body) {
        match body {
            Body::Domain(name, domain) if name == event::TOOL_RETURNED => {
                self.returned.insert(domain.key);
            }
            Body::Domain(name, domain) => self.hear(&name, domain.data, event),
            Body::SignalReceived(signal) if signal.signal == SIGNAL_CANCEL => {
                self.cancelled_at.get_or_insert(event.time);
            }
            Body::RunCompleted(_) => self.end(LaunchState::Done, event),
            Body::RunCancelled(_) => self.end(LaunchState::Cancelled, event),
            Body::RunRolledBack(_) => self.rolled_back = true,
            Body::RunUnwinding(unwinding) => {
                if let Some(problem) = &unwinding.problem {
                    self.failure = Some(Failure::of(problem));
                    self.state = LaunchState::Failed;
                } else if unwinding.reason == windlass_types::journal::UnwindReason::Cancelled {
                    self.state = LaunchState::Cancelled;
                }
            }
            Body::RunFailed(failed) => {
                self.failure = Some(Failure::of(&failed.problem));
                self.end(LaunchState::Failed, event);
            }
            _ => {}
        }
    }

    fn end(&mut self, state: LaunchState, event: &Event) {
        self.state = state;
        self.finished_at = Some(event.time);
        self.ended = true;
        for item in &mut self.work_items {
            if item.status == "running" || item.status == "queued" {
                item.status = "failed".to_owned();
                item.ended_at = Some(event.time);
            }
        }
    }

    fn hear(&mut self, name: &str, data: Value, event: &Event) {
        let text = |key: &str| data.get(key).and_then(Value::as_str).unwrap_or_default();
        match name {
            event::RUN_STATE_CHANGED | event::RESUME_REWIND => {
                if let Some(state) = LaunchState::by_name(text("to_state")) {
                    self.state = state;
                }
                let problem = data.get("problem").cloned().unwrap_or_default();
                if let Ok(problem) = serde_json::from_value::<Problem>(problem) {
                    self.failure = Some(Failure::of(&problem));
                }
            }
            event::SECTION_STATE_CHANGED => {
                let state = serde_json::from_value(json!(text("to_state")));
                if let (Some(section), Ok(state)) = (Section::by_name(text("section")), state) {
                    self.section_states.insert(section, state);
                }
            }
            event::ARTIFACT_WRITTEN => {
                let entry = json!({
                    "path": data.get("path"),
                    "sha256": data.get("sha256"),
                    "schema_id": data.get("schema_id"),
                    "writer_worker": data.get("writer_worker"),
                    "ts": event.time,
                    "event_id": event_id(event),
                });
                if let Ok(entry) = serde_json::from_value(entry) {
                    self.artifacts.insert(text("name").to_owned(), entry);
                }
            }
            event::WORK_ITEM_QUEUED | event::WORK_ITEM_STARTED => self.begin(&data, name, event),
            event::WORK_ITEM_FINISHED | event::WORK_ITEM_FAILED => self.finish(&data, name, event),
            event::ISSUE_OPENED => {
                let issue = data.get("issue").cloned().unwrap_or_default();
                if let Ok(issue) = serde_json::from_value::<Issue>(issue) {
                    self.open_issues.insert(issue.issue_id.clone(), issue);
                }
            }
            event::ISSUE_RESOLVED => {
                self.open_issues.remove(text("issue_id"));
            }
            event::PR_OPENED => {
                self.pr = Some(OpenedPr {
                    pr_url: text("pr_url").to_owned(),
                    branch: text("branch").to_owned(),
                    commit_sha: text("commit_sha").to_owned(),
                });
            }
            event::ACTION_FINISHED => {
                if let Ok(outcome) = serde_json::from_value::<ActionOutcome>(data) {
                    self.outcomes.insert(outcome.call_id.clone(), outcome);
                }
            }
            _ => {}
        }
    }

    fn begin(&mut self, data: &Value, name: &str, event: &Event) {
        let text = |key: &str| data.get(key).and_then(Value::as_str).unwrap_or_default();
        let id = text("work_item_id");
        let status = if name == event::WORK_ITEM_QUEUED {
            "queued"
        } else {
            "running"
        };
        if let Some(item) = self.work_items.iter_mut().find(|i| i.work_item_id == id) {
            item.status = status.to_owned();
            item.started_at = event.time;
            return;
        }
        // A work item that is begun again was interrupted.
        let scope = text("scope_key");
        for item in &mut self.work_items {
            if item.status == "running" && item.worker == text("worker") && item.scope_key == scope
            {
                item.status = "failed".to_owned();
                item.ended_at = Some(event.time);
            }
        }
        self.work_items.push(WorkItem {
            work_item_id: id.to_owned(),
            worker: text("worker").to_owned(),
            scope_key: scope.to_owned(),
            attempt: data
                .get("attempt")
                .and_then(Value::as_u64)
                .and_then(|attempt| u32::try_from(attempt).ok())
                .unwrap_or(1),
            status: status.to_owned(),
            started_at: event.time,
            ended_at: None,
        });
    }

    fn finish(&mut self, data: &Value, name: &str, event: &Event) {
        let text = |key: &str| data.get(key).and_then(Value::as_str).unwrap_or_default();
        let ok = name == event::WORK_ITEM_FINISHED;
        let id = text("work_item_id");
        if let Some(item) = self.work_items.iter_mut().find(|i| i.work_item_id == id) {
            item.status = if ok { "finished" } else { "failed" }.to_owned();
            item.ended_at = Some(event.time);
        }
        match (text("worker"), ok) {
            ("W7", true) => {
                self.validations += 1;
                self.report_ok = data.pointer("/outputs/ok").and_then(Value::as_bool);
                self.failure = None;
            }
            // Without its tools the run cannot go on by itself, and has not failed.
            ("W7", false) => {
                let problem = data.get("error").cloned().unwrap_or_default();
                if let Ok(problem) = serde_json::from_value::<Problem>(problem) {
                    self.failure = Some(Failure::of(&problem));
                }
            }
            ("W8", true) => self.fix_attempts += 1,
            _ => {}
        }
    }
}

/// The id of an event: its journal and its place there.
fn event_id(event: &Event) -> String {
    format!("{}:{}", event.run_id, event.seq)
}

/// Folds a journal.
pub fn view(record: &RunRecord, events: &[Event]) -> LaunchView {
    let mut view = LaunchView::new(record);
    for event in events {
        view.last_seq = event.seq;
        if let Ok(Some(body)) = Body::decode(&event.event_type, &event.payload) {
            view.apply(event, body);
        }
    }
    view.parked = record.state == RunState::Waiting;
    if record.state == RunState::Held {
        view.state = LaunchState::Failed;
        let problem = record.problem.as_ref();
        view.failure = Some(Failure {
            code: "SnapshotInvalid".to_owned(),
            message: problem.map_or_else(String::new, |problem| problem.message().to_owned()),
            details: json!({}),
        });
    }
    view
}

/// Reads a journal and folds it.
pub(crate) async fn load(engine: &Engine, record: &RunRecord) -> Result<LaunchView, Problem> {
    Ok(view(record, &journal(engine, &record.run_id).await?))
}

/// All events of a run.
pub(crate) async fn journal(engine: &Engine, run_id: &RunId) -> Result<Vec<Event>, Problem> {
    let mut events: Vec<Event> = Vec::new();
    loop {
        let after = events.last().map_or(0, |event| event.seq);
        let page = engine.store.events(run_id, after, PAGE).await?;
        let last = page.len() < PAGE;
        events.extend(page);
        if last {
            return Ok(events);
        }
    }
}

/// One event of a launch, in the contract's form.
#[derive(Clone, Debug, Serialize, Deserialize, schemars::JsonSchema)]
pub struct LaunchEvent {
    /// The journal and the place there.
    pub event_id: String,
    /// The run.
    pub run_id: RunId,
    /// When.
    pub ts: Timestamp,
    /// What.
    #[serde(rename = "type")]
    pub event_type: String,
    /// The particulars.
    pub payload: Value,
    /// The trace.
    pub trace_id: TraceId,
    /// The span.
    pub span_id: SpanId,
    /// The span above it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent_span_id: Option<SpanId>,
    /// The hash of the event before.
    pub prev_hash: Digest,
    /// The hash of this one.
    pub event_hash: Digest,
}

/// The events of a launch under the contract's names; the engine's own bookkeeping is left out.
pub fn events_of(record: &RunRecord, events: &[Event]) -> Vec<LaunchEvent> {
    events
        .iter()
        .filter_map(|event| {
            let (event_type, payload) = contract_form(record, event)?;
            Some(LaunchEvent {
                event_id: event_id(event),
                run_id: event.run_id.clone(),
                ts: event.time,
                event_type,
                payload,
                trace_id: record.trace_id,
                span_id: event.span_id,
                parent_span_id: event.parent_span_id,
                prev_hash: event.prev_hash,
                event_hash: event.hash,
            })
        })
        .collect()
}

fn contract_form(record: &RunRecord, event: &Event) -> Option<(String, Value)> {
    let body = Body::decode(&event.event_type, &event.payload).ok()??;
    Some(match body {
        Body::Domain(name, domain) => (name, domain.data),
        Body::RunCreated(_) => {
            let view = LaunchView::new(record);
            let payload = json!({
                "config_hash": view.config_hash,
                "product_slug": view.product_slug,
                "profile": view.profile,
            });
            (event::RUN_CREATED.to_owned(), payload)
        }
        Body::RunCompleted(completed) => (event::RUN_COMPLETED.to_owned(), completed.output),
        Body::RunFailed(failed) => (
            event::RUN_FAILED.to_owned(),
            json!({ "failure": Failure::of(&failed.problem) }),
        ),
        Body::RunCancelled(_) => (
            event::RUN_CANCELLED.to_owned(),
            json!({ "cancelled": true }),
        ),
        _ => return None,
    })
}

/// `snapshot.json`: what a journal says, as a file. The same journal gives the same bytes.
pub fn snapshot(view: &LaunchView) -> Value {
    let issues: Vec<&Issue> = view.issues_in_order();
    json!({
        "schema_version": "1.0",
        "run_id": view.run_id,
        "run_state": view.state,
        "section_states": view.section_states,
        "artifacts_index": view.artifacts,
        "work_items": view.work_items,
        "issues": issues,
    })
}

/// The forms in which an exported launch is also read: its events line by line, and its snapshot.
pub(crate) fn files(record: &RunRecord, events: &[Event]) -> Vec<ExportedFile> {
    let lines = events_of(record, events)
        .iter()
        .map(|event| format!("{}\n", json!(event)))
        .collect();
    let snapshot = snapshot(&view(record, events));
    vec![
        ExportedFile {
            name: "events.ndjson".to_owned(),
            text: lines,
        },
        ExportedFile {
            name: "snapshot.json".to_owned(),
            text: format!("{snapshot:#}\n"),
        },
    ]
}
