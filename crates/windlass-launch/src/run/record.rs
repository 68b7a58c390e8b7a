//! What goes on record: states, sections, work items, artifacts; and how an interruption is
//! dealt with.

use std::future::Future;

use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::{Value, json};
use windlass_engine::run::{Entry, RunError, Step, StepContext};
use windlass_launch_model::{LaunchState, Section, SectionState, Worker, artifact, ids};
use windlass_types::{ArtifactRef, Problem};

use super::{Launch, telemetry::Ending};
use crate::{event, fault};

/// What a piece of work gives back.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Done<T> {
    /// What it made, in the order of the index.
    pub(super) artifacts: Vec<ArtifactRef>,
    /// What the run needs to know.
    pub(super) value: T,
    /// How long it took.
    #[serde(default)]
    pub(super) ms: u64,
}

impl<T> Done<T> {
    pub(super) const fn new(artifacts: Vec<ArtifactRef>, value: T) -> Self {
        Self {
            artifacts,
            value,
            ms: 0,
        }
    }
}

/// A piece of work: who does it, on what, and what people are told.
pub(super) struct Item<'a> {
    pub(super) worker: Worker,
    pub(super) scope: &'a str,
    pub(super) inputs: Value,
    pub(super) message: String,
}

impl<'c> Launch<'c> {
    /// Puts an event on record with the next commit. The key tells it apart from all others.
    pub(super) fn queue(&mut self, key: impl Into<String>, name: &str, data: Value) {
        self.queue.push(Entry::Event {
            key: key.into(),
            name: name.to_owned(),
            data,
        });
    }

    /// Commits what is queued.
    pub(super) async fn commit(&mut self) -> Result<(), RunError> {
        let entries = std::mem::take(&mut self.queue);
        if entries.is_empty() {
            return Ok(());
        }
        self.context.record(entries).await
    }

    /// Goes to another state, if the table has that change and what it needs is there.
    pub(super) fn enter(&mut self, to: LaunchState) -> Result<(), Problem> {
        let missing = artifact::required_on_entry(to)
            .iter()
            .find(|name| !self.artifacts.contains_key(**name));
        let reason = match missing {
            Some(name) => Some(format!("{name} is not there")),
            None if !self.state.may_become(to) => Some("the table has no such change".to_owned()),
            None => None,
        };
        let from = self.state;
        self.transitions += 1;
        let key = format!("state:{}", self.transitions);
        if let Some(reason) = reason {
            let data = json!({ "from_state": from, "to_state": to, "reason": reason });
            self.queue(key, event::INVALID_STATE_TRANSITION, data);
            return Err(Problem::internal(
                "launch state",
                format!("{} cannot become {}: {reason}", from.as_str(), to.as_str()),
            ));
        }
        self.state = to;
        let data = json!({
            "from_state": from,
            "to_state": to,
            "message": format!("{} → {}", from.as_str(), to.as_str()),
        });
        self.queue(key, event::RUN_STATE_CHANGED, data);
        Ok(())
    }

    /// Notes how far a section is.
    pub(super) fn section(&mut self, section: Section, to: SectionState) {
        let from = self.sections.insert(section, to).unwrap_or_default();
        if from == to {
            return;
        }
        self.transitions += 1;
        let key = format!("section:{}:{}", section.as_str(), self.transitions);
        let data = json!({ "section": section, "from_state": from, "to_state": to });
        self.queue(key, event::SECTION_STATE_CHANGED, data);
    }

    /// Deals with interruptions: where the run was taken up again since the last call that is
    /// through, an unstable state goes back to the one it may rest in and comes forward again.
    /// Work that was finished is not done again; what it made is on record.
    pub(super) fn take_up(&mut self, call: &str) -> u32 {
        let since = self.taken_up;
        let times = self.context.resumptions(call);
        while self.taken_up < times {
            self.taken_up += 1;
            let from = self.state;
            let rest = from.rewind();
            if rest == from {
                continue;
            }
            let data = json!({
                "from_state": from,
                "to_state": rest,
                "reason": "interrupted",
                "message": format!("interrupted: {} → {}", from.as_str(), rest.as_str()),
            });
            let key = format!("rewind:{}", self.taken_up);
            self.queue(key, event::RESUME_REWIND, data);
            self.state = rest;
            for next in way_back(rest, from) {
                // Each of these changes was made before, so that the table and the artifacts
                // allow it again.
                let data = json!({ "from_state": self.state, "to_state": next });
                let key = format!("rewind:{}:{}", self.taken_up, next.as_str());
                self.queue(key, event::RUN_STATE_CHANGED, data);
                self.state = *next;
            }
        }
        self.taken_up - since
    }

    /// Does a piece of work once, with everything about it on record.
    pub(super) async fn work<'b, T, F, Fut>(
        &mut self,
        item: Item<'_>,
        mut job: F,
    ) -> Result<T, RunError>
    where
        'c: 'b,
        T: Serialize + DeserializeOwned + Send + 'b,
        F: FnMut(StepContext<'b>) -> Fut + Send + 'b,
        Fut: Future<Output = Result<Done<T>, Problem>> + Send + 'b,
    {
        self.within_time()?;
        let key = step_key(item.worker, item.scope);
        let attempt = 1 + self.take_up(&key);
        let begun = self.begin(&item, attempt);
        self.commit().await?;
        let engine = self.tools.engine.clone();
        let done = Step::pure(&key)
            .input(&item.inputs)
            .run(self.context, move |step| {
                let (job, engine) = (job(step), engine.upgrade());
                async move {
                    let clock = engine?.clock.clone();
                    let began = clock.now();
                    let mut done = job.await?;
                    let took = clock.now().as_millis() - began.as_millis();
                    done.ms = u64::try_from(took).unwrap_or_default();
                    Ok(done)
                }
            })
            .await;
        self.taken_up = self.context.resumptions(&key);
        match done {
            Ok(done) => {
                self.worked_ms += done.ms;
                for artifact in &done.artifacts {
                    self.index(artifact, item.worker);
                }
                let outputs: Vec<&str> = done.artifacts.iter().map(|a| a.name.as_str()).collect();
                let outputs = json!({ "artifacts": outputs });
                self.finish(&begun, outputs, &item.message);
                Ok(done.value)
            }
            Err(RunError::Failed(problem)) => {
                self.give_up(&begun, &problem);
                Err(problem.into())
            }
            Err(other) => Err(other),
        }
    }

    /// Notes that work begins; the payload its end repeats.
    pub(super) fn begin(&mut self, item: &Item<'_>, attempt: u32) -> Value {
        let id = ids::work_item_id(self.context.run_id(), item.worker, attempt, item.scope);
        let payload = json!({
            "work_item_id": id,
            "worker": item.worker,
            "scope_key": item.scope,
            "attempt": attempt,
            "inputs": item.inputs,
        });
        let mut started = payload.clone();
        started["message"] = json!(format!(
            "{} {}: begun",
            item.worker.as_str(),
            item.worker.title()
        ));
        self.queue(
            format!("queued:{id}"),
            event::WORK_ITEM_QUEUED,
            payload.clone(),
        );
        self.queue(format!("started:{id}"), event::WORK_ITEM_STARTED, started);
        payload
    }

    /// Notes that work is done.
    pub(super) fn finish(&mut self, begun: &Value, outputs: Value, message: &str) {
        let mut data = begun.clone();
        data["outputs"] = outputs;
        data["message"] = json!(message);
        let key = format!("ended:{}", text(begun, "work_item_id"));
        self.queue(key, event::WORK_ITEM_FINISHED, data);
    }

    /// Notes that work could not be done.
    pub(super) fn give_up(&mut self, begun: &Value, problem: &Problem) {
        let mut data = begun.clone();
        data["error"] = json!(problem);
        data["message"] = json!(format!("failed: {}", problem.message()));
        let key = format!("ended:{}", text(begun, "work_item_id"));
        self.queue(key, event::WORK_ITEM_FAILED, data);
    }

    /// Puts an artifact into the index.
    pub(super) fn index(&mut self, artifact: &ArtifactRef, writer: Worker) {
        let before = self
            .artifacts
            .insert(artifact.name.clone(), artifact.clone());
        if before.is_some_and(|before| before.sha256 == artifact.sha256) {
            return;
        }
        self.transitions += 1;
        self.queue.push(Entry::Artifact(artifact.clone()));
        let schema_id = artifact::spec_of(&artifact.name).and_then(|spec| spec.schema_id());
        let data = json!({
            "name": artifact.name,
            "path": format!("artifacts/{}", artifact.name),
            "sha256": artifact.sha256,
            "schema_id": schema_id,
            "writer_worker": writer,
        });
        let key = format!("artifact:{}:{}", self.transitions, artifact.name);
        self.queue(key, event::ARTIFACT_WRITTEN, data);
    }

    /// Refuses to begin more work once the time that may be worked is over.
    fn within_time(&self) -> Result<(), Problem> {
        let limit = self.tools.accepted.config().budgets.max_runtime_s;
        let worked = self.worked_ms / 1000;
        if worked > limit {
            return Err(fault::over_budget("max_runtime_s", limit, worked));
        }
        Ok(())
    }

    /// Records the end of a run that failed, and gives the reason back.
    pub(super) async fn fail(&mut self, problem: Problem) -> RunError {
        let recorded = self.record_failure(&problem).await;
        match recorded {
            Ok(()) => problem.into(),
            Err(RunError::Failed(_)) => problem.into(),
            Err(other) => other,
        }
    }

    async fn record_failure(&mut self, problem: &Problem) -> Result<(), RunError> {
        let summary = failure_summary(self.state, problem, self.open.values());
        let tools = &self.tools;
        let kept = Step::pure("failure summary")
            .run(self.context, async |_| {
                tools
                    .keep_text("failure_summary.md", "text/markdown", summary.clone())
                    .await
            })
            .await?;
        self.index(&kept, Worker::Engine);
        if !self.state.is_terminal() {
            self.enter(LaunchState::Failed)?;
            // Anyone who sees the state sees the reason with it.
            if let Some(Entry::Event { data, .. }) = self.queue.last_mut() {
                data["problem"] = json!(problem);
            }
        }
        self.commit().await?;
        self.flush_telemetry(Some(Ending::failed(problem))).await
    }
}

fn failure_summary<'a>(
    state: LaunchState,
    problem: &Problem,
    open: impl Iterator<Item = &'a windlass_launch_model::Issue>,
) -> String {
    let mut text = format!(
        "# The launch failed\n\nIt was {} when this happened: {}\n",
        state.as_str(),
        problem.message()
    );
    let lines: Vec<String> = open
        .map(|issue| format!("- {} ({}): {}\n", issue.title, issue.gate, issue.issue_id))
        .collect();
    if !lines.is_empty() {
        text.push_str("\nOpen issues:\n\n");
        text.push_str(&lines.concat());
    }
    text
}

/// So many of something, for people.
pub(super) fn counted(count: usize, what: &str) -> String {
    let ending = if count == 1 { "" } else { "s" };
    format!("{count} {what}{ending}")
}

/// The key of a work item's step.
pub(super) fn step_key(worker: Worker, scope: &str) -> String {
    format!("{}:{scope}", worker.as_str())
}

/// How an interrupted run comes from where it rests to where it was.
const fn way_back(rest: LaunchState, from: LaunchState) -> &'static [LaunchState] {
    use LaunchState::{DraftReady, Drafting, Fixing, Linking, PlanReady, Validating};
    match (rest, from) {
        (PlanReady, Drafting) => &[Drafting],
        (DraftReady, Linking) => &[Linking],
        (DraftReady, Validating) => &[Linking, Validating],
        (DraftReady, Fixing) => &[Linking, Validating, Fixing],
        _ => &[],
    }
}

fn text<'a>(value: &'a Value, key: &str) -> &'a str {
    value.get(key).and_then(Value::as_str).unwrap_or_default()
}
