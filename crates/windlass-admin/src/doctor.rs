//! `admin.doctor`: what is wrong with this installation, and what to do about it.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use windlass_engine::{
    ClockState, DiskState, Engine,
    operation::{Operation, operation as define},
};
use windlass_ports::{DeliveryFilter, DeliveryState, RunFilter, StoreError, Trust};
use windlass_types::{Problem, RunState};

use crate::TOOLSET;

/// Unfinished runs whose journals are read, newest first.
const LOOKED_AT: usize = 1000;

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

pub(crate) fn operation(engine: &Engine, trust: &Arc<dyn Trust>) -> Arc<dyn Operation> {
    let (engine, trust) = (engine.clone(), Arc::clone(trust));
    define(TOOLSET, "doctor")
        .describe(
            "Examine the installation",
            "Checks store, disk, key files, driver, runs, webhooks, clock, anchors and trust decisions, and suggests fixes.",
        )
        .example("All of it", json!({}))
        .handle(move |_, Input {}| {
            let (engine, trust) = (engine.clone(), Arc::clone(&trust));
            async move {
                let disk = Disk(engine.probe_disk().await);
                let checks = vec![
                    store(&engine).await,
                    disk.check(),
                    disk.keys(),
                    driver(&engine).await?,
                    damaged(&engine).await?,
                    held(&engine).await?,
                    waiting(&engine).await?,
                    webhooks(&engine).await?,
                    clock(&engine).await?,
                    anchors(&engine).await,
                    decisions(&*trust),
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
    let held = engine.maintenance.held_by().await.unwrap_or_default();
    let (ok, finding, next) = match (looked.await, held) {
        (Ok((position, None)), Some((holder, true))) => (
            false,
            format!("readable, {position} events written so far; {holder}"),
            Some("continue or end that process; others cannot write until then".to_owned()),
        ),
        (Ok((position, None)), holder) => {
            let writes = holder.map_or_else(String::new, |(holder, _)| format!("; {holder}"));
            let finding = format!("readable, {position} events written so far{writes}");
            (true, finding, None)
        }
        (Ok((_, Some(shortfall))), _) => (
            false,
            format!("{shortfall}; nothing is written"),
            Some("restore a backup, or windlass store accept-loss".to_owned()),
        ),
        (Err(error), _) => (
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

/// The disk of the home, as it answered a write.
struct Disk(DiskState);

impl Disk {
    fn check(&self) -> Check {
        let room = "make room, or windlass store prune --keep-days N";
        let look = "look at the disk and at the system log";
        let (ok, finding, next) = match &self.0 {
            DiskState::Fine(_) => (true, "takes writes".to_owned(), None),
            DiskState::Low(probe) => {
                let free = probe.free_bytes >> 20;
                (
                    false,
                    format!("takes writes; only {free} MiB are free"),
                    Some(room),
                )
            }
            DiskState::Failing(StoreError::Full) => {
                (false, "full; nothing is written".to_owned(), Some(room))
            }
            DiskState::Failing(error) => {
                (false, format!("does not take writes: {error}"), Some(look))
            }
            DiskState::Hung => (false, "does not answer".to_owned(), Some(look)),
        };
        Check {
            name: "disk".to_owned(),
            ok,
            finding,
            next: next.map(str::to_owned),
        }
    }

    fn keys(&self) -> Check {
        let unusable: &[String] = match &self.0 {
            DiskState::Fine(Some(probe)) | DiskState::Low(probe) => &probe.unusable_keys,
            _ => &[],
        };
        Check {
            name: "key files".to_owned(),
            ok: unusable.is_empty(),
            finding: match unusable {
                [] => "usable".to_owned(),
                unusable => unusable.join("; "),
            },
            next: unusable
                .first()
                .map(|finding| key_advice(finding).to_owned()),
        }
    }
}

/// What to do about a key file that the next start cannot use.
fn key_advice(finding: &str) -> &'static str {
    if finding.ends_with("may read it") {
        "chmod 600 the file"
    } else if finding.ends_with("may open it") {
        "chmod 700 the directory"
    } else if finding.contains("store.key") {
        "put it back from a backup; without one: rm -f the file, then windlass store accept-loss"
    } else {
        "put it back from a backup; without one, the next start makes a new one once the file is gone"
    }
}

/// Whether anchors of the history are kept where the settings say.
async fn anchors(engine: &Engine) -> Check {
    let states = engine.anchor_states().await;
    let failing = states.iter().find(|state| state.error.is_some());
    let newest = states.iter().filter_map(|state| state.kept_at).max();
    let finding = match (failing, newest) {
        (Some(state), _) => {
            let since = state.failing_since;
            let since = since.map_or_else(String::new, |since| format!(" since {since}"));
            let why = state.error.as_deref().unwrap_or_default();
            format!("not kept in {}{since}: {why}", state.place)
        }
        (None, Some(newest)) => format!("the newest was kept at {newest}"),
        (None, None) if engine.has_anchors() => "none was kept yet; windlass serve does".to_owned(),
        (None, None) => "none are configured".to_owned(),
    };
    Check {
        name: "anchors".to_owned(),
        ok: failing.is_none(),
        finding,
        next: failing.map(|_| "look at the place; anchor_… in [store] of config.toml".to_owned()),
    }
}

/// Runs whose journal is damaged: those that failed because of it, and those that wait and will.
async fn damaged(engine: &Engine) -> Result<Check, Problem> {
    let mut damaged = engine.damaged_runs().await?;
    let filter = RunFilter {
        states: RunState::ALL
            .into_iter()
            .filter(|state| !state.is_final())
            .collect(),
        limit: LOOKED_AT,
        ..RunFilter::default()
    };
    for run in engine.store.runs(filter).await?.runs {
        if let Some(finding) = engine.journal_damage(&run.run_id).await? {
            damaged.push((run.run_id, finding));
        }
    }
    Ok(Check {
        name: "journals".to_owned(),
        ok: damaged.is_empty(),
        finding: match damaged.as_slice() {
            [] => "those of unfinished runs can be read".to_owned(),
            [(run_id, finding)] => format!("that of {run_id} is damaged: {finding}"),
            [(run_id, _), ..] => {
                let others = counted(damaged.len() as u64 - 1, "other run");
                format!("those of {run_id} and of {others} are damaged")
            }
        },
        next: (!damaged.is_empty())
            .then(|| "windlass store check; restore a backup, or start the run again".to_owned()),
    })
}

/// Whether the trust decisions can be read; while they cannot, nothing of a project runs.
fn decisions(trust: &dyn Trust) -> Check {
    let (ok, finding, next) = match trust.decisions() {
        Ok(decisions) => {
            let count = counted(decisions.len() as u64, "decision");
            (true, format!("{count} about directories"), None)
        }
        Err(problem) => (
            false,
            problem.message().to_owned(),
            problem.next_actions().first().cloned(),
        ),
    };
    Check {
        name: "trust".to_owned(),
        ok,
        finding,
        next,
    }
}

async fn driver(engine: &Engine) -> Result<Check, Problem> {
    let unfinished = engine.store.unfinished().await?;
    let stalled = engine.stalled_runs().await?;
    let (ok, finding) = match (engine.lease.holder(), unfinished, stalled.len()) {
        (Some(pid), _, 0) => {
            let runs = counted(unfinished, "run");
            (true, format!("process {pid} drives; {runs} unfinished"))
        }
        (Some(pid), _, count) => {
            let runs = counted(count as u64, "run");
            (
                false,
                format!(
                    "process {pid} is the driver and hangs: {runs} could continue, but nothing happens"
                ),
            )
        }
        (None, 0, _) => (
            true,
            "no driver is running, and no run needs one".to_owned(),
        ),
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
            "1 run could continue, but no driver is running".to_owned(),
        ),
        (None, _, count) => (
            false,
            format!("{count} runs could continue, but no driver is running"),
        ),
    };
    let next = match stalled.as_slice() {
        [] => None,
        _ if !ok && engine.lease.holder().is_some() => Some("restart windlass serve".to_owned()),
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
        .filter(|run| run.wanted_approval().is_some())
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
    let (ok, finding, next) = match engine.clock_state() {
        ClockState::InStep if behind => (
            false,
            "the clock is behind the newest event".to_owned(),
            Some("set the system clock"),
        ),
        ClockState::InStep => (true, "in order".to_owned(), None),
        state => {
            let next = match state {
                ClockState::Ahead(_) => "set the system clock, if it is wrong",
                _ => {
                    "set the system clock; if it is right, stop every windlass process and remove windlass.clock"
                }
            };
            let told = state.told().map(|(_, told)| told);
            (false, told.unwrap_or_default(), Some(next))
        }
    };
    Ok(Check {
        name: "clock".to_owned(),
        ok,
        finding,
        next: next.map(str::to_owned),
    })
}
