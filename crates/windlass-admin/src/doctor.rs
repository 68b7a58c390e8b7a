//! `admin.doctor`: what is wrong with this installation, and what to do about it.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use windlass_engine::{
    Engine,
    operation::{Operation, operation as define},
};
use windlass_ports::{DeliveryFilter, DeliveryState, RunFilter};
use windlass_types::{Problem, RunState};

use crate::TOOLSET;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Input {}

/// One thing that was looked at.
#[derive(Serialize, JsonSchema)]
struct Check {
    /// What.
    name: String,
    /// Whether it is well.
    ok: bool,
    /// What was found.
    finding: String,
    /// What to do about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    next: Option<String>,
}

#[derive(Serialize, JsonSchema)]
struct Output {
    /// Whether everything is well.
    healthy: bool,
    /// Each thing that was looked at.
    checks: Vec<Check>,
}

pub(crate) fn operation(engine: &Engine) -> Arc<dyn Operation> {
    let engine = engine.clone();
    define(TOOLSET, "doctor")
        .describe(
            "Examine the installation",
            "Checks store, driver, runs, webhooks and clock, and suggests fixes.",
        )
        .example("All of it", json!({}))
        .handle(move |_, Input {}| {
            let engine = engine.clone();
            async move {
                let checks = vec![
                    store(&engine).await,
                    driver(&engine).await?,
                    held(&engine).await?,
                    waiting(&engine).await?,
                    webhooks(&engine).await?,
                    clock(&engine).await?,
                ];
                Ok(Output {
                    healthy: checks.iter().all(|check| check.ok),
                    checks,
                })
            }
        })
}

async fn store(engine: &Engine) -> Check {
    let (ok, finding, next) = match engine.store.position().await {
        Ok(position) => (
            true,
            format!("readable, {position} events written so far"),
            None,
        ),
        Err(error) => (
            false,
            error.to_string(),
            Some("windlass store check".to_owned()),
        ),
    };
    Check {
        name: "store".to_owned(),
        ok,
        finding,
        next,
    }
}

async fn driver(engine: &Engine) -> Result<Check, Problem> {
    let unfinished = engine.store.unfinished().await?;
    let (ok, finding, next) = match engine.lease.holder() {
        Some(pid) => (
            true,
            format!("process {pid} drives; {unfinished} runs unfinished"),
            None,
        ),
        None if unfinished == 0 => (
            true,
            "no process drives, and no run needs one".to_owned(),
            None,
        ),
        None => (
            false,
            format!("{unfinished} runs are unfinished and no process drives them"),
            Some("windlass serve".to_owned()),
        ),
    };
    Ok(Check {
        name: "driver".to_owned(),
        ok,
        finding,
        next,
    })
}

async fn held(engine: &Engine) -> Result<Check, Problem> {
    let filter = RunFilter {
        states: vec![RunState::Held],
        limit: 100,
        ..RunFilter::default()
    };
    let runs = engine.store.runs(filter).await?.runs;
    let next = runs
        .first()
        .map(|run| format!("windlass runs show {}", run.run_id));
    Ok(Check {
        name: "held runs".to_owned(),
        ok: runs.is_empty(),
        finding: format!("{} runs are held", runs.len()),
        next,
    })
}

async fn waiting(engine: &Engine) -> Result<Check, Problem> {
    let filter = RunFilter {
        states: vec![RunState::Waiting],
        limit: 500,
        ..RunFilter::default()
    };
    let runs = engine.store.runs(filter).await?.runs;
    let asking: Vec<_> = runs
        .iter()
        .filter(|run| run.waiting_on.iter().any(|(_, on)| on.what == "approval"))
        .collect();
    Ok(Check {
        name: "approvals".to_owned(),
        ok: true,
        finding: format!("{} runs wait for an approval", asking.len()),
        next: asking
            .first()
            .map(|run| format!("windlass runs show {}", run.run_id)),
    })
}

async fn webhooks(engine: &Engine) -> Result<Check, Problem> {
    let filter = DeliveryFilter {
        state: Some(DeliveryState::Dead),
        limit: 1000,
        ..DeliveryFilter::default()
    };
    let dead = engine.deliveries(filter).await?.len();
    Ok(Check {
        name: "webhooks".to_owned(),
        ok: dead == 0,
        finding: format!("{dead} deliveries were given up"),
        next: (dead > 0).then(|| "windlass webhooks deliveries --state dead".to_owned()),
    })
}

/// A clock that runs behind the newest event makes tokens and timers last too long.
async fn clock(engine: &Engine) -> Result<Check, Problem> {
    let newest = engine
        .store
        .runs(RunFilter {
            limit: 1,
            ..RunFilter::default()
        })
        .await?
        .runs;
    let behind = newest
        .first()
        .is_some_and(|run| run.updated_at > engine.now());
    Ok(Check {
        name: "clock".to_owned(),
        ok: !behind,
        finding: if behind {
            "the clock is behind the newest event".to_owned()
        } else {
            "in order".to_owned()
        },
        next: behind.then(|| "set the system clock".to_owned()),
    })
}
