//! `admin.doctor`: what is wrong with this installation, and what to do about it.

use std::{collections::BTreeSet, sync::Arc};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use windlass_engine::{
    Engine,
    operation::{Operation, operation as define},
};
use windlass_ports::{DeliveryFilter, DeliveryState, LeaseName, RunFilter, StoreError};
use windlass_types::{Problem, RunId, RunState};

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
    let looked = async {
        let position = engine.store.position().await?;
        Ok::<_, StoreError>((position, engine.maintenance.shortfall().await?))
    };
    let (ok, finding, next) = match looked.await {
        Ok((position, None)) => (
            true,
            format!("readable, {position} events written so far"),
            None,
        ),
        Ok((_, Some(shortfall))) => (
            false,
            format!("{shortfall}; nothing is written"),
            Some("restore a backup, or windlass store accept-loss".to_owned()),
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
    let stalled = match engine.lease.holder() {
        Some(_) => Vec::new(),
        None => stalled(engine).await?,
    };
    let (ok, finding) = match (engine.lease.holder(), unfinished, stalled.len()) {
        (Some(pid), ..) => {
            let runs = counted(unfinished, "run");
            (true, format!("process {pid} drives; {runs} unfinished"))
        }
        (None, 0, _) => (true, "no process drives, and no run needs one".to_owned()),
        (None, 1, 0) => (
            true,
            "1 run is unfinished; it waits, or a command drives it".to_owned(),
        ),
        (None, _, 0) => (
            true,
            format!("{unfinished} runs are unfinished; they wait, or a command drives them"),
        ),
        (None, _, 1) => (
            false,
            "1 run could go on, and no process drives it".to_owned(),
        ),
        (None, _, count) => (
            false,
            format!("{count} runs could go on, and no process drives them"),
        ),
    };
    let next = match stalled.as_slice() {
        [] => None,
        [run_id] => Some(format!("windlass runs resume {run_id}")),
        _ => Some("windlass serve".to_owned()),
    };
    Ok(Check {
        name: "driver".to_owned(),
        ok,
        finding,
        next,
    })
}

/// The runs that could go on and that no process drives. Neither those that wait for an approval or
/// a moment nor those that a command drives.
async fn stalled(engine: &Engine) -> Result<Vec<RunId>, Problem> {
    let store = &engine.store;
    let mut ready: BTreeSet<RunId> = store.due(None, engine.now()).await?.into_iter().collect();
    ready.extend(store.signalled().await?);
    ready.extend(
        store
            .leases()
            .await?
            .into_iter()
            .filter_map(|lease| match lease.name {
                LeaseName::Run(run_id) if !lease.is_alive => Some(run_id),
                _ => None,
            }),
    );
    let mut stalled = Vec::new();
    for run_id in ready {
        let Some(run) = store.run(&run_id).await? else {
            continue;
        };
        let is_open = !run.state.is_final() && run.state != RunState::Held;
        let asks = run.wanted_approvers().is_some();
        if is_open && !asks && engine.driven_by(&run_id).await?.is_none() {
            stalled.push(run_id);
        }
    }
    Ok(stalled)
}

/// A count and its noun: `1 run`, `2 runs`.
fn counted(count: u64, noun: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} {noun}{plural}")
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
        finding: match runs.len() {
            1 => "1 run is held".to_owned(),
            count => format!("{count} runs are held"),
        },
        next,
    })
}

async fn waiting(engine: &Engine) -> Result<Check, Problem> {
    let filter = RunFilter {
        states: vec![RunState::Queued, RunState::Waiting],
        limit: 500,
        ..RunFilter::default()
    };
    let runs = engine.store.runs(filter).await?.runs;
    let asking: Vec<_> = runs
        .iter()
        .filter(|run| run.wanted_approvers().is_some())
        .collect();
    Ok(Check {
        name: "approvals".to_owned(),
        ok: true,
        finding: match asking.len() {
            1 => "1 run waits for an approval".to_owned(),
            count => format!("{count} runs wait for an approval"),
        },
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
        finding: match dead {
            1 => "1 delivery was given up".to_owned(),
            count => format!("{count} deliveries were given up"),
        },
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
