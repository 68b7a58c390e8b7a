//! Webhook secrets: made with a key, rotated with an overlap, never readable in the store.

use std::time::Duration;

use windlass_engine::{
    access::{ApiKeys, MadeKey, NewKey},
    outbox::{SigningSecrets, owner_of, sign},
    run::NewRun,
};
use windlass_ports::RunStore as _;
use windlass_testkit::{Process, Reply, SentRequest, TestWorld, local, program::Op};
use windlass_types::{Principal, Scope, Secret};

use super::support::{Scene, scene};

const URL: &str = "https://hook.test/x";
const DAY: Duration = Duration::from_secs(24 * 3600);

async fn key(process: &Process) -> (MadeKey, Principal) {
    let new = NewKey {
        name: "ci".to_owned(),
        tier: "pro".to_owned(),
        scopes: vec![Scope::new("*")],
        lifetime: None,
    };
    let keys = ApiKeys::new(&process.engine);
    let made = keys.create(&local(), new).await.unwrap();
    let principal = keys.authenticate(&made.api_key).await.unwrap().0;
    (made, principal)
}

/// Runs a program of a principal that sends one webhook signed with its secret.
async fn send(world: &TestWorld, process: &Process, principal: &Principal) -> SentRequest {
    let before = world.outbound.sent().len();
    let op = Op::NotifySigned {
        name: "tell".to_owned(),
        url: URL.to_owned(),
        secret_name: principal.id(),
    };
    let new = windlass_testkit::new_run(
        windlass_testkit::program::KIND,
        windlass_testkit::program::input(&[op]),
    );
    let new = NewRun {
        context: windlass_engine::operation::CallContext {
            principal: principal.clone(),
            ..new.context
        },
        ..new
    };
    let run_id = process.engine.create_ungated(new).await.unwrap();
    process.end(&run_id).await;
    while world.outbound.sent().len() == before {
        process.idle().await;
        world.clock.advance(Duration::from_millis(10)).await;
    }
    process.idle().await;
    world.outbound.sent().pop().unwrap()
}

fn check(sent: &SentRequest, secrets: &SigningSecrets) {
    let id = sent.header("webhook-id").parse().unwrap();
    let body = String::from_utf8(sent.request.body.clone()).unwrap();
    assert_eq!(sent.request.headers, sign(&id, sent.at, &body, secrets));
}

fn one(secret: &Secret<String>) -> SigningSecrets {
    SigningSecrets::one(secret.clone())
}

#[tokio::test]
async fn a_key_s_webhooks_are_signed_with_its_secret() {
    let Scene { world, .. } = scene();
    let process = world.driving().await;
    let (made, principal) = key(&process).await;
    let (other, _) = key(&process).await;
    let text = made.webhook_secret.expose_secret();
    assert!(text.starts_with("whsec_") && text.len() == 50, "{text}");
    assert_ne!(text, other.webhook_secret.expose_secret());
    let sent = send(&world, &process, &principal).await;
    assert!(sent.header("webhook-id").starts_with("msg_"));
    check(&sent, &one(&made.webhook_secret));
    for name in ["sys_keys", "sys_webhook_secrets"] {
        for event in process.store.journal(&name.parse().unwrap()) {
            assert!(!event.payload.as_str().contains(&text[6..]), "{name}");
        }
    }
    let logged = process
        .engine
        .redactor
        .redact(&format!("sent with {text}"))
        .into_owned();
    assert!(!logged.contains(text), "{logged}");
}

#[tokio::test]
async fn during_a_rotation_both_secrets_sign_and_the_contract_s_header_keeps_the_old() {
    let Scene { world, .. } = scene();
    let process = world.driving().await;
    let (made, principal) = key(&process).await;
    let owner = owner_of(&principal);
    // By another process, as the command line does.
    let elsewhere = world.process();
    let rotated = elsewhere
        .engine
        .rotate_webhook_secret(&local(), &owner, DAY)
        .await
        .unwrap();
    let both = SigningSecrets {
        current: rotated.secret.clone(),
        previous: Some(made.webhook_secret.clone()),
    };
    check(&send(&world, &process, &principal).await, &both);
    let refused = process
        .engine
        .rotate_webhook_secret(&local(), &owner, DAY)
        .await
        .unwrap_err();
    assert_eq!(refused.code().name, "ILLEGAL_STATE");
    world.clock.advance(DAY - Duration::from_secs(60)).await;
    check(&send(&world, &process, &principal).await, &both);
    world.clock.advance(Duration::from_secs(60)).await;
    check(
        &send(&world, &process, &principal).await,
        &one(&rotated.secret),
    );
    // A restart changes nothing.
    process.stop().await;
    let process = world.driving().await;
    check(
        &send(&world, &process, &principal).await,
        &one(&rotated.secret),
    );
}

#[tokio::test]
async fn a_rotation_is_ended_by_hand_or_has_no_overlap() {
    let Scene { world, .. } = scene();
    let process = world.driving().await;
    let (_, principal) = key(&process).await;
    let owner = owner_of(&principal);
    let engine = &process.engine;
    let by = local();
    let rotate = async |overlap: Duration| {
        let rotated = engine.rotate_webhook_secret(&by, &owner, overlap).await;
        rotated.unwrap()
    };
    let second = rotate(DAY).await;
    assert!(
        engine.webhook_secrets().await.unwrap()[0]
            .previous_until
            .is_some()
    );
    let view = engine.finish_webhook_rotation(&by, &owner).await.unwrap();
    assert_eq!(view.previous_until, None);
    check(
        &send(&world, &process, &principal).await,
        &one(&second.secret),
    );
    let again = engine
        .finish_webhook_rotation(&by, &owner)
        .await
        .unwrap_err();
    assert_eq!(again.code().name, "ILLEGAL_STATE");
    rotate(DAY).await;
    let last = rotate(Duration::ZERO).await;
    check(
        &send(&world, &process, &principal).await,
        &one(&last.secret),
    );
}

#[tokio::test]
async fn the_local_user_and_their_programs_share_one_secret() {
    let Scene { world, .. } = scene();
    let process = world.driving().await;
    let engine = &process.engine;
    let agent = Principal::local_agent("ada", "mcp");
    let constraint = async |principal: &Principal, url: &str| {
        let checked = engine.check_webhook(principal, "webhook_url", url).await;
        checked
            .err()
            .map(|problem| problem.details()["constraint"].clone())
    };
    world.outbound.forbid("https://10.");
    assert_eq!(constraint(&agent, URL).await.unwrap(), "no_webhook_secret");
    assert_eq!(
        constraint(&agent, "https://10.0.0.1/").await.unwrap(),
        "forbidden_address"
    );
    let made = engine
        .create_webhook_secret(&local(), "local")
        .await
        .unwrap();
    let again = engine.create_webhook_secret(&local(), "local").await;
    assert_eq!(again.unwrap_err().code().name, "ILLEGAL_STATE");
    for principal in [local(), agent] {
        assert_eq!(constraint(&principal, URL).await, None);
        check(
            &send(&world, &process, &principal).await,
            &one(&made.secret),
        );
    }
    let (_, holder) = key(&process).await;
    assert_eq!(constraint(&holder, URL).await, None);
    let stranger = Principal::key("key_unknown", Vec::new());
    assert_eq!(
        constraint(&stranger, URL).await.unwrap(),
        "no_webhook_secret"
    );
}

/// The receiver is down at first: the delivery that arrives has the id of the first attempt, a
/// timestamp of its own, and a signature that is good for it.
#[tokio::test]
async fn a_receiver_that_was_down_gets_a_fresh_signature_under_the_same_id() {
    let Scene { world, .. } = scene();
    world.outbound.script(
        URL,
        [
            Reply::Unreachable,
            Reply::Unreachable,
            Reply::Status(503),
            Reply::Status(200),
        ],
    );
    let process = world.driving().await;
    let (made, principal) = key(&process).await;
    send(&world, &process, &principal).await;
    while world.disk.next_delivery_due().await.unwrap().is_some() {
        process.idle().await;
        world.clock.advance_to_next_timer();
        process.idle().await;
    }
    let sent = world.outbound.sent();
    assert_eq!(sent.len(), 4);
    for request in &sent {
        assert_eq!(request.header("webhook-id"), sent[0].header("webhook-id"));
        assert_eq!(request.request.body, sent[0].request.body);
        check(request, &one(&made.webhook_secret));
    }
    let late = sent[3].at.since(sent[0].at);
    assert!(late > Duration::from_secs(270), "{late:?}");
}
