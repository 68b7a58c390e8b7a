//! Parked runs and watchers: what 100,000 runs that wait cost a process that drives, and how often
//! 200 watchers of one run are woken while other runs continue.

use std::{
    path::Path,
    process::Command,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use anyhow::{Context as _, Result, bail, ensure};
use serde_json::{Value, json};
use windlass_engine::{
    Domain, Driver, Engine, WeakEngine,
    operation::Operation,
    run::{RunContext, RunError, RunKind, WaitRequest},
};
use windlass_ports::{BoxFuture, Commit, Expect, JournalWrite, RunStore as _};
use windlass_store::{SqliteStore, SqliteStoreOptions};
use windlass_types::{
    Body, Digest, NewEvent, Principal, RunId, RunState, Surface, Timestamp, TraceId,
    event::SpanIds,
    journal::{OnHeld, RunCreated, RunStarted, TimerStarted, WaitStarted},
};

use crate::{process, report, steps};

const PARKED: usize = 100_000;
const PER_COMMIT: usize = 1_000;
const STARTS: usize = 5;
const WATCHERS: usize = 200;
const OTHER_RUNS: usize = 500;
const KIND: &str = "parked";
/// The year 2200: no timer ends during a measurement.
const FAR_AWAY: Timestamp = Timestamp::from_millis(7_258_118_400_000);
const WAIT_LIMIT: Duration = Duration::from_secs(60);

/// What starting to drive a home took, as the helper process prints it.
struct Start {
    millis: f64,
    mebibytes: f64,
}

pub(crate) fn run() -> Result<()> {
    report::heading("100,000 parked runs; 200 watchers of one run");
    let (empty, full) = (tempfile::tempdir()?, tempfile::tempdir()?);
    let runtime = tokio::runtime::Runtime::new()?;
    let (mut without, mut with) = (report::Samples::default(), report::Samples::default());
    let (mut least, mut most) = (report::Samples::default(), report::Samples::default());
    runtime.block_on(fill(full.path()))?;
    for _ in 0..STARTS {
        let start = start_elsewhere(empty.path())?;
        without.push(start.millis);
        least.push(start.mebibytes);
        let start = start_elsewhere(full.path())?;
        with.push(start.millis);
        most.push(start.mebibytes);
    }
    report::figure("start to drive an empty home", &without, "ms");
    report::figure("start to drive 100,000 parked runs", &with, "ms");
    report::figure("memory, empty home", &least, "MiB");
    report::figure("memory, 100,000 parked runs", &most, "MiB");
    let growth = most.median() / least.median();
    report::ratio("memory, parked / empty", growth, "≤ 1.5", growth <= 1.5);
    runtime.block_on(wake(full.path()))?;
    runtime.block_on(watch(empty.path()))
}

/// Starts to drive a home in a process of its own.
fn start_elsewhere(home: &Path) -> Result<Start> {
    let output = Command::new(process::own()?)
        .arg("parked-start")
        .arg(home)
        .output()?;
    ensure!(output.status.success(), "the helper failed");
    let text = String::from_utf8(output.stdout)?;
    let figures = text
        .split_whitespace()
        .map(str::parse)
        .collect::<Result<Vec<f64>, _>>()?;
    let [millis, mebibytes] = figures[..] else {
        bail!("the helper said {text:?}");
    };
    Ok(Start { millis, mebibytes })
}

/// The helper: starts to drive, prints the time until it does and the memory it has then.
#[expect(
    clippy::print_stdout,
    reason = "the process that started it reads this"
)]
pub(crate) fn print_start(arguments: &[String]) -> Result<()> {
    let home = arguments.first().context("the home is missing")?;
    let runtime = tokio::runtime::Runtime::new()?;
    runtime.block_on(async {
        let started = Instant::now();
        let engine = steps::engine(Path::new(home), Box::new(ParkedDomain))?;
        let driver = Driver::start_all(&engine).await?;
        let millis = process::millis(started.elapsed());
        tokio::time::sleep(Duration::from_millis(300)).await;
        ensure!(driver.live_runs() == 0, "parked runs were touched");
        println!("{millis} {}", resident()?);
        driver.stop().await;
        Ok(())
    })
}

/// The memory of this process, in MiB.
fn resident() -> Result<f64> {
    let status = fs_err::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let words = line.context("VmRSS")?.split_whitespace().next();
    Ok(words.context("VmRSS")?.parse::<f64>()? / 1024.0)
}

/// How long a parked run among 100,000 takes to end once it is signalled.
async fn wake(home: &Path) -> Result<()> {
    let engine = steps::engine(home, Box::new(ParkedDomain))?;
    let driver = Driver::start_all(&engine).await?;
    let mut times = report::Samples::default();
    for number in 0..20 {
        let run_id: RunId = name(number * 2)?;
        let started = Instant::now();
        engine
            .send_signal(&Principal::local("bench"), &run_id, "go", json!(null))
            .await?;
        ended(&engine, &run_id).await?;
        times.push(process::millis(started.elapsed()));
    }
    driver.stop().await;
    report::figure("signal to the end of a parked run", &times, "ms");
    Ok(())
}

async fn ended(engine: &Engine, run_id: &RunId) -> Result<()> {
    let mut stream = engine.follow(run_id, 0);
    loop {
        let events = stream.next(100, WAIT_LIMIT).await?;
        let last = events.last().context("the run does not end")?;
        if last.event_type == "run.completed" {
            return Ok(());
        }
    }
}

/// How often watchers of one run are woken by the events of others.
async fn watch(home: &Path) -> Result<()> {
    let engine = steps::engine(home, Box::new(ParkedDomain))?;
    let driver = Driver::start_all(&engine).await?;
    let watched = create(&engine, json!(true)).await?;
    engine.settle(&watched, WAIT_LIMIT).await?;
    let seen = engine.store.run(&watched).await?.context("gone")?.last_seq;
    let mut watchers = tokio::task::JoinSet::new();
    let wakes = Arc::new(AtomicUsize::new(0));
    let mut counters = tokio::task::JoinSet::new();
    for _ in 0..WATCHERS {
        let mut stream = engine.follow(&watched, seen);
        watchers.spawn(async move { stream.next(1, WAIT_LIMIT).await.map(|events| events.len()) });
        // What wakes a watcher, without the timer that ends its wait.
        let mut growth = engine.store.follow(&watched);
        let wakes = Arc::clone(&wakes);
        counters.spawn(async move {
            while growth.changed().await.is_ok() {
                wakes.fetch_add(1, Ordering::Relaxed);
            }
        });
    }
    tokio::time::sleep(Duration::from_millis(300)).await;
    let before = wakes.load(Ordering::Relaxed);
    for _ in 0..OTHER_RUNS {
        let other = create(&engine, json!(false)).await?;
        let record = engine.settle(&other, WAIT_LIMIT).await?;
        ensure!(record.state == RunState::Completed, "an other run failed");
    }
    let woken = wakes.load(Ordering::Relaxed) - before;
    let events = 3 * OTHER_RUNS;
    report::value("events of other runs", events as f64, "");
    report::value("wake-ups of 200 watchers by them", woken as f64, "");
    report::ratio(
        "wake-ups per watcher and foreign event",
        woken as f64 / (events * WATCHERS) as f64,
        "= 0",
        woken == 0,
    );
    engine
        .send_signal(&Principal::local("bench"), &watched, "go", json!(null))
        .await?;
    let statuses = watchers.join_all().await;
    ensure!(
        statuses.iter().all(|count| matches!(count, Ok(1))),
        "a watcher missed the event of its run"
    );
    counters.shutdown().await;
    driver.stop().await;
    Ok(())
}

async fn create(engine: &Engine, waits: Value) -> Result<RunId> {
    Ok(engine.create_ungated(steps::new_run(KIND, waits)).await?)
}

/// Stores parked runs, many to a commit: half of them wait for a signal, half for a day to come.
async fn fill(home: &Path) -> Result<()> {
    let store = SqliteStore::open(home, SqliteStoreOptions::default())?;
    for chunk in 0..PARKED / PER_COMMIT {
        let writes = (0..PER_COMMIT)
            .map(|index| parked_run(chunk * PER_COMMIT + index))
            .collect::<Result<Vec<_>>>()?;
        let commit = Commit {
            writes,
            lease: None,
        };
        store.commit(commit).await?;
    }
    Ok(())
}

fn name(number: usize) -> Result<RunId> {
    Ok(format!("run_parked_{number}").parse()?)
}

fn parked_run(number: usize) -> Result<JournalWrite> {
    let created = RunCreated {
        kind: KIND.to_owned(),
        principal: Principal::local("bench"),
        surface: Surface::Cli,
        parent: None,
        trace_id: TraceId::default(),
        idempotency_key: None,
        config_hash: Digest::ZERO,
        input: json!(true),
        plan_digest: None,
        confirm_token: None,
        approval: None,
        title: format!("parked run {number}"),
        subject: None,
        holds: Vec::new(),
        on_held: OnHeld::default(),
    };
    let started = RunStarted {
        epoch: 0,
        attempt: 1,
    };
    let waits: Body = if number.is_multiple_of(2) {
        WaitStarted {
            key: "go".to_owned(),
            signal: "go".to_owned(),
            also: None,
            question: None,
            prompt: None,
            plan_digest: None,
            terms: windlass_types::ApprovalTerms::default(),
            lines: Vec::new(),
            deadline: None,
        }
        .into()
    } else {
        TimerStarted {
            key: "nap".to_owned(),
            fire_at: FAR_AWAY,
        }
        .into()
    };
    let events = [created.into(), started.into(), waits]
        .iter()
        .map(|body: &Body| {
            let (event_type, payload) = body.encode()?;
            Ok(NewEvent {
                time: Timestamp::from_millis(1),
                event_type,
                payload,
                spans: SpanIds::default(),
            })
        })
        .collect::<Result<Vec<_>>>()?;
    Ok(JournalWrite {
        run_id: name(number)?,
        expect: Expect::New,
        events,
    })
}

struct ParkedDomain;

impl Domain for ParkedDomain {
    fn kinds(&self, _: &WeakEngine) -> Vec<Arc<dyn RunKind>> {
        vec![Arc::new(ParkedKind)]
    }

    fn operations(&self, _: &Engine) -> Vec<Arc<dyn Operation>> {
        Vec::new()
    }
}

/// Waits for a signal if its input says so.
struct ParkedKind;

impl RunKind for ParkedKind {
    fn name(&self) -> &str {
        KIND
    }

    fn run<'a>(
        &'a self,
        context: &'a dyn RunContext,
        input: Value,
    ) -> BoxFuture<'a, Result<Value, RunError>> {
        Box::pin(async move {
            if input == json!(true) {
                context.wait_for(WaitRequest::new("go", "go")).await?;
            }
            Ok(json!(null))
        })
    }
}
