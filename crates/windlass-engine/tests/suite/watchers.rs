//! Watchers of one run are woken by its events and by nothing else.

use std::{
    future::Future,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use serde_json::json;
use windlass_testkit::{local, program::Op};
use windlass_types::RunState;

use super::support::{Scene, ended, run, scene, start};

const WATCHERS: usize = 200;
const HOUR: Duration = Duration::from_secs(3600);

/// Counts how often a future is polled.
async fn counted<T>(count: Arc<AtomicUsize>, work: impl Future<Output = T>) -> T {
    let mut work = std::pin::pin!(work);
    std::future::poll_fn(|context| {
        count.fetch_add(1, Ordering::Relaxed);
        work.as_mut().poll(context)
    })
    .await
}

#[tokio::test]
async fn two_hundred_watchers_of_one_run_sleep_while_others_work() {
    let Scene { world, .. } = scene();
    let process = world.driving().await;
    let run_id = start(&process, &[Op::wait("go", None)]).await;
    process.idle().await;
    let seen = process.store.journal(&run_id).len() as u64;
    let polls = Arc::new(AtomicUsize::new(0));
    let mut watchers = tokio::task::JoinSet::new();
    for _ in 0..WATCHERS {
        let mut stream = process.engine.follow(&run_id, seen);
        let watch = async move {
            let mut types = Vec::new();
            while types.last().is_none_or(|last| last != "run.completed") {
                let events = stream.next(1, HOUR).await.unwrap();
                types.extend(events.into_iter().map(|event| event.event_type));
            }
            types
        };
        watchers.spawn(counted(Arc::clone(&polls), watch));
    }
    process.idle().await;
    let before = polls.load(Ordering::Relaxed);
    for number in 0..50 {
        let other = [Op::set(&format!("cell{number}"), 1), Op::set("other", 1)];
        assert_eq!(run(&process, &other).await.state, RunState::Completed);
    }
    assert_eq!(polls.load(Ordering::Relaxed), before, "nobody was woken");
    let (engine, principal) = (&process.engine, local());
    let said = engine.send_signal(&principal, &run_id, "go", json!(1));
    said.await.unwrap();
    ended(&process, &run_id).await;
    process.idle().await;
    for types in watchers.join_all().await {
        assert_eq!(
            types,
            ["signal.received", "wait.completed", "run.completed"]
        );
    }
}
