//! Waiting for people and outside systems: answers, refusals, deadlines, restarts.

use std::time::Duration;

use serde_json::{Value, json};
use windlass_engine::run::{ApprovalDecision, RunContext, RunError, WaitRequest};
use windlass_ports::Clock as _;
use windlass_testkit::{
    Process, local,
    program::{Op, fn_kind},
};
use windlass_types::{Problem, RunId, RunState};

use super::support::{Scene, ended, problem_code, scene, start, story, waiting, world_of};

fn decision(approved: bool) -> ApprovalDecision {
    ApprovalDecision {
        approved,
        plan_digest: None,
        reason: (!approved).then(|| "too risky".to_owned()),
    }
}

async fn answer(process: &Process, run_id: &RunId, approved: bool) -> Result<(), Problem> {
    process
        .engine
        .answer_approval(&local(), run_id, decision(approved))
        .await
}

async fn say(process: &Process, run_id: &RunId, payload: Value) {
    process
        .engine
        .send_signal(&local(), run_id, "go", payload)
        .await
        .unwrap();
}

#[tokio::test]
async fn a_yes_lets_the_run_go_on() {
    let Scene { world, ledger } = scene();
    let process = world.driving().await;
    let run_id = start(&process, &[Op::approval("deploy"), Op::set("a", 1)]).await;
    let record = waiting(&process, &run_id).await;
    assert_eq!(record.waiting_on[0].1.prompt.as_deref(), Some("deploy?"));
    assert_eq!(ledger.cells(), [].into());
    answer(&process, &run_id, true).await.unwrap();
    assert_eq!(ended(&process, &run_id).await.state, RunState::Completed);
    assert_eq!(ledger.get("a"), Some(1));
}

#[tokio::test]
async fn a_no_fails_the_run_and_undoes_it() {
    let Scene { world, ledger } = scene();
    let process = world.driving().await;
    let run_id = start(
        &process,
        &[Op::set("a", 1), Op::approval("deploy"), Op::set("b", 1)],
    )
    .await;
    waiting(&process, &run_id).await;
    answer(&process, &run_id, false).await.unwrap();
    let record = ended(&process, &run_id).await;
    assert_eq!(
        (record.state, problem_code(&record)),
        (RunState::Failed, "APPROVAL_REJECTED")
    );
    assert!(
        record
            .problem
            .unwrap()
            .message()
            .contains("local:ada refused the approval: too risky")
    );
    assert_eq!(ledger.cells(), [].into());
    let late = answer(&process, &run_id, true).await.unwrap_err();
    assert_eq!(late.code().name, "ILLEGAL_STATE");
}

#[tokio::test]
async fn a_second_yes_is_not_a_yes_to_the_next_question() {
    let Scene { world, ledger } = scene();
    let process = world.driving().await;
    let program = [
        Op::approval("first"),
        Op::set("a", 1),
        Op::approval("second"),
        Op::set("b", 1),
    ];
    let run_id = start(&process, &program).await;
    waiting(&process, &run_id).await;
    // Two people say yes to the same question at the same time.
    let (one, two) = tokio::join!(
        answer(&process, &run_id, true),
        answer(&process, &run_id, true)
    );
    one.unwrap();
    two.unwrap();
    let record = waiting(&process, &run_id).await;
    assert_eq!(record.waiting_on[0].0, "second");
    assert_eq!(ledger.cells(), [("a".to_owned(), 1)].into());
    answer(&process, &run_id, true).await.unwrap();
    assert_eq!(ended(&process, &run_id).await.state, RunState::Completed);
}

#[tokio::test]
async fn a_deadline_ends_the_wait() {
    let Scene { world, .. } = scene();
    let process = world.driving().await;
    let started = world.clock.now();
    let run_id = start(&process, &[Op::wait("go", Some(3600))]).await;
    world.clock.advance(Duration::from_secs(3599)).await;
    assert_eq!(process.record(&run_id).await.state, RunState::Waiting);
    world.clock.advance(Duration::from_secs(1)).await;
    let record = process.record(&run_id).await;
    assert_eq!(
        (record.state, record.output),
        (RunState::Completed, Some(json!([null])))
    );
    assert_eq!(world.clock.now().since(started), Duration::from_secs(3600));
}

#[tokio::test]
async fn a_deadline_does_not_begin_again_after_a_restart() {
    let Scene { world, .. } = scene();
    let process = world.driving().await;
    let run_id = start(&process, &[Op::wait("go", Some(3600))]).await;
    world.clock.advance(Duration::from_secs(3000)).await;
    process.kill();
    let process = world.driving().await;
    world.clock.advance(Duration::from_secs(599)).await;
    assert_eq!(process.record(&run_id).await.state, RunState::Waiting);
    world.clock.advance(Duration::from_secs(1)).await;
    assert_eq!(process.record(&run_id).await.state, RunState::Completed);
}

#[tokio::test]
async fn signals_are_kept_until_they_are_waited_for_and_used_in_order() {
    let Scene { world, .. } = scene();
    let process = world.driving().await;
    let program = [
        Op::sleep("nap", 60),
        Op::wait("go", None),
        Op::wait("go", None),
        Op::wait("go", Some(1)),
    ];
    let run_id = start(&process, &program).await;
    process.record(&run_id).await;
    say(&process, &run_id, json!(1)).await;
    say(&process, &run_id, json!(2)).await;
    let record = ended(&process, &run_id).await;
    assert_eq!(record.output, Some(json!([null, 1, 2, null])));
}

#[tokio::test]
async fn a_signal_that_came_while_nobody_drove_is_found() {
    let Scene { world, .. } = scene();
    let process = world.driving().await;
    let run_id = start(&process, &[Op::wait("go", None)]).await;
    waiting(&process, &run_id).await;
    process.kill();
    let client = world.process();
    say(&client, &run_id, json!("hello")).await;
    let process = world.driving().await;
    assert_eq!(
        ended(&process, &run_id).await.output,
        Some(json!(["hello"]))
    );
    insta::assert_snapshot!(story(&process, &run_id), @"
    run.created
    run.started
    wait.started go
    signal.received go
    run.started
    wait.completed go
    run.completed
    ");
}

fn wait(name: &str) -> WaitRequest {
    WaitRequest::new(name, "go")
}

/// Waits for the same signal in two branches, the first of which comes to it later.
async fn two_waits(context: &dyn RunContext) -> Result<Value, RunError> {
    let late = async {
        context.sleep("nap", Duration::from_secs(60)).await?;
        context.wait_for(wait("late")).await
    };
    let (late, early) = futures::future::try_join(late, context.wait_for(wait("early"))).await?;
    Ok(json!({ "late": late.unwrap().payload, "early": early.unwrap().payload }))
}

#[tokio::test]
async fn a_signal_that_one_wait_has_used_is_not_used_by_another_after_a_restart() {
    let world = world_of(
        vec![fn_kind("waits", |context, _| Box::pin(two_waits(context)))],
        Vec::new(),
    );
    let process = world.driving().await;
    let run_id = process.start("waits", json!(null)).await;
    process.record(&run_id).await;
    say(&process, &run_id, json!("first")).await;
    world.clock.advance(Duration::from_secs(60)).await;
    assert_eq!(process.record(&run_id).await.state, RunState::Waiting);
    process.kill();
    let process = world.driving().await;
    assert_eq!(process.record(&run_id).await.state, RunState::Waiting);
    say(&process, &run_id, json!("second")).await;
    let record = ended(&process, &run_id).await;
    assert_eq!(
        record.output,
        Some(json!({ "early": "first", "late": "second" }))
    );
}

#[tokio::test]
async fn reserved_signals_have_operations_of_their_own() {
    let Scene { world, .. } = scene();
    let process = world.driving().await;
    let run_id = start(&process, &[Op::approval("deploy")]).await;
    waiting(&process, &run_id).await;
    for signal in ["approval", "cancel", "rollback"] {
        let refused = process
            .engine
            .send_signal(&local(), &run_id, signal, json!({"approved": true}))
            .await;
        assert_eq!(
            refused.unwrap_err().code().name,
            "INVALID_INPUT",
            "{signal}"
        );
    }
    assert_eq!(process.record(&run_id).await.state, RunState::Waiting);
}
