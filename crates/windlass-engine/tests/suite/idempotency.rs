//! Idempotency keys: one key, one run, per caller.

use std::sync::Arc;

use serde_json::json;
use windlass_engine::run::NewRun;
use windlass_testkit::{
    new_run,
    program::{self, Op},
};
use windlass_types::{Principal, RunState};

use super::support::{Scene, ended, scene};

fn keyed(cell: &str, key: &str) -> NewRun {
    NewRun {
        idempotency_key: Some(key.to_owned()),
        ..new_run(program::KIND, program::input(&[Op::set(cell, 1)]))
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn sixty_four_calls_with_one_key_are_one_run() {
    let Scene { world, .. } = scene();
    let processes = [Arc::new(world.process()), Arc::new(world.process())];
    let mut calls = tokio::task::JoinSet::new();
    for caller in 0..64 {
        let process = Arc::clone(&processes[caller % 2]);
        calls.spawn(async move { process.engine.create_ungated(keyed("a", "k")).await });
    }
    let runs: Vec<_> = calls
        .join_all()
        .await
        .into_iter()
        .map(Result::unwrap)
        .collect();
    assert!(runs.iter().all(|run_id| *run_id == runs[0]));
    assert_eq!(world.disk.all_runs().len(), 1);
}

#[tokio::test]
async fn a_key_is_bound_to_its_input() {
    let Scene { world, ledger } = scene();
    let process = world.driving().await;
    let run_id = process
        .engine
        .create_ungated(keyed("a", "k"))
        .await
        .unwrap();
    let refused = process
        .engine
        .create_ungated(keyed("b", "k"))
        .await
        .unwrap_err();
    assert_eq!(refused.code().name, "IDEMPOTENCY_CONFLICT");
    assert_eq!(refused.details()["run_id"], run_id.as_str());
    ended(&process, &run_id).await;
    // The end of the run changes nothing about its key.
    assert_eq!(
        process
            .engine
            .create_ungated(keyed("a", "k"))
            .await
            .unwrap(),
        run_id
    );
    assert_eq!(ledger.changes(), ["a=1"]);
}

#[tokio::test]
async fn callers_do_not_share_keys() {
    let Scene { world, .. } = scene();
    let process = world.driving().await;
    let ours = process
        .engine
        .create_ungated(keyed("a", "k"))
        .await
        .unwrap();
    let mut theirs = keyed("a", "k");
    theirs.context.principal = Principal::local("eve");
    let theirs = process.engine.create_ungated(theirs).await.unwrap();
    assert_ne!(ours, theirs);
    let other_key = process
        .engine
        .create_ungated(keyed("a", "l"))
        .await
        .unwrap();
    assert_ne!(ours, other_key);
    for run_id in [ours, theirs, other_key] {
        assert_eq!(ended(&process, &run_id).await.state, RunState::Completed);
    }
}

/// After the first call the same input plans nothing; the key still finds its run.
#[tokio::test]
async fn a_change_is_repeated_by_its_input_not_by_its_plan() {
    let Scene { world, ledger } = scene();
    let process = world.driving().await;
    let apply = async |value: u64, key: &str| {
        let change = json!({ "cell": "a", "value": value });
        let plan = process.call("ledger.plan", change.clone()).await.unwrap();
        let mut input = change;
        input["confirm_token"] = plan.output["confirm_token"].clone();
        input["idempotency_key"] = key.into();
        let again = process.call("ledger.apply", input.clone()).await;
        (again, input)
    };
    let (first, redeemed) = apply(1, "k").await;
    let run_id = first.unwrap().run_id.unwrap();
    ended(&process, &run_id).await;
    let (second, _) = apply(1, "k").await;
    assert_eq!(second.unwrap().run_id.as_ref(), Some(&run_id));
    // Also with the token that was redeemed.
    let same = process.call("ledger.apply", redeemed.clone()).await;
    assert_eq!(same.unwrap().run_id.as_ref(), Some(&run_id));
    let (other, _) = apply(2, "k").await;
    assert_eq!(other.unwrap_err().code().name, "IDEMPOTENCY_CONFLICT");
    let mut other = redeemed;
    other["value"] = 2.into();
    let refused = process.call("ledger.apply", other).await.unwrap_err();
    assert_eq!(refused.code().name, "IDEMPOTENCY_CONFLICT");
    assert_eq!(ledger.changes(), ["a=1"]);
}
