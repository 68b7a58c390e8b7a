//! Recovery: from starting a process on a home with 10,000 stored runs, the last one cut off by
//! `kill -9`, to that run's next step.

use std::{
    os::unix::fs::PermissionsExt as _,
    path::Path,
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use anyhow::{Context as _, Result, bail};
use serde_json::json;
use windlass_ports::{Commit, Expect, JournalWrite, RunFilter, RunStore as _};
use windlass_store::{SqliteStore, SqliteStoreOptions};
use windlass_types::{
    Body, Digest, NewEvent, Principal, RunId, RunState, Secret, Surface, Timestamp, TraceId,
    event::SpanIds,
    journal::{OnHeld, RunCompleted, RunCreated},
};

use crate::{
    process,
    report::{self, Samples},
};

const STORED: usize = 10_000;
const KILLS: usize = 12;
const FILES: usize = 1000;
const WAIT_LIMIT: Duration = Duration::from_secs(20);

pub(crate) fn run() -> Result<()> {
    report::heading("recovery: kill -9, start again, first resumed step; 10,000 runs stored");
    let home = tempfile::tempdir()?;
    let scratch = tempfile::tempdir()?;
    let runtime = tokio::runtime::Runtime::new()?;
    runtime.block_on(fill(home.path()))?;
    let windlass = process::windlass()?;
    submit(&windlass, home.path(), scratch.path())?;
    let store = {
        let _inside = runtime.enter();
        SqliteStore::open(home.path(), sealed(home.path())?)?
    };
    let run_id = runtime.block_on(unfinished(&store))?;
    let mut times = Samples::default();
    for _ in 0..KILLS {
        let before = runtime.block_on(last_seq(&store, &run_id))?;
        let started = Instant::now();
        let mut server = serve(&windlass, home.path())?;
        // One event says that the run was started again; the one after it is the step.
        let waited = runtime.block_on(wait_beyond(&store, &run_id, before + 1));
        let elapsed = started.elapsed();
        server.kill()?;
        server.wait()?;
        waited?;
        times.push(process::millis(elapsed));
    }
    report::figure("process start to first resumed step", &times, "ms");
    report::ratio(
        "of 150 ms allowed",
        times.median() / 150.0,
        "≤ 1",
        times.median() <= 150.0,
    );
    Ok(())
}

/// Options with the key that the server will find.
fn sealed(home: &Path) -> Result<SqliteStoreOptions> {
    let path = home.join("keys/store.key");
    if !path.exists() {
        fs_err::create_dir_all(home.join("keys"))?;
        fs_err::write(&path, [7; 32])?;
        fs_err::set_permissions(&path, std::fs::Permissions::from_mode(0o600))?;
    }
    Ok(SqliteStoreOptions {
        seal_key: Some(Secret::new(fs_err::read(path)?)),
        ..SqliteStoreOptions::default()
    })
}

/// Stores ended runs, many to a commit.
async fn fill(home: &Path) -> Result<()> {
    let store = SqliteStore::open(home, sealed(home)?)?;
    for chunk in 0..STORED / 200 {
        let writes = (0..200)
            .map(|index| ended_run(chunk * 200 + index))
            .collect::<Result<Vec<_>>>()?;
        store
            .commit(Commit {
                writes,
                lease: None,
            })
            .await?;
    }
    Ok(())
}

fn ended_run(number: usize) -> Result<JournalWrite> {
    let created = RunCreated {
        kind: "demo".to_owned(),
        principal: Principal::local("bench"),
        surface: Surface::Cli,
        parent: None,
        trace_id: TraceId::default(),
        idempotency_key: None,
        config_hash: Digest::ZERO,
        input: json!({ "number": number }),
        plan_digest: None,
        confirm_token: None,
        approval: None,
        subject: None,
        title: format!("stored run {number}"),
        holds: Vec::new(),
        on_held: OnHeld::default(),
    };
    let events = [
        Body::from(created),
        RunCompleted {
            output: json!(null),
        }
        .into(),
    ]
    .iter()
    .map(|body| {
        let (event_type, payload) = body.encode()?;
        Ok(NewEvent {
            time: Timestamp::from_millis(1),
            event_type,
            payload,
            spans: SpanIds::default(),
        })
    })
    .collect::<Result<Vec<_>>>()?;
    let run_id: RunId = format!("run_stored_{number}").parse()?;
    Ok(JournalWrite {
        run_id,
        expect: Expect::New,
        events,
    })
}

/// Submits a long run that no process drives yet.
fn submit(windlass: &Path, home: &Path, scratch: &Path) -> Result<()> {
    let files: serde_json::Map<String, serde_json::Value> = (0..FILES)
        .map(|index| (format!("file{index:04}"), json!("x")))
        .collect();
    let input = json!({ "dir": scratch, "files": files, "pause_ms": 40 });
    let call = |operation: &str, input: &serde_json::Value| -> Result<serde_json::Value> {
        let output = Command::new(windlass)
            .args([
                "ops",
                "call",
                operation,
                "--detach",
                "--json",
                "--input",
                &input.to_string(),
                "--home",
            ])
            .arg(home)
            .output()?;
        if !output.status.success() {
            bail!(
                "{operation}: {}{}",
                String::from_utf8_lossy(&output.stdout),
                String::from_utf8_lossy(&output.stderr)
            );
        }
        Ok(serde_json::from_slice(&output.stdout)?)
    };
    let plan = call("demo.plan", &input)?;
    let mut apply = input;
    apply["confirm_token"] = plan["confirm_token"].clone();
    apply["yes"] = json!(true);
    call("demo.apply", &apply)?;
    Ok(())
}

fn serve(windlass: &Path, home: &Path) -> Result<Child> {
    Command::new(windlass)
        .args(["serve", "--listen", "127.0.0.1:0", "--home"])
        .arg(home)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .context("windlass serve")
}

async fn unfinished(store: &SqliteStore) -> Result<RunId> {
    let states = RunState::ALL
        .into_iter()
        .filter(|state| !state.is_final())
        .collect();
    let page = store
        .runs(RunFilter {
            states,
            limit: 1,
            ..RunFilter::default()
        })
        .await?;
    Ok(page
        .runs
        .into_iter()
        .next()
        .context("the run was not created")?
        .run_id)
}

async fn last_seq(store: &SqliteStore, run_id: &RunId) -> Result<u64> {
    Ok(store
        .run(run_id)
        .await?
        .context("the run has disappeared")?
        .last_seq)
}

async fn wait_beyond(store: &SqliteStore, run_id: &RunId, seq: u64) -> Result<()> {
    let deadline = Instant::now() + WAIT_LIMIT;
    loop {
        if last_seq(store, run_id).await? > seq {
            return Ok(());
        }
        if Instant::now() > deadline {
            bail!("the run did not continue within {WAIT_LIMIT:?}");
        }
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
}
