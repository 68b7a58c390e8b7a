//! Confirm tokens where time and callers are data: expiry, clocks that run backwards, others'
//! tokens.

use std::time::Duration;

use serde_json::{Value, json};
use windlass_engine::confirm::TokenPurpose;
use windlass_ports::Clock as _;
use windlass_testkit::{Process, local};
use windlass_types::{Digest, Principal, Problem, Scope};

use super::{
    place::{PackPlace, difference},
    room::Room,
};

async fn token(room: &Room, process: &Process) -> String {
    let planned = room.call(process, "pack.deploy", json!({})).await.unwrap();
    planned["confirm_token"].as_str().unwrap().to_owned()
}

async fn apply(room: &Room, process: &Process, token: &str) -> Result<Value, Problem> {
    let input = json!({ "yes": true, "confirm_token": token });
    room.call(process, "pack.deploy_apply", input).await
}

fn refused(outcome: Result<Value, Problem>, code: &str, reason: &str) {
    let problem = outcome.unwrap_err();
    assert_eq!(problem.code().name, code, "{problem:?}");
    assert_eq!(problem.details()["reason_code"], reason, "{problem:?}");
    assert!(problem.details().contains_key("hint"), "{problem:?}");
    let next = ["call_deploy", "retry_deploy_apply"];
    assert_eq!(problem.next_actions(), next, "{problem:?}");
}

#[tokio::test]
async fn a_token_expires_after_ten_minutes() {
    let room = Room::new(PackPlace::new());
    let process = room.world.driving().await;
    let issued = room.world.clock.now();
    let (early, late) = (token(&room, &process).await, token(&room, &process).await);
    let before = room.place.picture();
    let minutes = |minutes: u64| Duration::from_secs(60 * minutes);
    for after in [
        minutes(10),
        minutes(10) + Duration::from_millis(1),
        minutes(60),
        minutes(24 * 60 + 9),
    ] {
        room.world.clock.set(issued.after(after));
        let outcome = apply(&room, &process, &late).await;
        refused(outcome, "CONFIRM_TOKEN_EXPIRED", "confirm_token_expired");
    }
    assert_eq!(
        difference(&before, &room.place.picture()),
        Vec::<String>::new()
    );
    room.world
        .clock
        .set(issued.after(minutes(10) - Duration::from_millis(1)));
    let applied = apply(&room, &process, &early).await.unwrap();
    assert_eq!(applied["applied"], true);
}

#[tokio::test]
async fn the_answer_says_when_a_token_expires() {
    let room = Room::new(PackPlace::new());
    let process = room.world.driving().await;
    let planned = room.call(&process, "pack.deploy", json!({})).await.unwrap();
    let expires = room.world.clock.now().after(Duration::from_secs(600));
    assert_eq!(planned["confirm_token_expires_at"], expires.to_string());
}

#[tokio::test]
async fn a_clock_that_runs_backwards_past_the_issue_counts_as_expired() {
    let room = Room::new(PackPlace::new());
    let process = room.world.driving().await;
    let issued = room.world.clock.now();
    let token = token(&room, &process).await;
    let earlier = windlass_types::Timestamp::from_millis(issued.as_millis() - 1);
    room.world.clock.set(earlier);
    let outcome = apply(&room, &process, &token).await;
    refused(outcome, "CONFIRM_TOKEN_EXPIRED", "confirm_token_expired");
    room.world.clock.set(issued);
    apply(&room, &process, &token).await.unwrap();
}

#[tokio::test]
async fn a_token_expires_across_a_restart_too() {
    let room = Room::new(PackPlace::new());
    let process = room.world.driving().await;
    let issued = room.world.clock.now();
    let (first, second) = (token(&room, &process).await, token(&room, &process).await);
    process.stop().await;
    let process = room.world.driving().await;
    room.world.clock.set(issued.after(Duration::from_secs(600)));
    let outcome = apply(&room, &process, &first).await;
    refused(outcome, "CONFIRM_TOKEN_EXPIRED", "confirm_token_expired");
    room.world.clock.set(issued.after(Duration::from_secs(599)));
    apply(&room, &process, &second).await.unwrap();
}

#[tokio::test]
async fn a_token_of_another_caller_is_refused() {
    let room = Room::new(PackPlace::new());
    let process = room.world.driving().await;
    let token = token(&room, &process).await;
    let before = room.place.picture();
    let input = json!({ "yes": true, "confirm_token": token });
    for other in [
        Principal::local("bob"),
        Principal::local_agent("ada", "claude"),
        Principal::key("ada", vec![Scope::all()]),
    ] {
        let outcome = room
            .call_as(&process, other, "pack.deploy_apply", input.clone())
            .await;
        refused(outcome, "CONFIRM_TOKEN_MISMATCH", "confirm_token_mismatch");
    }
    assert_eq!(
        difference(&before, &room.place.picture()),
        Vec::<String>::new()
    );
    apply(&room, &process, &token).await.unwrap();
}

#[tokio::test]
async fn a_token_of_another_operation_is_refused() {
    let room = Room::new(PackPlace::new());
    let process = room.world.driving().await;
    let purpose = TokenPurpose {
        operation: "pack.uninstall".to_owned(),
        plan_digest: Digest::of(b"a plan"),
        targets: Vec::new(),
        note: json!({}),
    };
    let issued = process.engine.issue_token(&local(), purpose).await.unwrap();
    let outcome = apply(&room, &process, &issued.token).await;
    refused(outcome, "CONFIRM_TOKEN_MISMATCH", "confirm_token_mismatch");
}

/// Expiry is looked at before use: a token that was both used and is too old says so.
#[tokio::test]
async fn an_old_used_token_is_expired_first() {
    let room = Room::new(PackPlace::new());
    let process = room.world.driving().await;
    let issued = room.world.clock.now();
    let token = token(&room, &process).await;
    apply(&room, &process, &token).await.unwrap();
    let outcome = apply(&room, &process, &token).await;
    refused(outcome, "CONFIRM_TOKEN_MISMATCH", "confirm_token_mismatch");
    room.world.clock.set(issued.after(Duration::from_secs(601)));
    let outcome = apply(&room, &process, &token).await;
    refused(outcome, "CONFIRM_TOKEN_EXPIRED", "confirm_token_expired");
}
