//! The terms of approvals: one person however they call, bounded numbers of waiting calls, refusals
//! that lead to the decision, older journals; and what is told where the store fails after the gate.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use windlass_engine::operation::{Begun, CallContext, CallRequest, Terms, operation as define};
use windlass_ports::StoreError;
use windlass_testkit::local;
use windlass_types::{Body, EffectClass, Principal, RunState, Surface, journal::ApprovalGate};

use super::{
    policy::{POLICY, answer, boss, clerk, lead, try_apply},
    support::{Scene, ended, scene, waiting, world_of},
};

#[derive(Deserialize, JsonSchema)]
struct Nothing {}

/// `local:ada` and the programs of that user are one person: neither answers for the other, and
/// together they are one approver.
#[tokio::test]
async fn a_user_and_their_programs_are_one_approver() {
    let Scene { world, .. } = scene();
    let rule = |more: &str| {
        format!(
            "version = 1\n[[rule]]\noperation = \"ledger.apply\"\ndecision = \"ask\"\n\
             approvers = [\"local:**\"]\n{more}\n"
        )
    };
    let world = world.with_policy(&rule("distinct_approver = true"));
    let process = world.driving().await;
    let agent = Principal::local_agent("ada", "mcp");
    for (asks, answers, may) in [
        (agent.clone(), local(), false),
        (local(), agent.clone(), false),
        (agent.clone(), Principal::local_agent("ada", "other"), false),
        (agent.clone(), boss(), true),
    ] {
        let cell = format!("{}-{}", asks.name, answers.name);
        let run_id = try_apply(&process, &asks, &cell, true).await.unwrap();
        waiting(&process, &run_id).await;
        let engine = process.catalogue().engine();
        let answered = engine
            .answer_approval(&answers, &run_id, answer(true, None))
            .await;
        assert_eq!(answered.is_ok(), may, "{asks} asks, {answers} answers");
    }
    process.kill();

    let Scene { world, .. } = scene();
    let world = world.with_policy(&rule("quorum = 2"));
    let process = world.driving().await;
    let run_id = try_apply(&process, &clerk(), "cell", true).await.unwrap();
    waiting(&process, &run_id).await;
    let engine = process.catalogue().engine();
    let say = async |who: &Principal| {
        engine
            .answer_approval(who, &run_id, answer(true, None))
            .await
    };
    say(&local()).await.unwrap();
    let again = say(&agent).await.unwrap_err();
    assert!(again.message().contains("1 of 2 approvals"), "{again}");
    say(&boss()).await.unwrap();
    assert_eq!(ended(&process, &run_id).await.state, RunState::Completed);
}

/// The command in the refusal leads to the same decision.
#[tokio::test]
async fn a_refusal_names_the_command_that_shows_it_again() {
    let Scene { world, .. } = scene();
    let process = world.with_policy(POLICY).driving().await;
    let mut shown = Vec::new();
    for (who, cell) in [(local(), "forbidden by all"), (clerk(), "forbidden")] {
        let refused = try_apply(&process, &who, cell, true).await.unwrap_err();
        shown.push(refused.next_actions().join("\n"));
    }
    let refused = process
        .call_as(clerk(), "ledger.show", json!({ "cell": "a" }))
        .await
        .unwrap_err();
    shown.push(refused.next_actions().join("\n"));
    insta::assert_snapshot!(shown.join("\n"), @"
    windlass policy check --operation ledger.apply --principal local:ada --target 'forbidden by all' --effect write
    windlass policy check --operation ledger.apply --principal key:key_clerk --target forbidden --effect write
    windlass policy check --operation ledger.show --principal key:key_clerk --effect read
    ");
}

/// Two rules that match together may want more approvals than there are approvers.
#[tokio::test]
async fn approvals_that_nobody_can_give_are_refused_at_once() {
    let Scene { world, .. } = scene();
    let policy = "version = 1\n[[rule]]\noperation = \"ledger.a*\"\ndecision = \"ask\"\nquorum = 2\n\
                  [[rule]]\noperation = \"ledger.apply\"\ndecision = \"ask\"\napprovers = [\"local:boss\"]\n";
    let process = world.with_policy(policy).driving().await;
    let refused = try_apply(&process, &lead(), "cell", true)
        .await
        .unwrap_err();
    assert_eq!(refused.code().name, "APPROVAL_REQUIRED");
    assert_eq!(refused.details()["reason_code"], "no_approver");
}

/// Who asks for something again and again while nobody answers finds an end.
#[tokio::test]
async fn calls_that_wait_for_an_approval_are_bounded() {
    let touch = define("notes", "touch")
        .describe("Touch", "Touches a note.")
        .command(EffectClass::Write)
        .handle(|_, _: Nothing| async { Ok(json!({})) });
    let answers = define("notes", "answer")
        .describe("Answer", "Answers an approval.")
        .command(EffectClass::Write)
        .answers_approval()
        .handle(|_, _: Nothing| async { Ok(json!({})) });
    let world = world_of(Vec::new(), vec![touch, answers]);
    let policy = "version = 1\napprovers = [\"local:boss\"]\n";
    let process = world.with_policy(policy).process();
    let call = async |operation: &str| {
        process
            .call_as(local(), operation, json!({}))
            .await
            .unwrap_err()
    };
    for number in 0..100 {
        let waits = call("notes.touch").await;
        assert_eq!(
            waits.details()["reason_code"],
            "approval_pending",
            "{number}"
        );
    }
    assert_eq!(call("notes.touch").await.code().name, "RATE_LIMITED");
    let refused = call("notes.answer").await;
    assert_eq!(refused.details()["reason_code"], "approval_required");
    assert_eq!(
        process.store.all_runs().len(),
        100,
        "no approval of an approval"
    );
}

/// Journals that have the conditions in the list of approvers are read like those that do not.
#[tokio::test]
async fn older_journals_with_conditions_in_the_list_are_read() {
    let event = json!({
        "key": "approval", "signal": "approval",
        "approvers": ["local:*", "quorum:2", "not:key:key_lead"],
    });
    let Ok(Some(Body::WaitStarted(wait))) =
        Body::decode("wait.started", &windlass_types::Json::of(&event).unwrap())
    else {
        panic!("a wait");
    };
    assert_eq!(
        (wait.terms.approvers, wait.terms.quorum, wait.terms.except),
        (
            vec!["local:*".to_owned()],
            2,
            Some("key:key_lead".to_owned())
        )
    );
    let gate: ApprovalGate = serde_json::from_value(json!({
        "state": "wanted", "approvers": ["scope:approve", "quorum:3"], "rule": "policy.toml:2",
    }))
    .unwrap();
    let ApprovalGate::Wanted { terms, rule } = &gate else {
        panic!("{gate:?}");
    };
    assert_eq!((terms.quorum, rule.as_str()), (3, "policy.toml:2"));
    assert_eq!(
        serde_json::to_value(&gate).unwrap(),
        json!({ "state": "wanted", "approvers": ["scope:approve"], "quorum": 3, "rule": "policy.toml:2" })
    );
}

/// The store fails after the call was admitted: the answer names the run.
#[tokio::test]
async fn a_full_store_after_admission_names_the_run() {
    let Scene { world, .. } = scene();
    let process = world.with_policy(POLICY).process();
    let input = json!({ "cell": "free", "value": 1 });
    let plan = process.call("ledger.plan", input).await.unwrap().output;
    let input = json!({
        "cell": "free", "value": 1, "confirm_token": plan["confirm_token"], "yes": true,
    });
    let context = CallContext {
        principal: local(),
        surface: Surface::Cli,
        request_id: "req_1".to_owned(),
        directory: None,
        terms: Terms::default(),
    };
    let request = CallRequest {
        operation: "ledger.apply".to_owned(),
        input,
        context: context.clone(),
    };
    let Begun::Pending(pending) = process.catalogue().begin(request).await.unwrap() else {
        panic!("a run has the answer");
    };
    let run_id = pending.awaited.run_id.clone();
    process.store.fail_reads(Some(StoreError::Full));
    let failed = process
        .catalogue()
        .wait(pending, context)
        .await
        .unwrap_err();
    assert_eq!(failed.code().name, "STORE_FULL");
    assert_eq!(failed.details()["run_id"], run_id.as_str());
    assert!(
        failed
            .next_actions()
            .contains(&format!("windlass runs show {run_id}"))
    );
}
