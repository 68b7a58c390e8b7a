//! What is left of a job after its time: nothing, and not before.

use std::{sync::Arc, time::Duration};

use serde_json::{Value, json};
use windlass_engine::access::{ApiKeys, NewKey};
use windlass_pipeline::{GeneratorChoice, PipelineOutside, Timeouts};
use windlass_ports::{BlobStore as _, RunStore as _};
use windlass_testkit::{Process, Reply, TestWorld, local};
use windlass_types::{RunId, Scope, Secret};

use super::world::{SPEC, Scripted, offline};

const DAY: Duration = Duration::from_secs(24 * 3600);
const MINUTE: Duration = Duration::from_secs(60);

/// Waits for a run's end without moving the clock: real work takes real time.
async fn ended(process: &Process, run_id: &RunId) {
    let settled = process.engine.settle(run_id, 1000 * DAY);
    let settled = tokio::time::timeout(MINUTE, settled).await;
    assert!(settled.unwrap().unwrap().state.is_final());
}

async fn begin(process: &Process, input: Value) -> Result<RunId, windlass_types::Problem> {
    let answer = process.call("pipeline.full_pipeline", input).await?;
    Ok(answer.output["job_id"].as_str().unwrap().parse().unwrap())
}

#[tokio::test]
async fn a_job_is_removed_completely_seven_days_after_its_end() {
    let world = TestWorld::new(|| vec![offline()]).with_threads();
    let process = world.driving().await;
    let input = json!({ "spec": SPEC, "phases": ["strategy"], "idempotency_key": "k" });
    let job = begin(&process, input.clone()).await.unwrap();
    ended(&process, &job).await;
    let call = process
        .call(
            "pipeline.strategize",
            json!({ "spec": "Nurses can record pulses." }),
        )
        .await
        .unwrap();
    let call = call.run_id.unwrap();
    let mut contents = Vec::new();
    for run_id in [&job, &call] {
        for artifact in world.disk.artifacts(run_id).await.unwrap() {
            contents.push(artifact.sha256);
        }
    }
    assert_eq!(contents.len(), 2);

    world.clock.advance(7 * DAY - MINUTE).await;
    assert_eq!(begin(&process, input.clone()).await.unwrap(), job);
    for run_id in [&job, &call] {
        assert!(world.disk.run(run_id).await.unwrap().is_some(), "{run_id}");
    }
    world.clock.advance(3 * MINUTE).await;
    for run_id in [&job, &call] {
        assert!(world.disk.run(run_id).await.unwrap().is_none(), "{run_id}");
        let events = world.disk.events(run_id, 0, 10).await.unwrap();
        assert!(events.is_empty(), "the spec goes with the journal");
    }
    for digest in contents {
        assert!(world.disk.get(digest).await.is_err(), "{digest}");
    }
    let next = begin(&process, input).await.unwrap();
    assert_ne!(next, job, "the key is free again");
    process.stop().await;
}

#[tokio::test]
async fn a_job_stays_while_it_owes_a_delivery() {
    const URL: &str = "https://receiver.example/hook";
    let briefly = || {
        windlass_pipeline::domain(PipelineOutside {
            generator: GeneratorChoice::Offline,
            model: None,
            models: Arc::new(Scripted::default()),
            timeouts: Timeouts::default(),
            retention: DAY,
            public_base: Arc::new(|| "https://windlass.example".to_owned()),
            signing_key: Arc::new(Secret::new(b"a key for tests".to_vec())),
        })
    };
    let world = TestWorld::new(move || vec![briefly()])
        .with_threads()
        .with_schedule(&[36 * 3600]);
    world
        .outbound
        .script(URL, [Reply::Unreachable, Reply::Status(200)]);
    let process = world.driving().await;
    let keys = ApiKeys::new(&process.engine);
    let new = NewKey {
        name: "shop".to_owned(),
        tier: "pro".to_owned(),
        scopes: vec![Scope::new("pipeline")],
        lifetime: None,
    };
    let made = keys.create(&local(), new).await.unwrap();
    let holder = keys.authenticate(&made.api_key).await.unwrap().0;
    let input = json!({ "spec": SPEC, "phases": ["strategy"], "webhook_url": URL });
    let begun = process
        .call_as(holder.clone(), "pipeline.full_pipeline", input)
        .await
        .unwrap();
    let job = begun.run_id.unwrap();
    ended(&process, &job).await;
    let is_there = async || world.disk.run(&job).await.unwrap().is_some();

    world.clock.advance(30 * DAY / 24).await;
    assert_eq!(world.outbound.sent_to(URL).len(), 1);
    assert!(is_there().await, "it is owed");
    let asked = process
        .call_as(holder, "pipeline.get_status", json!({ "job_id": job }))
        .await;
    assert_eq!(
        asked.unwrap_err().code().name,
        "RUN_NOT_FOUND",
        "expired for any caller"
    );
    world.clock.advance(12 * DAY / 24).await;
    assert_eq!(world.outbound.sent_to(URL).len(), 2);
    assert!(!is_there().await, "it was delivered");
    process.stop().await;
}
