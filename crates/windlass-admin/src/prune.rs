//! `admin.prune_plan` and `admin.prune`: removing old, ended runs and what nothing refers to.

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use windlass_engine::{
    Engine, WeakEngine,
    operation::{CallContext, Change, ChangeInfo, Example},
    run::{RunContext, RunError, RunKind, Step},
};
use windlass_ports::{BoxFuture, store::PruneReport};
use windlass_types::{ChangeAction, EffectClass, Plan, Problem, Timestamp, plan};

use crate::TOOLSET;

const KIND: &str = "admin.prune";
const DAY: u64 = 24 * 3600;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Input {
    /// Runs that ended more than this many days ago are removed.
    #[schemars(range(min = 0, max = 36_500))]
    keep_days: u64,
}

/// What the run receives. Runs that were started by an earlier version have the days.
#[derive(Debug, Serialize, Deserialize)]
#[serde(untagged)]
enum Payload {
    /// What ended by then goes.
    Cutoff { cutoff: Timestamp },
    /// What ended so many days before the run was created.
    KeepDays { keep_days: u64 },
}

pub(crate) struct PlanPrune {
    engine: Engine,
}

impl PlanPrune {
    pub(crate) const fn new(engine: Engine) -> Self {
        Self { engine }
    }
}

impl Change for PlanPrune {
    type Input = Input;

    fn info(&self) -> ChangeInfo {
        ChangeInfo {
            toolset: TOOLSET.to_owned(),
            plan_verb: "prune_plan".to_owned(),
            apply_verb: "prune".to_owned(),
            title: "Prune the store".to_owned(),
            description: "Removes ended runs older than a number of days, expired artifacts and unused contents."
                .to_owned(),
            effect: EffectClass::Destructive,
            kind: KIND.to_owned(),
            examples: vec![Example { title: "Keep a quarter".to_owned(), input: json!({ "keep_days": 90 }), output: None }],
        }
    }

    fn plan<'a>(
        &'a self,
        _context: &'a CallContext,
        input: Input,
    ) -> BoxFuture<'a, Result<Plan, Problem>> {
        Box::pin(async move {
            let now = self.engine.now();
            let cutoff = now.before(Duration::from_secs(input.keep_days * DAY));
            let report = prune(&self.engine, cutoff, now, true).await?;
            let mut changes = Vec::new();
            for (count, what) in [
                (report.runs, "ended runs"),
                (report.events, "events"),
                (report.blobs, "artifact contents"),
            ] {
                if count > 0 {
                    changes.push(plan::Change {
                        action: ChangeAction::Delete,
                        target: what.to_owned(),
                        summary: format!("all from before {cutoff}, {count} as of now"),
                    });
                }
            }
            Ok(Plan {
                operation: format!("{TOOLSET}.prune"),
                effect: EffectClass::Destructive,
                target: "store".to_owned(),
                changes,
                payload: serde_json::to_value(Payload::Cutoff { cutoff })
                    .map_err(|error| Problem::internal("prune plan", error))?,
            })
        })
    }

    fn is_rule(&self) -> bool {
        true
    }

    /// On a full disk nothing could be recorded, not even that it is about to be pruned.
    fn prepare(&self) -> BoxFuture<'_, Result<(), Problem>> {
        Box::pin(async move { Ok(self.engine.maintenance.release_reserve().await?) })
    }
}

/// The run that prunes.
pub(crate) struct Prune {
    engine: WeakEngine,
}

impl Prune {
    pub(crate) const fn new(engine: WeakEngine) -> Self {
        Self { engine }
    }
}

impl RunKind for Prune {
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
                .map_err(|error| Problem::internal("prune input", error))?;
            // The moment of the plan, not of the execution: a resumed run removes the same.
            let now = context.created_at();
            let cutoff = match payload {
                Payload::Cutoff { cutoff } => cutoff,
                Payload::KeepDays { keep_days } => now.before(Duration::from_secs(keep_days * DAY)),
            };
            let removed: Value = Step::effect("prune", "store")
                .input(&payload)
                .run(context, async |_| {
                    let engine = self.engine.upgrade()?;
                    let report = prune(&engine, cutoff, now, false).await?;
                    engine.maintenance.keep_reserve().await?;
                    engine.sweep().await;
                    Ok(json!({
                        "runs": report.runs,
                        "events": report.events,
                        "blobs": report.blobs,
                        "bytes": report.bytes,
                    }))
                })
                .await?;
            Ok(json!({ "removed": removed }))
        })
    }
}

async fn prune(
    engine: &Engine,
    cutoff: Timestamp,
    now: Timestamp,
    dry_run: bool,
) -> Result<PruneReport, Problem> {
    let keep = now.since(cutoff);
    Ok(engine.maintenance.prune(keep, now, dry_run).await?)
}
