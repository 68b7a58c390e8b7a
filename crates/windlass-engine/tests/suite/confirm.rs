//! Plan → confirm → apply: a token applies its plan once, for its caller, in time.

use std::time::Duration;

use serde_json::{Value, json};
use windlass_engine::confirm::TokenPurpose;
use windlass_testkit::{Moment, Process, local, program::Op};
use windlass_types::{Digest, Plan, Principal, Problem, RunId, RunState, Scope};

use super::support::{Scene, ended, run, scene};

async fn plan(process: &Process, cell: &str, value: i64) -> Value {
    process
        .call("ledger.plan", json!({ "cell": cell, "value": value }))
        .await
        .unwrap()
        .output
}

async fn token(process: &Process, cell: &str, value: i64) -> String {
    plan(process, cell, value).await["confirm_token"]
        .as_str()
        .unwrap()
        .to_owned()
}

fn apply_input(cell: &str, value: i64, token: &str) -> Value {
    json!({ "cell": cell, "value": value, "confirm_token": token })
}

async fn apply(process: &Process, input: Value) -> Result<RunId, Problem> {
    process
        .call("ledger.apply", input)
        .await
        .map(|answer| answer.run_id.unwrap())
}

#[tokio::test]
async fn a_plan_is_applied_exactly_as_it_was_confirmed() {
    let Scene { world, ledger } = scene();
    let process = world.driving().await;
    let answer = plan(&process, "a", 1).await;
    let plan: Plan = serde_json::from_value(answer["plan"].clone()).unwrap();
    assert_eq!(answer["plan_digest"], plan.digest().to_string());
    let run_id = apply(
        &process,
        apply_input("a", 1, answer["confirm_token"].as_str().unwrap()),
    )
    .await
    .unwrap();
    let record = ended(&process, &run_id).await;
    assert_eq!(record.state, RunState::Completed);
    assert_eq!(
        (record.input, record.plan_digest),
        (plan.payload.clone(), Some(plan.digest()))
    );
    assert_eq!(ledger.cells(), [("a".to_owned(), 1)].into());
}

#[tokio::test]
async fn refusals_say_why_and_what_to_do() {
    let Scene { world, ledger } = scene();
    let process = world.driving().await;
    let good = token(&process, "a", 1).await;
    let stale = token(&process, "b", 1).await;
    ledger.set("another caller", "b", 7);
    let foreign = process
        .call_as(
            Principal::local("eve"),
            "ledger.plan",
            json!({ "cell": "a", "value": 1 }),
        )
        .await
        .unwrap()
        .output["confirm_token"]
        .as_str()
        .unwrap()
        .to_owned();
    let elsewhere = TokenPurpose {
        operation: "ledger.erase".to_owned(),
        plan_digest: Digest::of(b"a plan"),
        targets: vec!["a".to_owned()],
        note: Value::Null,
    };
    let elsewhere = process.engine.issue_token(&local(), elsewhere).await;
    let elsewhere = elsewhere.unwrap().token;
    let used = token(&process, "c", 1).await;
    ended(
        &process,
        &apply(&process, apply_input("c", 1, &used)).await.unwrap(),
    )
    .await;
    let old = token(&process, "d", 1).await;
    world.clock.advance(Duration::from_secs(599)).await;
    let last_second = apply(&process, apply_input("d", 1, &old)).await;
    assert!(last_second.is_ok(), "{last_second:?}");
    let late = token(&process, "e", 1).await;
    world.clock.advance(Duration::from_secs(600)).await;
    let fresh = |input: Value| input;
    let cases = [
        ("missing", json!({ "cell": "a", "value": 1 })),
        ("empty", fresh(apply_input("a", 1, ""))),
        ("not a token", apply_input("a", 1, "wct1.e30.AAAA")),
        ("expired", apply_input("e", 1, &late)),
        ("also expired", apply_input("a", 1, &good)),
    ];
    let mut lines = Vec::new();
    for (name, input) in cases {
        lines.push(line(name, apply(&process, input).await.unwrap_err()));
    }
    // The rest were refused for another reason than their age.
    world
        .clock
        .set(windlass_types::Timestamp::from_millis(1_750_000_000_000));
    let cases = [
        ("another caller's", apply_input("a", 1, &foreign)),
        ("another operation's", apply_input("a", 1, &elsewhere)),
        ("another input", apply_input("a", 2, &good)),
        ("the world changed", apply_input("b", 1, &stale)),
        ("used", apply_input("c", 1, &used)),
    ];
    for (name, input) in cases {
        lines.push(line(name, apply(&process, input).await.unwrap_err()));
    }
    insta::assert_snapshot!(lines.join("\n"), @r#"
    missing: CONFIRM_TOKEN_REQUIRED "token_missing" → call ledger.plan and review the plan; call ledger.apply with the new confirm_token
    empty: CONFIRM_TOKEN_REQUIRED "token_missing" → call ledger.plan and review the plan; call ledger.apply with the new confirm_token
    not a token: CONFIRM_TOKEN_MISMATCH "token_invalid" → call ledger.plan and review the plan; call ledger.apply with the new confirm_token
    expired: CONFIRM_TOKEN_EXPIRED "token_expired" → call ledger.plan and review the plan; call ledger.apply with the new confirm_token
    also expired: CONFIRM_TOKEN_EXPIRED "token_expired" → call ledger.plan and review the plan; call ledger.apply with the new confirm_token
    another caller's: CONFIRM_TOKEN_MISMATCH "token_invalid" → call ledger.plan and review the plan; call ledger.apply with the new confirm_token
    another operation's: CONFIRM_TOKEN_MISMATCH "operation_mismatch" → call ledger.plan and review the plan; call ledger.apply with the new confirm_token
    another input: CONFIRM_TOKEN_MISMATCH "plan_changed" → call ledger.plan and review what differs
    the world changed: CONFIRM_TOKEN_MISMATCH "plan_changed" → call ledger.plan and review what differs
    used: CONFIRM_TOKEN_USED "token_used" → windlass runs watch RUN
    "#);
}

fn line(name: &str, problem: Problem) -> String {
    let reason = problem
        .details()
        .get("reason_code")
        .cloned()
        .unwrap_or_default();
    let run_id = problem
        .details()
        .get("run_id")
        .and_then(Value::as_str)
        .unwrap_or("")
        .to_owned();
    let next = problem.next_actions().join("; ");
    let next = if run_id.is_empty() {
        next
    } else {
        next.replace(&run_id, "RUN")
    };
    format!("{name}: {} {reason} → {next}", problem.code().name)
}

#[tokio::test]
async fn a_plan_that_differs_by_one_byte_is_another_plan() {
    let Scene { world, ledger } = scene();
    let process = world.driving().await;
    let token = token(&process, "a", 10).await;
    for (cell, value) in [("a", 11), ("b", 10), ("a ", 10), ("A", 10)] {
        let refused = apply(&process, apply_input(cell, value, &token))
            .await
            .unwrap_err();
        assert_eq!(
            refused.details()["reason_code"],
            "plan_changed",
            "{cell:?} {value}"
        );
    }
    assert_eq!(ledger.changes(), [""; 0]);
    let run_id = apply(&process, apply_input("a", 10, &token)).await.unwrap();
    assert_eq!(ended(&process, &run_id).await.state, RunState::Completed);
}

#[tokio::test]
async fn repeating_a_call_with_its_key_gives_its_run_however_the_world_has_changed() {
    let Scene { world, ledger } = scene();
    let process = world.driving().await;
    let token = token(&process, "a", 1).await;
    let mut input = apply_input("a", 1, &token);
    input["idempotency_key"] = json!("key 1");
    let run_id = apply(&process, input.clone()).await.unwrap();
    assert_eq!(apply(&process, input.clone()).await.unwrap(), run_id);
    ended(&process, &run_id).await;
    run(&process, &[Op::set("a", 99)]).await;
    assert_eq!(apply(&process, input.clone()).await.unwrap(), run_id);
    input["idempotency_key"] = json!("key 2");
    assert_eq!(
        apply(&process, input.clone())
            .await
            .unwrap_err()
            .code()
            .name,
        "CONFIRM_TOKEN_USED"
    );
    input.as_object_mut().unwrap().remove("idempotency_key");
    assert_eq!(
        apply(&process, input).await.unwrap_err().code().name,
        "CONFIRM_TOKEN_USED"
    );
    assert_eq!(ledger.changes(), ["a=1", "a=99"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn sixty_four_calls_with_one_token_start_one_run() {
    let Scene { world, ledger } = scene();
    let process = std::sync::Arc::new(world.process());
    let token = token(&process, "a", 1).await;
    for (key, same_answer) in [(None, false), (Some("k"), true)] {
        let mut input = apply_input("a", 1, &token);
        if let Some(key) = key {
            input = apply_input("b", 1, &self::token(&process, "b", 1).await);
            input["idempotency_key"] = json!(key);
        }
        let mut calls = tokio::task::JoinSet::new();
        for _ in 0..64 {
            let (process, input) = (std::sync::Arc::clone(&process), input.clone());
            calls.spawn(async move { apply(&process, input).await });
        }
        let (mut runs, mut refused) = (Vec::new(), Vec::new());
        for call in calls.join_all().await {
            match call {
                Ok(run_id) => runs.push(run_id),
                Err(problem) => refused.push(problem),
            }
        }
        assert!(
            refused
                .iter()
                .all(|problem| problem.code().name == "CONFIRM_TOKEN_USED"),
            "{refused:?}"
        );
        assert_eq!(runs.len(), if same_answer { 64 } else { 1 });
        assert!(runs.iter().all(|run_id| *run_id == runs[0]));
        assert!(
            refused
                .iter()
                .all(|problem| problem.details()["run_id"] == runs[0].as_str())
        );
    }
    assert_eq!(world.disk.all_runs().len(), 2);
    assert_eq!(ledger.changes(), [""; 0], "nobody drives");
}

#[tokio::test]
async fn a_token_survives_a_restart_and_so_does_its_redemption() {
    let Scene { world, .. } = scene();
    let sealed = token(&world.process(), "a", 1).await;
    let run_id = apply(&world.process(), apply_input("a", 1, &sealed))
        .await
        .unwrap();
    let refused = apply(&world.process(), apply_input("a", 1, &sealed))
        .await
        .unwrap_err();
    assert_eq!(
        (refused.code().name, &refused.details()["run_id"]),
        ("CONFIRM_TOKEN_USED", &json!(run_id))
    );
}

#[tokio::test]
async fn an_apply_that_died_before_it_answered_can_be_repeated() {
    for (moment, created) in [
        (Moment::BeforeWrite, 0),
        (Moment::AfterWrite, 0),
        (Moment::AfterCommit, 1),
    ] {
        let Scene { world, ledger } = scene();
        let token = token(&world.process(), "a", 1).await;
        let mut input = apply_input("a", 1, &token);
        input["idempotency_key"] = json!("k");
        let store = world.disk.open_again();
        store.crash_at(1, moment);
        let dying = world.process_on(store.clone());
        tokio::select! {
            biased;
            () = store.died() => {}
            answer = apply(&dying, input.clone()) => panic!("a dead process answered: {answer:?}"),
        }
        assert_eq!(world.disk.all_runs().len(), created, "{moment:?}");
        let process = world.driving().await;
        let run_id = apply(&process, input).await.unwrap();
        assert_eq!(
            ended(&process, &run_id).await.state,
            RunState::Completed,
            "{moment:?}"
        );
        assert_eq!(world.disk.all_runs().len(), 1, "{moment:?}");
        assert_eq!(ledger.changes(), ["a=1"], "{moment:?}");
    }
}

#[tokio::test]
async fn applying_can_wait_for_the_end() {
    let Scene { world, .. } = scene();
    let process = world.driving().await;
    let token = token(&process, "a", 1).await;
    let mut input = apply_input("a", 1, &token);
    input["wait_seconds"] = json!(30);
    let answer = world
        .clock
        .run(process.call("ledger.apply", input))
        .await
        .unwrap();
    assert_eq!(answer.output["run"]["state"], "completed");
}

#[tokio::test]
async fn a_key_without_the_scope_gets_neither_plan_nor_apply() {
    let Scene { world, .. } = scene();
    let process = world.process();
    let narrow = Principal::key("key_1", vec![Scope::new("runs")]);
    for operation in ["ledger.plan", "ledger.apply", "ledger.show"] {
        let refused = process
            .call_as(narrow.clone(), operation, json!({}))
            .await
            .unwrap_err();
        assert_eq!(refused.code().name, "FORBIDDEN", "{operation}");
        assert_eq!(refused.details()["required_scopes"], json!(["ledger"]));
    }
}
