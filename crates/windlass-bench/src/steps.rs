//! Durable steps: one caller against raw `fdatasync`, 64 callers against one-by-one SQLite commits.

use std::{
    io::Write as _,
    path::Path,
    sync::Arc,
    time::{Duration, Instant},
};

use anyhow::{Context as _, Result};
use serde_json::{Value, json};
use windlass_engine::{
    Domain, Driver, Engine, EngineParts, WeakEngine,
    confirm::Sealer,
    operation::{CallContext, Operation},
    outbox::{OutboxOptions, Schedule},
    run::{Holds, NewRun, RunContext, RunError, RunKind, Step},
};
use windlass_net::{HttpOutbound, OutboundPolicy};
use windlass_policy::Policy;
use windlass_ports::BoxFuture;
use windlass_secrets::Redactor;
use windlass_store::{SqliteStore, SqliteStoreOptions};
use windlass_system::{OsEntropy, SystemClock};
use windlass_types::{Principal, Secret, Surface};

use crate::report::{self, Samples};

const SLOTS: usize = 5;
const STEPS_ALONE: usize = 300;
const CALLERS: usize = 64;
const STEPS_EACH: usize = 40;
/// About what one step's event weighs.
const RECORD: usize = 512;

pub(crate) fn run() -> Result<()> {
    report::heading("durable steps (acknowledged after the flush)");
    let runtime = tokio::runtime::Runtime::new()?;
    // Next to the build's output: on the disk that matters, not on a memory file system.
    let base = crate::process::own()?
        .parent()
        .context("no directory")?
        .to_owned();
    let home = tempfile::tempdir_in(&base)?;
    runtime.block_on(measure(home.path()))
}

async fn measure(home: &Path) -> Result<()> {
    let engine = engine(&home.join("home"), Box::new(BenchDomain))?;
    let driver = Driver::start_all(&engine).await?;
    let mut raw = RawFile::create(&home.join("raw"))?;
    let mut sqlite = PlainSqlite::create(&home.join("plain.db"))?;
    let (mut one, mut flush, mut commit, mut many) = (
        Samples::default(),
        Samples::default(),
        Samples::default(),
        Samples::default(),
    );
    // Warm up: the write-ahead log reaches its size, caches fill.
    steps(&engine, CALLERS, STEPS_EACH).await?;
    for _ in 0..SLOTS {
        flush.push(rate(STEPS_ALONE, || raw.append())?);
        one.push(steps(&engine, 1, STEPS_ALONE).await?);
        commit.push(rate(STEPS_ALONE, || sqlite.commit())?);
        many.push(steps(&engine, CALLERS, STEPS_EACH).await?);
    }
    driver.stop().await;
    report::figure("raw append + fdatasync", &flush, "/s");
    report::figure("plain SQLite commits, one by one", &commit, "/s");
    report::figure("Windlass, 1 caller", &one, "steps/s");
    report::figure("Windlass, 64 callers", &many, "steps/s");
    let slowdown = flush.median() / one.median();
    report::ratio(
        "time of one step / one fdatasync",
        slowdown,
        "≤ 1.2",
        slowdown <= 1.2,
    );
    let gain = many.median() / commit.median();
    report::ratio(
        "64 callers / one-by-one commits",
        gain,
        "≥ 20",
        gain >= 20.0,
    );
    Ok(())
}

fn rate(count: usize, mut work: impl FnMut() -> Result<()>) -> Result<f64> {
    let started = Instant::now();
    for _ in 0..count {
        work()?;
    }
    Ok(count as f64 / started.elapsed().as_secs_f64())
}

/// Steps per second of `callers` runs at once.
async fn steps(engine: &Engine, callers: usize, each: usize) -> Result<f64> {
    let started = Instant::now();
    let mut runs = Vec::with_capacity(callers);
    for _ in 0..callers {
        let new = new_run("bench", json!(each));
        let engine = engine.clone();
        runs.push(tokio::spawn(async move {
            let run_id = engine.create_ungated(new).await?;
            engine.settle(&run_id, Duration::from_secs(600)).await
        }));
    }
    // Time the steps alone: what the code measured between its first and its last.
    let mut longest = 0.0_f64;
    for run in runs {
        let record = run.await??;
        let output = record.output.context("the bench run did not complete")?;
        longest = longest.max(output.as_f64().context("seconds")?);
    }
    let whole = started.elapsed().as_secs_f64();
    let seconds = if callers == 1 { longest } else { whole };
    Ok((callers * each) as f64 / seconds)
}

/// A run as the benchmarks start it.
pub(crate) fn new_run(kind: &str, input: Value) -> NewRun {
    let context = CallContext {
        principal: Principal::local("bench"),
        surface: Surface::Engine,
        request_id: String::new(),
        directory: None,
        terms: windlass_engine::operation::Terms::default(),
    };
    NewRun {
        kind: kind.to_owned(),
        title: kind.to_owned(),
        context,
        input,
        plan_digest: None,
        confirm_token: None,
        approval: None,
        subject: None,
        idempotency_key: None,
        bound_to: None,
        run_id: None,
        holds: Holds::default(),
    }
}

struct BenchDomain;

impl Domain for BenchDomain {
    fn kinds(&self, _: &WeakEngine) -> Vec<Arc<dyn RunKind>> {
        vec![Arc::new(BenchKind)]
    }

    fn operations(&self, _: &Engine) -> Vec<Arc<dyn Operation>> {
        Vec::new()
    }
}

struct BenchKind;

impl RunKind for BenchKind {
    fn name(&self) -> &str {
        "bench"
    }

    fn run<'a>(
        &'a self,
        context: &'a dyn RunContext,
        input: Value,
    ) -> BoxFuture<'a, Result<Value, RunError>> {
        Box::pin(async move {
            // A benchmark may look at the clock; a run that is resumed must not.
            let started = Instant::now();
            let payload = "x".repeat(200);
            for number in 0..input.as_u64().unwrap_or(0) {
                let _: Value = Step::pure("step")
                    .input(&number)
                    .run(context, async |_| {
                        Ok(json!({ "number": number, "payload": payload }))
                    })
                    .await?;
            }
            Ok(json!(started.elapsed().as_secs_f64()))
        })
    }
}

/// An engine on a home, with one domain.
pub(crate) fn engine(home: &Path, domain: Box<dyn Domain>) -> Result<Engine> {
    let store = Arc::new(SqliteStore::open(home, SqliteStoreOptions::default())?);
    let parts = EngineParts {
        store: Arc::clone(&store) as _,
        maintenance: Arc::clone(&store) as _,
        blobs: Arc::clone(&store) as _,
        lease: store as _,
        clock: Arc::new(SystemClock),
        entropy: Arc::new(OsEntropy),
        outbound: Arc::new(HttpOutbound::new(OutboundPolicy {
            allow_private: false,
            allow_http: false,
            allowed_hosts: None,
        })),
        policy: Arc::new(Policy::built_in()),
        redactor: Arc::new(Redactor::new()),
        sealer: Sealer::new(Secret::new(vec![0; 32])),
        outbox: OutboxOptions {
            secrets: Default::default(),
            default_secret: Secret::new("bench".to_owned()),
            sealing_key: Secret::new(vec![0; 32]),
            schedule: Schedule::default(),
            timeout: Duration::from_secs(1),
            rotation_overlap: Duration::from_secs(24 * 3600),
        },
        export_key: Secret::new(vec![0; 32]),
        anchors: Default::default(),
        retention: Default::default(),
        tiers: Default::default(),
        roots: Default::default(),
        probe: None,
    };
    Ok(Engine::new(parts, &[domain]))
}

struct RawFile(fs_err::File);

impl RawFile {
    fn create(path: &Path) -> Result<Self> {
        Ok(Self(fs_err::File::create(path)?))
    }

    fn append(&mut self) -> Result<()> {
        self.0.write_all(&[7; RECORD])?;
        Ok(self.0.sync_data()?)
    }
}

struct PlainSqlite(rusqlite::Connection);

impl PlainSqlite {
    fn create(path: &Path) -> Result<Self> {
        let connection = rusqlite::Connection::open(path)?;
        connection.execute_batch(
            "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; CREATE TABLE record (body BLOB NOT NULL);",
        )?;
        Ok(Self(connection))
    }

    fn commit(&mut self) -> Result<()> {
        self.0.execute(
            "INSERT INTO record (body) VALUES (?1)",
            [[7_u8; RECORD].as_slice()],
        )?;
        Ok(())
    }
}
