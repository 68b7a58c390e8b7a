//! What ends by itself: tokens that nobody used in time, credentials that ran out on the way.

use std::time::Duration;

use serde_json::{Value, json};
use windlass_engine::contract::Contract as _;
use windlass_ports::Clock as _;
use windlass_types::RunState;

use super::{picture, world::Ground};

/// An old token deploys nothing; one that is still good does.
#[test]
fn a_token_that_nobody_used_in_time() {
    let ground = Ground::new();
    let account = picture::of_account(ground.control());
    ground.in_a_life(|process, clock| {
        let (ground, account) = (&ground, &account);
        async move {
            let preview = process
                .call("stack.preview_changes", ground.arguments(json!({})))
                .await
                .unwrap();
            let token = preview.output["confirmToken"].as_str().unwrap();
            let deploy = ground.arguments(json!({ "confirmToken": token }));
            let issued = clock.now();
            for minutes in [10, 11, 24 * 60] {
                clock.set(issued.after(Duration::from_secs(60 * minutes)));
                let calls = ground.control().calls().len();
                let late = process.call("stack.deploy", deploy.clone()).await;
                let late = late.unwrap_err();
                assert_eq!(late.code().name, "CONFIRM_TOKEN_EXPIRED", "{late:?}");
                let shown = windlass_stack::StackContract.code_name(late.code());
                assert_eq!(shown, "CONFIRMATION_REQUIRED");
                assert_eq!(late.details()["reason"], "confirm_token_expired");
                assert!(!late.next_actions().is_empty(), "{late:?}");
                assert_eq!(ground.control().calls().len(), calls, "nobody was asked");
            }
            assert_eq!(picture::of_account(ground.control()), *account);
            clock.set(issued.after(Duration::from_secs(599)));
            let deployed = process.call("stack.deploy", deploy).await.unwrap();
            assert_eq!(deployed.output["stackName"], "shop-dev");
        }
    });
    assert_ne!(picture::of_account(ground.control()), account);
}

/// Credentials expire at every single call of a run: each time the run waits, continues when they
/// are renewed, and comes to the same end by beginning the same operations.
fn outlasts(kind: &str, arguments: &Value, ground: &Ground, least: usize) {
    let calm = ground.copy();
    let record = calm.past(kind, arguments.clone());
    assert_eq!(record.state, RunState::Completed, "{:?}", record.problem);
    assert!(calm.calls() >= least, "{}", calm.calls());
    let begun = picture::begun_well(calm.control());
    let end = picture::of_account(calm.control());
    for call in 0..calm.calls() {
        let ground = ground.copy();
        ground.expire_at(call);
        let record = ground.past(kind, arguments.clone());
        let what = format!("call {call}: {:?}", record.problem);
        assert_eq!(record.state, RunState::Completed, "{what}");
        let calls = ground.control().calls();
        let refused = calls.iter().any(|call| call.outcome == "ExpiredToken");
        assert!(refused, "{what}: {calls:#?}");
        assert_eq!(picture::begun_well(ground.control()), begun, "{what}");
        assert_eq!(picture::of_account(ground.control()), end, "{what}");
    }
}

#[test]
fn a_preview_outlasts_its_credentials() {
    outlasts("stack.preview", &json!({}), &Ground::new(), 6);
}

#[test]
fn a_first_deploy_outlasts_its_credentials() {
    outlasts("stack.deploy", &json!({}), &Ground::new(), 20);
}

#[test]
fn an_update_outlasts_its_credentials() {
    outlasts("stack.deploy", &json!({}), &Ground::edited(), 20);
}

#[test]
fn a_rollback_outlasts_its_credentials() {
    let ground = Ground::edited().deployed();
    outlasts("stack.rollback", &json!({}), &ground, 15);
}

#[test]
fn a_delete_outlasts_its_credentials() {
    let ground = Ground::new().deployed();
    outlasts("stack.delete", &json!({}), &ground, 10);
}
