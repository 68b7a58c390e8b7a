//! A job that is killed at every write, and what its model's server was asked in all.

use std::{
    collections::{HashMap, HashSet},
    time::Duration,
};

use serde_json::json;
use windlass_pipeline::GeneratorChoice;
use windlass_testkit::{Moment, Process, TestWorld, local};
use windlass_types::{Body, RunId, RunState};

use super::{
    models::good,
    served::{Served, says},
    world::SPEC,
};

/// Long enough for a loaded machine, short enough to notice a hang.
const TIMEOUT: Duration = Duration::from_secs(30);

async fn has_ended(client: &Process, run_id: &RunId) -> RunState {
    let began = std::time::Instant::now();
    loop {
        let record = client.engine.visible_run(&local(), run_id).await.unwrap();
        if record.state.is_final() {
            return record.state;
        }
        let story = || client.event_types(run_id).join(", ");
        assert!(began.elapsed() < TIMEOUT, "it stays at {}", story());
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn no_answer_is_paid_for_twice() {
    let good = good().await.to_string();
    let (mut write, mut deaths) = (0, 0);
    loop {
        write += 1;
        let mut is_beyond = false;
        for moment in Moment::ALL {
            // The first answer is no JSON and is sent back; the second one is taken.
            let served = Served::new([says("Certainly!"), says(&good)]).await;
            let asked = served.clone();
            let world = TestWorld::new(move || vec![asked.domain(GeneratorChoice::Llm)]);
            let world = world.with_threads();
            let client = world.process();
            let input = json!({ "spec": SPEC, "phases": ["strategy"], "generator": "llm" });
            let run_id = client.start("pipeline", input).await;
            let store = world.disk.open_again();
            store.crash_at(write, moment);
            let mut process = world.process_on(store.clone());
            // A dead process does nothing more: it may die while it begins to drive.
            let life = async {
                process.drive().await;
                has_ended(&client, &run_id).await
            };
            let has_died = tokio::select! {
                () = store.died() => true,
                _ = life => false,
            };
            drop(process);
            if has_died {
                deaths += 1;
                let process = world.driving().await;
                has_ended(&client, &run_id).await;
                process.stop().await;
            }
            is_beyond |= !has_died;
            let state = has_ended(&client, &run_id).await;
            assert_eq!(state, RunState::Completed, "write {write}, {moment:?}");

            let mut known = HashSet::new();
            let mut tries = 0;
            for event in world.disk.journal(&run_id) {
                match Body::decode(&event.event_type, &event.payload).unwrap() {
                    Some(Body::StepStarted(step)) => {
                        assert!(!known.contains(&step.key), "{} is known", step.key);
                        tries += 1;
                    }
                    Some(Body::StepCompleted(step)) => drop(known.insert(step.key)),
                    _ => {}
                }
            }
            let asked = served.asked();
            assert!(asked.len() <= tries, "{} of {tries}", asked.len());
            // One call may have been under way when the process died.
            let most = 2 + usize::from(has_died);
            assert!(asked.len() <= most, "write {write}, {moment:?}");
            let mut keys = HashMap::new();
            for (request, key) in asked.iter().zip(served.idempotency_keys()) {
                assert!(!key.is_empty(), "no idempotency key");
                let first = keys.entry(request.to_string()).or_insert(key.clone());
                assert_eq!(*first, key, "the same question has another key");
            }
        }
        if is_beyond {
            break;
        }
    }
    assert!(deaths > 20, "{deaths} deaths");
}
