//! `runs.rollback_plan` and `runs.rollback`: taking a completed run back, as a run of its own.

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use windlass_engine::{
    Engine, WeakEngine,
    operation::{CallContext, Change, ChangeInfo, Example},
    run::{RunContext, RunError, RunKind, Step, can_roll_back},
};
use windlass_ports::BoxFuture;
use windlass_types::{
    Body, ChangeAction, EffectClass, Plan, Problem, RunId, RunRecord, RunState, code, plan,
};

use crate::TOOLSET;

const KIND: &str = "runs.rollback";
const PAGE: usize = 1000;
/// How often an unwinding run is looked at when nothing is heard of it.
const LOOK_AGAIN: Duration = Duration::from_secs(30);

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Input {
    /// The completed run to roll back.
    run_id: RunId,
}

/// What the rollback run receives.
#[derive(Debug, Serialize, Deserialize)]
struct Payload {
    run_id: RunId,
    /// The last event of the run when the plan was made: anything that happens to it
    /// afterwards makes another plan.
    last_seq: u64,
}

pub(crate) struct PlanRollback {
    engine: Engine,
}

impl PlanRollback {
    pub(crate) const fn new(engine: Engine) -> Self {
        Self { engine }
    }
}

impl Change for PlanRollback {
    type Input = Input;

    fn info(&self) -> ChangeInfo {
        ChangeInfo {
            toolset: TOOLSET.to_owned(),
            plan_verb: "rollback_plan".to_owned(),
            apply_verb: "rollback".to_owned(),
            title: "Roll back a run".to_owned(),
            description: "Undoes the effects of a completed run, last one first.".to_owned(),
            effect: EffectClass::Destructive,
            kind: KIND.to_owned(),
            examples: vec![Example {
                title: "One run".to_owned(),
                input: json!({ "run_id": "run_0123456789abcdef0123456789abcdef" }),
                output: None,
            }],
        }
    }

    fn search_words(&self) -> &'static [&'static str] {
        &[
            "undo a change that was made",
            "revert",
            "take back",
            "go back to before",
        ]
    }

    fn plan<'a>(
        &'a self,
        context: &'a CallContext,
        input: Input,
    ) -> BoxFuture<'a, Result<Plan, Problem>> {
        Box::pin(async move {
            let record = self
                .engine
                .visible_run(&context.principal, &input.run_id)
                .await?;
            if !can_roll_back(&record) {
                return Err(Problem::new(
                    &code::ILLEGAL_STATE,
                    format!(
                        "run {} is {}; only completed runs, and ended ones with effects that remain, are \
                         rolled back",
                        input.run_id,
                        record.state.as_str()
                    ),
                )
                .with("run_id", input.run_id.as_str())
                .with("state", record.state.as_str()));
            }
            self.engine.refuse_imported(&input.run_id).await?;
            let mut changes = self.undoable(&record).await?;
            changes.reverse();
            let payload = Payload {
                run_id: input.run_id.clone(),
                last_seq: record.last_seq,
            };
            Ok(Plan {
                operation: format!("{TOOLSET}.rollback"),
                effect: EffectClass::Destructive,
                target: input.run_id.to_string(),
                changes,
                payload: serde_json::to_value(payload)
                    .map_err(|error| Problem::internal("rollback plan", error))?,
            })
        })
    }
}

impl PlanRollback {
    /// What the run did that can be undone, in the order it was done.
    async fn undoable(&self, record: &RunRecord) -> Result<Vec<plan::Change>, Problem> {
        let run_id = &record.run_id;
        let done = done_by(record);
        let mut changes = Vec::new();
        let mut after = 0;
        loop {
            let events = self.engine.store.events(run_id, after, PAGE).await?;
            let Some(last) = events.last() else {
                return Ok(changes.into_iter().map(|(_, change)| change).collect());
            };
            after = last.seq;
            for event in &events {
                let body = Body::decode(&event.event_type, &event.payload)
                    .map_err(|error| Problem::internal("journal event", error))?;
                match body {
                    Some(Body::StepCompleted(step)) if step.undoable => {
                        let change = plan::Change {
                            action: ChangeAction::Update,
                            target: step.effect.unwrap_or_else(|| step.key.clone()),
                            summary: format!("undo {:?} of {done}", step.key),
                        };
                        changes.push((step.key, change));
                    }
                    Some(Body::ChildCompleted(child)) => {
                        let change = plan::Change {
                            action: ChangeAction::Execute,
                            target: child.run_id.to_string(),
                            summary: "roll back the child run".to_owned(),
                        };
                        changes.push((child.key, change));
                    }
                    // By an earlier undo that did not succeed wholly.
                    Some(Body::UndoCompleted(undo)) => changes.retain(|(key, _)| *key != undo.key),
                    _ => {}
                }
            }
        }
    }
}

/// What the run was, where it worked and who asked for it: the names of its steps say none of it.
fn done_by(record: &RunRecord) -> String {
    let (operation, targets) = match &record.subject {
        Some(subject) => (subject.operation.as_str(), subject.targets.as_slice()),
        None => (record.kind.as_str(), &[][..]),
    };
    let targets: Vec<&str> = targets
        .iter()
        .map(String::as_str)
        .filter(|target| !target.is_empty())
        .collect();
    let place = match targets.as_slice() {
        [] => String::new(),
        targets => format!(" on {}", targets.join(", ")),
    };
    format!("{operation}{place}, asked for by {}", record.principal)
}

/// The run that takes another run back.
pub(crate) struct RollBack {
    engine: WeakEngine,
}

impl RollBack {
    pub(crate) const fn new(engine: WeakEngine) -> Self {
        Self { engine }
    }
}

impl RunKind for RollBack {
    fn name(&self) -> &str {
        KIND
    }

    fn run<'a>(
        &'a self,
        context: &'a dyn RunContext,
        input: Value,
    ) -> BoxFuture<'a, Result<Value, RunError>> {
        Box::pin(async move {
            let payload: Payload = serde_json::from_value(input)
                .map_err(|error| Problem::internal("rollback input", error))?;
            let run_id = payload.run_id;
            Step::effect("ask", run_id.as_str())
                .input(&run_id)
                .run(context, async |_| {
                    let engine = self.engine.upgrade()?;
                    let principal = context.principal();
                    engine.request_rollback(principal, &run_id, None).await
                })
                .await?;
            let residue: Vec<String> = Step::pure("wait")
                .input(&run_id)
                .run(context, async |_| wait_for_end(&self.engine, &run_id).await)
                .await?;
            if residue.is_empty() {
                return Ok(json!({ "rolled_back": run_id }));
            }
            Err(Problem::new(
                &code::UNDO_CONFLICT,
                format!("{} effects of run {run_id} remain", residue.len()),
            )
            .with("run_id", run_id.as_str())
            .with("residue", json!(residue))
            .next(format!("windlass runs show {run_id}"))
            .into())
        })
    }
}

async fn wait_for_end(engine: &WeakEngine, run_id: &RunId) -> Result<Vec<String>, Problem> {
    loop {
        let engine = engine.upgrade()?;
        let record = engine.settle(run_id, LOOK_AGAIN).await?;
        match record.state {
            // One that had failed or was cancelled before ends as such again.
            RunState::RolledBack | RunState::Failed | RunState::Cancelled => {
                return Ok(record.residue);
            }
            RunState::Held => {
                return Err(record
                    .problem
                    .unwrap_or_else(|| Problem::internal("rollback", "the run is held")));
            }
            _ => {}
        }
    }
}
