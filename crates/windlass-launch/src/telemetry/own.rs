//! What the journal of a launch says, as runs: the launch itself, and one child per work item,
//! gate, language model call, tool call and call of the commit service. A pure function of it.

use std::collections::HashMap;

use serde_json::{Map, Value, json};
use windlass_launch_model::{LaunchState, Section, repo_url::RepoUrl};
use windlass_types::{Body, Event, RunRecord, SpanId, journal::DomainEvent};

use super::run::{JobType, Run, Status};
use crate::{
    event,
    uuid::uuid_of,
    view::{self, LaunchView},
};

const AGENT: &str = "windlass";

/// A run of ours, and the places in the journal that tell of it.
#[derive(Clone)]
pub(crate) struct OwnRun {
    pub(crate) run: Run,
    pub(crate) seqs: Vec<u64>,
    /// The step whose span is the run's.
    step: Option<String>,
    span: SpanId,
}

/// The launch first, then its children in the order in which they began.
pub(crate) fn runs_of(record: &RunRecord, events: &[Event]) -> Vec<OwnRun> {
    let mut fold = Fold {
        record,
        config: record.input.get("config").unwrap_or(&Value::Null),
        children: Vec::new(),
        open: HashMap::new(),
        steps: HashMap::new(),
        root: None,
        undelivered: false,
        dropped: false,
    };
    for event in events {
        if let Ok(Some(body)) = Body::decode(&event.event_type, &event.payload) {
            fold.hear(event, body);
        }
    }
    let view = view::view(record, events);
    fold.settle(&view);
    let launch = fold.launch(&view, events);
    let mut runs = vec![launch];
    runs.append(&mut fold.children);
    runs
}

struct Fold<'a> {
    record: &'a RunRecord,
    config: &'a Value,
    children: Vec<OwnRun>,
    /// Children that have begun and not ended, by what tells them apart.
    open: HashMap<String, usize>,
    /// The spans of steps that ended.
    steps: HashMap<String, SpanId>,
    /// The span of the latest execution.
    root: Option<SpanId>,
    /// Whether the last word is that something was not delivered.
    undelivered: bool,
    /// Whether something was given up before it was delivered.
    dropped: bool,
}

impl Fold<'_> {
    fn hear(&mut self, event: &Event, body: Body) {
        match body {
            Body::RunStarted(_) => self.root = Some(event.span_id),
            Body::StepStarted(step) => self.commit_begun(event, &step.key),
            Body::StepCompleted(step) => {
                self.steps.insert(step.key.clone(), event.span_id);
                self.close(&step.key, event, Status::Success);
            }
            Body::StepFailed(step) => {
                self.steps.insert(step.key.clone(), event.span_id);
                if let Some(child) = self.close(&step.key, event, Status::Failure) {
                    child.run.error_summary = Some(step.problem.message().to_owned());
                    child.run.error_details = Some(json!({ "code": step.problem.code().name }));
                }
            }
            Body::Domain(name, domain) => self.told(event, &name, &domain),
            _ => {}
        }
    }

    fn told(&mut self, event: &Event, name: &str, domain: &DomainEvent) {
        let data = &domain.data;
        match name {
            event::WORK_ITEM_STARTED => self.work_begun(event, data),
            event::WORK_ITEM_FINISHED => self.work_ended(event, data, Status::Success),
            event::WORK_ITEM_FAILED => self.work_ended(event, data, Status::Failure),
            event::GATE_RUN_STARTED => self.gate_begun(event, data),
            event::GATE_RUN_FINISHED => self.gate_ended(event, data),
            event::LLM_CALL_STARTED => self.llm_begun(event, data),
            event::LLM_CALL_FINISHED => self.llm_ended(event, data, Status::Success),
            event::LLM_CALL_FAILED => self.llm_ended(event, data, Status::Failure),
            event::TOOL_CALLED => self.tool_called(event, domain),
            event::TOOL_RETURNED => self.tool_returned(event, domain),
            event::TELEMETRY_FLUSHED => {
                let pending = data.get("pending").and_then(Value::as_u64);
                self.undelivered = pending.unwrap_or_default() > 0;
            }
            event::TELEMETRY_OUTBOX_TRUNCATED => self.dropped = true,
            _ => {}
        }
    }

    /// Begins a child. `key` tells it apart from all others that are open.
    fn begin(
        &mut self,
        event: &Event,
        key: String,
        name: &str,
        job_type: JobType,
        step: Option<String>,
    ) -> &mut Run {
        let parent = self.record.run_id.as_str();
        let run_id = format!("{parent}-{name}");
        let event_id = uuid_of(&[b"telemetry", run_id.as_bytes()]);
        let mut run = Run::begun(event_id, run_id, AGENT.to_owned(), job_type, event.time);
        run.parent_run_id = Some(parent.to_owned());
        run.product = self.text("product_slug");
        run.product_family = self.text("family");
        run.platform = self.text("target_platform");
        let at = self.children.len();
        self.open.insert(key, at);
        self.children.push(OwnRun {
            run,
            seqs: vec![event.seq],
            step,
            span: event.span_id,
        });
        &mut self.children[at].run
    }

    fn close(&mut self, key: &str, event: &Event, status: Status) -> Option<&mut OwnRun> {
        let child = self.children.get_mut(self.open.remove(key)?)?;
        child.seqs.push(event.seq);
        child.run.end(status, event.time);
        Some(child)
    }

    fn text(&self, key: &str) -> Option<String> {
        let value = self.config.get(key)?.as_str()?;
        Some(value.to_owned())
    }

    fn work_begun(&mut self, event: &Event, data: &Value) {
        let (worker, scope) = (text(data, "worker"), text(data, "scope_key"));
        let attempt = data.get("attempt").and_then(Value::as_u64).unwrap_or(1);
        let key = format!("work:{worker}:{scope}");
        // Begun again: the try before was interrupted.
        if let Some(child) = self.close(&key, event, Status::Failure) {
            child.seqs.pop();
            // The step that ended is that of the next try.
            child.step = None;
            child.run.error_summary = Some("interrupted".to_owned());
        }
        let name = format!("work-{worker}-{scope}-{attempt}");
        // A validation is its gates; what puts their findings together stands for it.
        let step = match (worker, scope.strip_prefix("validation-")) {
            ("W7", Some(number)) => format!("W7:report:{number}"),
            _ => format!("{worker}:{scope}"),
        };
        let run = self.begin(event, key, &name, JobType::Worker, Some(step));
        run.agent_name = worker.to_owned();
        run.item_name = Some(scope.to_owned());
        run.website_section = Section::by_name(scope).map(|section| section.as_str().to_owned());
        run.context_json = Some(json!({
            "work_item_id": data.get("work_item_id"),
            "attempt": attempt,
        }));
    }

    fn work_ended(&mut self, event: &Event, data: &Value, status: Status) {
        let key = format!("work:{}:{}", text(data, "worker"), text(data, "scope_key"));
        let Some(child) = self.close(&key, event, status) else {
            return;
        };
        if status == Status::Success {
            child.run.output_summary = said(data);
        } else {
            let error = data.get("error");
            child.run.error_summary = error.map(|error| text(error, "message").to_owned());
            child.run.error_details = error.map(|error| json!({ "code": error.get("code") }));
        }
    }

    fn gate_begun(&mut self, event: &Event, data: &Value) {
        let (key, name) = gate_names(data);
        let gate = text(data, "gate").to_owned();
        let validation = data.get("validation").cloned();
        let run = self.begin(event, key.clone(), &name, JobType::Gate, Some(key));
        run.item_name = Some(gate);
        run.context_json = Some(json!({ "validation": validation }));
    }

    fn gate_ended(&mut self, event: &Event, data: &Value) {
        let (key, _) = gate_names(data);
        let ok = data.get("ok").and_then(Value::as_bool).unwrap_or(false);
        let status = if ok { Status::Success } else { Status::Failure };
        // What a gate's step says of its end is nearer to it than the event after it.
        self.close(&key, event, status);
        let Some(child) = self.ended_gate(&key) else {
            return;
        };
        child.run.status = status;
        child.run.duration_ms = data.get("duration_ms").and_then(Value::as_u64);
        let issues = data.get("issues");
        child.run.metrics_json = Some(json!({
            "issues": issues,
            "skipped": data.get("skipped"),
        }));
        match status {
            Status::Success => child.run.output_summary = said(data),
            _ => child.run.error_summary = said(data),
        }
        child.seqs.push(event.seq);
        child.seqs.dedup();
    }

    /// A gate that has ended, with its step or with its event.
    fn ended_gate(&mut self, key: &str) -> Option<&mut OwnRun> {
        let mut children = self.children.iter_mut().rev();
        children.find(|child| child.step.as_deref() == Some(key) && child.run.end_time.is_some())
    }

    fn llm_begun(&mut self, event: &Event, data: &Value) {
        let call = text(data, "call_id");
        let page = text(data, "page_id").to_owned();
        let step = format!("llm:{page}");
        let (key, name) = (format!("call:{call}"), format!("llm-{call}"));
        let llm = self.config.get("llm").cloned().unwrap_or_default();
        let run = self.begin(event, key, &name, JobType::LlmCall, Some(step));
        run.item_name = Some(page);
        run.context_json = Some(json!({
            "model": data.get("model"),
            "provider_base_url": llm.get("api_base_url"),
            "temperature": llm.pointer("/decoding/temperature"),
            "max_tokens": llm.pointer("/decoding/max_tokens"),
            "prompt_hash": null,
        }));
    }

    fn llm_ended(&mut self, event: &Event, data: &Value, status: Status) {
        let fallback = self.config.pointer("/llm/fallback").cloned();
        let key = format!("call:{}", text(data, "call_id"));
        let Some(child) = self.close(&key, event, status) else {
            return;
        };
        let run = &mut child.run;
        run.duration_ms = data.get("duration_ms").and_then(Value::as_u64);
        if let Some(context) = &mut run.context_json {
            // The other model answers where the first did not.
            if let Some(fallback) = fallback
                && context.get("model") != data.get("model")
                && fallback.get("model") == data.get("model")
            {
                context["provider_base_url"] = json!(fallback.get("api_base_url"));
            }
            context["model"] = json!(data.get("model"));
            context["prompt_hash"] = json!(data.get("prompt_hash"));
        }
        let tokens = |name: &str| data.pointer(&format!("/tokens/{name}"));
        run.metrics_json = Some(json!({
            "prompt_tokens": tokens("prompt_tokens"),
            "completion_tokens": tokens("completion_tokens"),
            "total_tokens": tokens("total_tokens"),
            // No price list is kept here, and a guess would be taken for a figure.
            "api_cost_usd": null,
            "finish_reason": data.get("finish_reason"),
        }));
        match status {
            Status::Success => run.output_summary = said(data),
            _ => run.error_summary = said(data),
        }
    }

    fn tool_called(&mut self, event: &Event, domain: &DomainEvent) {
        let request = request_of(domain);
        let name = format!("tool-{}", uuid_of(&[request.as_bytes()]));
        let tool = text(&domain.data, "tool").to_owned();
        let context = json!({
            "principal": domain.data.get("principal"),
            "input_hash": domain.data.get("input_hash"),
            "request_id": request,
        });
        let key = format!("tool:{request}");
        let run = self.begin(event, key, &name, JobType::McpToolCall, None);
        run.item_name = Some(tool);
        run.context_json = Some(context);
    }

    fn tool_returned(&mut self, event: &Event, domain: &DomainEvent) {
        let code = text(&domain.data, "code");
        let status = match code {
            "OK" => Status::Success,
            "CANCELLED" => Status::Cancelled,
            _ => Status::Failure,
        };
        let key = format!("tool:{}", request_of(domain));
        if let Some(child) = self.close(&key, event, status) {
            child.run.metrics_json = Some(json!({ "code": code }));
            if status != Status::Success {
                child.run.error_summary = Some(code.to_owned());
            }
        }
    }

    /// The two calls of the commit service are effects, with a beginning of their own.
    fn commit_begun(&mut self, event: &Event, key: &str) {
        let (call, number) = match (key.strip_prefix("W9:commit:"), key.strip_prefix("W9:open:")) {
            (Some(number), _) => ("commit", number),
            (_, Some(number)) => ("open-pr", number),
            _ => return,
        };
        if self.open.contains_key(key) {
            return;
        }
        let name = format!("{call}-{number}");
        let adapter = self.config.pointer("/commit_service/adapter").cloned();
        let repository = self.repository("site_repo_url");
        let step = Some(key.to_owned());
        let run = self.begin(event, key.to_owned(), &name, JobType::CommitService, step);
        run.item_name = Some(call.to_owned());
        run.git_repo = repository;
        run.context_json = Some(json!({ "adapter": adapter }));
    }

    /// A repository's address; a path of this machine is nobody else's business.
    fn repository(&self, key: &str) -> Option<String> {
        let url = self.text(key)?;
        let is_remote = RepoUrl::parse(&url).is_ok_and(|url| url.host().is_some());
        is_remote.then_some(url)
    }

    /// Gives every child its span, and an end where the launch had one before it.
    fn settle(&mut self, view: &LaunchView) {
        let trace_id = self.record.trace_id;
        for child in &mut self.children {
            let step = child.step.as_ref().and_then(|step| self.steps.get(step));
            let span = step.copied().unwrap_or(child.span);
            let mut context = match child.run.context_json.take() {
                Some(Value::Object(context)) => context,
                _ => Map::new(),
            };
            context.insert("trace_id".to_owned(), json!(trace_id));
            context.insert("span_id".to_owned(), json!(span));
            child.run.context_json = Some(Value::Object(context));
            let runs_on =
                child.run.status == Status::Running && child.run.job_type != JobType::McpToolCall;
            if let (true, Some(end)) = (runs_on, view.finished_at) {
                let status = match view.state {
                    LaunchState::Cancelled => Status::Cancelled,
                    _ => Status::Failure,
                };
                child.run.end(status, end);
            }
        }
    }

    fn launch(&self, view: &LaunchView, events: &[Event]) -> OwnRun {
        let run_id = view.run_id.to_string();
        let event_id = uuid_of(&[b"telemetry", run_id.as_bytes()]);
        let mut run = Run::begun(
            event_id,
            run_id,
            AGENT.to_owned(),
            JobType::Launch,
            view.started_at,
        );
        if let Some(end) = view.finished_at {
            run.end(Status::Running, end);
        }
        run.status = self.status(view);
        run.product = self.text("product_slug");
        run.product_family = self.text("family");
        run.platform = self.text("target_platform");
        run.item_name = self.text("product_name");
        run.git_repo = self.repository("github_repo_url");
        if let Some(pr) = &view.pr {
            run.git_branch = Some(pr.branch.clone());
            run.commit_hash = Some(pr.commit_sha.clone());
            run.output_summary = Some(pr.pr_url.clone());
        }
        if let Some(failure) = &view.failure {
            run.error_summary = Some(failure.message.clone());
            run.error_details = Some(json!({ "code": failure.code }));
        }
        let work = |status: Option<Status>| {
            let items = self.children.iter().map(|child| &child.run);
            let items = items.filter(|run| run.job_type == JobType::Worker);
            let items = items.filter(|run| status.is_none_or(|status| run.status == status));
            Some(items.count() as u64)
        };
        run.items_discovered = work(None);
        run.items_succeeded = work(Some(Status::Success));
        run.items_failed = work(Some(Status::Failure));
        let of = |job_type: JobType| {
            let children = self.children.iter();
            children.filter(|c| c.run.job_type == job_type).count()
        };
        run.metrics_json = Some(json!({
            "work_items": of(JobType::Worker),
            "gate_runs": of(JobType::Gate),
            "llm_calls": of(JobType::LlmCall),
            "tool_calls": of(JobType::McpToolCall),
            "commit_calls": of(JobType::CommitService),
            "validations": view.validations,
            "fix_attempts": view.fix_attempts,
            "open_issues": view.open_issues.len(),
            "artifacts": view.artifacts.len(),
        }));
        let first = events.first().map(|event| event.span_id);
        let span = self.root.or(first).unwrap_or_default();
        let telemetry = self.config.get("telemetry");
        let told = |key: &str| telemetry.and_then(|telemetry| telemetry.get(key));
        run.context_json = Some(json!({
            "trace_id": self.record.trace_id,
            "span_id": span,
            "state": view.state,
            "parked": view.parked,
            "profile": view.profile,
            "config_hash": view.config_hash,
            "pr_url": view.pr.as_ref().map(|pr| &pr.pr_url),
            "branch": view.pr.as_ref().map(|pr| &pr.branch),
            "commit_sha": view.pr.as_ref().map(|pr| &pr.commit_sha),
            "project": told("project"),
            "run_tags": told("run_tags"),
        }));
        OwnRun {
            run,
            seqs: events.iter().map(|event| event.seq).collect(),
            step: None,
            span,
        }
    }

    fn status(&self, view: &LaunchView) -> Status {
        let code = view.failure.as_ref().map(|failure| failure.code.as_str());
        match (view.state, code) {
            (LaunchState::Done, _) if self.undelivered || self.dropped => Status::Partial,
            (LaunchState::Done, _) => Status::Success,
            (LaunchState::Cancelled, _) => Status::Cancelled,
            (LaunchState::Failed, Some("BUDGET_EXCEEDED_MAX_RUNTIME_S")) => Status::Timeout,
            (LaunchState::Failed, _) => Status::Failure,
            _ => Status::Running,
        }
    }
}

fn gate_names(data: &Value) -> (String, String) {
    let number = data.get("validation").and_then(Value::as_u64).unwrap_or(0);
    let gate = text(data, "gate");
    (
        format!("gate:{number}:{gate}"),
        format!("gate-{number}-{gate}"),
    )
}

/// The request a tool was called with; the event's key ends with it.
fn request_of(domain: &DomainEvent) -> &str {
    domain
        .key
        .split_once(':')
        .map_or("", |(_, request)| request)
}

fn said(data: &Value) -> Option<String> {
    let message = text(data, "message");
    (!message.is_empty()).then(|| message.to_owned())
}

fn text<'a>(value: &'a Value, key: &str) -> &'a str {
    value.get(key).and_then(Value::as_str).unwrap_or_default()
}

#[cfg(test)]
#[path = "own_tests.rs"]
mod tests;
