//! Thousands of waiting runs on the real store cost a start nothing.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use serde_json::json;
use windlass_engine::{
    Driver, Engine,
    run::{RunKind, SIGNAL_APPROVAL, WaitRequest},
};
use windlass_ports::{RunFilter, RunStore as _};
use windlass_testkit::{local, new_run, program::fn_kind};
use windlass_types::RunState;

use super::on_disk::{engine, options};

const RUNS: usize = 5_000;

/// A run that waits: for an approval, a signal or a day to pass.
fn waits() -> Arc<dyn RunKind> {
    fn_kind("waits", |context, number| {
        Box::pin(async move {
            match number.as_u64().unwrap_or_default() % 3 {
                0 => context.sleep("nap", Duration::from_secs(86_400)).await?,
                1 => drop(context.wait_for(WaitRequest::new("go", "go")).await?),
                _ => drop(
                    context
                        .wait_for(WaitRequest::new("yes", SIGNAL_APPROVAL))
                        .await?,
                ),
            }
            Ok(json!(null))
        })
    })
}

async fn timed_start(engine: &Engine) -> (Driver, Duration) {
    let began = Instant::now();
    let driver = Driver::start_all(engine).await.unwrap();
    (driver, began.elapsed())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_start_writes_no_event_for_waiting_runs() {
    let empty = tempfile::tempdir().unwrap();
    let (nothing, _store) = engine(empty.path(), vec![waits()], options(None));
    let (driver, without) = timed_start(&nothing).await;
    driver.stop().await;

    let home = tempfile::tempdir().unwrap();
    {
        let (engine, store) = engine(home.path(), vec![waits()], options(None));
        let driver = Driver::start_all(&engine).await.unwrap();
        let mut created = tokio::task::JoinSet::new();
        for number in 0..RUNS {
            let engine = engine.clone();
            created
                .spawn(async move { engine.create_ungated(new_run("waits", json!(number))).await });
        }
        while let Some(run) = created.join_next().await {
            run.unwrap().unwrap();
        }
        let not_waiting = RunFilter {
            states: vec![RunState::Queued, RunState::Running],
            limit: 1,
            ..RunFilter::default()
        };
        while !store
            .runs(not_waiting.clone())
            .await
            .unwrap()
            .runs
            .is_empty()
        {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        // Parked after a while: they hold nothing.
        let began = Instant::now();
        while !store.leases().await.unwrap().is_empty() {
            assert!(began.elapsed() < Duration::from_secs(120), "not parked");
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        driver.stop().await;
    }
    let (engine, store) = engine(home.path(), vec![waits()], options(None));
    let before = store.position().await.unwrap();
    // What the machine does besides only adds to a start, so the quickest of a few is compared.
    let mut with = Duration::MAX;
    for _ in 0..4 {
        let (driver, took) = timed_start(&engine).await;
        driver.stop().await;
        with = with.min(took);
    }
    let (driver, took) = timed_start(&engine).await;
    with = with.min(took);
    tokio::time::sleep(Duration::from_millis(500)).await;
    let written = store.position().await.unwrap() - before;
    println!("start with {RUNS} waiting runs: {with:?}, {written} events; empty home: {without:?}");
    assert_eq!((written, driver.live_runs()), (0, 0));
    assert!(
        with < without + Duration::from_millis(250),
        "{with:?} against {without:?}"
    );
    // They are not forgotten.
    let filter = RunFilter {
        limit: 10,
        ..RunFilter::default()
    };
    let some = store.runs(filter).await.unwrap().runs;
    let run = some
        .iter()
        .find(|run| run.waiting_on[0].1.what == "go")
        .unwrap();
    let said = engine
        .send_signal(&local(), &run.run_id, "go", json!(1))
        .await;
    said.unwrap();
    let began = Instant::now();
    loop {
        let found = store.run(&run.run_id).await.unwrap().unwrap();
        if found.state == RunState::Completed {
            break;
        }
        assert!(began.elapsed() < Duration::from_secs(30), "{found:?}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    driver.stop().await;
}
