//! Jobs within the limits of a key's tier: at once, in an hour, and nobody slips past.

use std::time::Duration;

use windlass_engine::{
    access::{ApiKeys, JobLimit, NewKey},
    operation::CallContext,
    run::NewRun,
};
use windlass_testkit::{Process, local, program};
use windlass_types::{Principal, Problem, RunId, Scope};

use super::support::{Scene, scene};

const LIMIT: JobLimit = JobLimit {
    plural: "orders",
    per_hour: "orders_per_hour",
};

async fn holder(process: &Process, tier: &str) -> Principal {
    let new = NewKey {
        name: "ci".to_owned(),
        tier: tier.to_owned(),
        scopes: vec![Scope::new("*")],
        lifetime: None,
    };
    let keys = ApiKeys::new(&process.engine);
    let made = keys.create(&local(), new).await.unwrap();
    keys.authenticate(&made.api_key).await.unwrap().0
}

/// A job that waits for an approval, so it goes on until told otherwise.
fn job(principal: &Principal, key: Option<&str>) -> NewRun {
    let new = windlass_testkit::new_run(
        program::KIND,
        program::input(&[program::Op::approval("ok")]),
    );
    NewRun {
        idempotency_key: key.map(str::to_owned),
        context: CallContext {
            principal: principal.clone(),
            ..new.context
        },
        ..new
    }
}

fn refusal(problem: &Problem) -> String {
    let details = serde_json::json!(problem.details());
    format!("{} {details}", problem.code().name)
}

async fn cancel(process: &Process, run_id: &RunId) {
    process.engine.cancel(&local(), run_id, None).await.unwrap();
    process.end(run_id).await;
}

#[tokio::test]
async fn jobs_at_once_are_limited_and_callers_without_a_key_are_not() {
    let Scene { world, .. } = scene();
    let process = world.driving().await;
    let engine = &process.engine;
    let free = holder(&process, "free").await;
    let first = engine
        .create_job_ungated(job(&free, Some("k")), LIMIT)
        .await
        .unwrap();
    let refused = engine
        .create_job_ungated(job(&free, None), LIMIT)
        .await
        .unwrap_err();
    insta::assert_snapshot!(refusal(&refused), @r#"RATE_LIMITED {"allowed":1,"limit":"concurrent_jobs","retry_after_seconds":10}"#);
    let again = engine
        .create_job_ungated(job(&free, Some("k")), LIMIT)
        .await
        .unwrap();
    assert_eq!(again, first, "a repeated call finds its job");
    let other = holder(&process, "free").await;
    engine
        .create_job_ungated(job(&other, None), LIMIT)
        .await
        .unwrap();
    for _ in 0..5 {
        engine
            .create_job_ungated(job(&local(), None), LIMIT)
            .await
            .unwrap();
    }
    cancel(&process, &first).await;
    engine
        .create_job_ungated(job(&free, None), LIMIT)
        .await
        .unwrap();
}

#[tokio::test]
async fn two_calls_at_once_make_one_job() {
    let Scene { world, .. } = scene();
    let process = world.driving().await;
    let elsewhere = world.process();
    for _ in 0..10 {
        let free = holder(&process, "free").await;
        let (one, two) = tokio::join!(
            process.engine.create_job_ungated(job(&free, None), LIMIT),
            elsewhere.engine.create_job_ungated(job(&free, None), LIMIT),
        );
        assert!(one.is_ok() != two.is_ok(), "{one:?} {two:?}");
    }
}

#[tokio::test]
async fn pipelines_in_an_hour_are_limited_by_a_sliding_window() {
    let Scene { world, .. } = scene();
    let process = world.driving().await;
    let engine = &process.engine;
    let free = holder(&process, "free").await;
    for _ in 0..5 {
        let run_id = engine
            .create_job_ungated(job(&free, None), LIMIT)
            .await
            .unwrap();
        cancel(&process, &run_id).await;
        world.clock.advance(Duration::from_secs(600)).await;
    }
    let refused = engine
        .create_job_ungated(job(&free, None), LIMIT)
        .await
        .unwrap_err();
    insta::assert_snapshot!(refusal(&refused), @r#"RATE_LIMITED {"allowed":5,"limit":"orders_per_hour","retry_after_seconds":600}"#);
    world.clock.advance(Duration::from_secs(599)).await;
    let refused = engine
        .create_job_ungated(job(&free, None), LIMIT)
        .await
        .unwrap_err();
    assert_eq!(refused.details()["retry_after_seconds"], 1);
    world.clock.advance(Duration::from_secs(1)).await;
    engine
        .create_job_ungated(job(&free, None), LIMIT)
        .await
        .unwrap();
    let enterprise = holder(&process, "enterprise").await;
    for _ in 0..20 {
        engine
            .create_job_ungated(job(&enterprise, None), LIMIT)
            .await
            .unwrap();
    }
    let refused = engine
        .create_job_ungated(job(&enterprise, None), LIMIT)
        .await
        .unwrap_err();
    assert_eq!(refused.details()["limit"], "concurrent_jobs");
}
