//! Webhooks: at least once, one id, fresh signatures, a schedule, and nobody waits for the dead.

use std::time::Duration;

use serde_json::json;
use windlass_engine::outbox::{SigningSecrets, sign};
use windlass_ports::{AttemptRecord, Clock as _, DeliveryRecord, DeliveryState, RunStore as _};
use windlass_testkit::{Moment, Process, Reply, SentRequest, TestWorld, local, program::Op};
use windlass_types::{RunState, Secret, Timestamp};

use super::support::{Scene, ended, run, scene, start};

const URL: &str = "https://hook.test/x";

fn notify(url: &str) -> Op {
    Op::Notify {
        name: format!("tell {url}"),
        url: url.to_owned(),
    }
}

fn seconds(count: u64) -> Duration {
    Duration::from_secs(count)
}

fn delivery(world: &TestWorld) -> DeliveryRecord {
    let deliveries = world.disk.all_deliveries();
    assert_eq!(deliveries.len(), 1);
    deliveries.into_iter().next().unwrap()
}

async fn attempts(world: &TestWorld) -> Vec<AttemptRecord> {
    world.disk.attempts(&delivery(world).id).await.unwrap()
}

/// Lets time pass until nothing more is due.
async fn drain(world: &TestWorld, process: &Process) {
    while world.disk.next_delivery_due().await.unwrap().is_some() {
        process.idle().await;
        world.clock.advance_to_next_timer();
        process.idle().await;
    }
}

fn times(sent: &[SentRequest], since: Timestamp) -> Vec<u64> {
    sent.iter()
        .map(|request| request.at.since(since).as_secs())
        .collect()
}

#[tokio::test]
async fn a_webhook_arrives_signed() {
    let Scene { world, .. } = scene();
    let process = world.driving().await;
    run(&process, &[notify(URL)]).await;
    drain(&world, &process).await;
    let sent = world.outbound.sent();
    assert_eq!(sent.len(), 1);
    let body = String::from_utf8(sent[0].request.body.clone()).unwrap();
    assert_eq!(body, format!(r#"{{"from":"tell {URL}"}}"#));
    let delivery = delivery(&world);
    let secret = SigningSecrets::one(Secret::new("default secret".to_owned()));
    assert_eq!(
        sent[0].request.headers,
        sign(&delivery.id, sent[0].at, &body, &secret)
    );
    assert_eq!(
        (delivery.state, delivery.attempts),
        (DeliveryState::Delivered, 1)
    );
}

#[tokio::test]
async fn attempts_follow_the_schedule_with_one_id_and_fresh_signatures() {
    let Scene { world, .. } = scene();
    let world = world.with_schedule(&[5, 300, 1800]);
    world.outbound.script(
        URL,
        [
            Reply::Status(500),
            Reply::Unreachable,
            Reply::Status(302),
            Reply::Status(204),
        ],
    );
    let process = world.driving().await;
    let started = world.clock.now();
    run(&process, &[notify(URL)]).await;
    drain(&world, &process).await;
    let sent = world.outbound.sent();
    let times = times(&sent, started);
    assert_eq!(times.len(), 4);
    // Each pause is as scheduled, give or take a tenth.
    for (pause, window) in [5, 300, 1800].into_iter().zip(times.windows(2)) {
        let taken = window[1] - window[0];
        assert!(
            (pause - pause / 10 - 1..=pause + pause / 10 + 1).contains(&taken),
            "{times:?}"
        );
    }
    assert!(
        sent.iter()
            .all(|request| request.header("webhook-id") == sent[0].header("webhook-id"))
    );
    for pair in sent.windows(2) {
        assert_ne!(
            pair[0].header("webhook-timestamp"),
            pair[1].header("webhook-timestamp")
        );
        assert_ne!(
            pair[0].header("webhook-signature"),
            pair[1].header("webhook-signature")
        );
    }
    let log: Vec<_> = attempts(&world)
        .await
        .iter()
        .map(|attempt| (attempt.attempt, attempt.status))
        .collect();
    assert_eq!(
        log,
        [(1, Some(500)), (2, None), (3, Some(302)), (4, Some(204))]
    );
    assert_eq!(delivery(&world).state, DeliveryState::Delivered);
}

#[tokio::test]
async fn a_schedule_that_is_over_ends_the_delivery_until_it_is_replayed() {
    let Scene { world, .. } = scene();
    let world = world.with_schedule(&[5, 5]);
    world.outbound.script(
        URL,
        [
            Reply::Status(500),
            Reply::Status(500),
            Reply::Status(500),
            Reply::Status(200),
        ],
    );
    let process = world.driving().await;
    run(&process, &[notify(URL)]).await;
    drain(&world, &process).await;
    let dead = delivery(&world);
    assert_eq!(
        (dead.state, world.outbound.sent().len()),
        (DeliveryState::Dead, 3)
    );
    process
        .engine
        .replay_delivery(&local(), &dead.id)
        .await
        .unwrap();
    drain(&world, &process).await;
    assert_eq!(
        (delivery(&world).state, world.outbound.sent().len()),
        (DeliveryState::Delivered, 4)
    );
    assert_eq!(attempts(&world).await.len(), 4, "the log keeps all rounds");
    let unknown = process
        .engine
        .replay_delivery(&local(), &"dlv_unknown".parse().unwrap())
        .await
        .unwrap_err();
    assert_eq!(unknown.code().name, "NOT_FOUND");
}

#[tokio::test]
async fn a_receiver_that_says_when_is_tried_then() {
    let Scene { world, .. } = scene();
    let world = world.with_schedule(&[5, 5]);
    let after =
        |value: &str| Reply::Headers(429, vec![("retry-after".to_owned(), value.to_owned())]);
    world
        .outbound
        .script(URL, [after("120"), after("1"), Reply::Status(200)]);
    let process = world.driving().await;
    let started = world.clock.now();
    run(&process, &[notify(URL)]).await;
    drain(&world, &process).await;
    let times = times(&world.outbound.sent(), started);
    assert_eq!(times[1], 120);
    assert!(
        (125..=126).contains(&times[2]),
        "a breath and the schedule are the least: {times:?}"
    );
}

#[tokio::test]
async fn a_receiver_that_is_gone_is_left_alone_but_for_what_is_asked_for() {
    let Scene { world, .. } = scene();
    world
        .outbound
        .script(URL, [Reply::Status(410), Reply::Status(200)]);
    let process = world.driving().await;
    run(&process, &[notify(URL)]).await;
    drain(&world, &process).await;
    let gone = delivery(&world);
    assert_eq!((gone.state, gone.attempts), (DeliveryState::Dead, 1));
    run(&process, &[notify(URL)]).await;
    world.clock.advance(seconds(100_000)).await;
    assert_eq!(
        world.outbound.sent().len(),
        1,
        "what comes later is not sent"
    );
    process
        .engine
        .replay_delivery(&local(), &gone.id)
        .await
        .unwrap();
    drain(&world, &process).await;
    let sent = world.outbound.sent();
    assert_eq!(sent.len(), 2, "what is asked for by hand is");
    assert_eq!(sent[1].header("webhook-id"), gone.id.as_str());
}

#[tokio::test]
async fn what_was_sent_and_not_recorded_is_sent_again_with_the_same_id() {
    for moment in Moment::ALL {
        let Scene { world, .. } = scene();
        let store = world.disk.open_again();
        // run.started, webhook.enqueued, run.completed and the lease on the delivery; then the
        // attempt.
        store.crash_at(5, moment);
        let mut process = world.process_on(store.clone());
        process.drive().await;
        let run_id = start(&world.process(), &[notify(URL)]).await;
        store.died().await;
        drop(process);
        assert_eq!(world.outbound.sent().len(), 1, "{moment:?}");
        let process = world.driving().await;
        assert_eq!(ended(&process, &run_id).await.state, RunState::Completed);
        drain(&world, &process).await;
        let sent = world.outbound.sent();
        let expected = if moment == Moment::AfterCommit { 1 } else { 2 };
        assert_eq!(sent.len(), expected, "{moment:?}");
        assert!(
            sent.iter()
                .all(|request| request.header("webhook-id") == sent[0].header("webhook-id"))
        );
        assert_eq!(
            delivery(&world).state,
            DeliveryState::Delivered,
            "{moment:?}"
        );
    }
}

#[tokio::test]
async fn a_full_disk_does_not_make_the_receiver_pay() {
    let Scene { world, .. } = scene();
    world.outbound.script(URL, [Reply::After(seconds(5), 200)]);
    let process = world.driving().await;
    start(&process, &[notify(URL)]).await;
    process.idle().await;
    assert_eq!(world.outbound.sent().len(), 1);
    world.disk.set_full(true);
    world.clock.advance(seconds(600)).await;
    assert_eq!(
        world.outbound.sent().len(),
        1,
        "it is recorded again, not sent again"
    );
    world.disk.set_full(false);
    drain(&world, &process).await;
    assert_eq!(world.outbound.sent().len(), 1);
    assert_eq!(delivery(&world).state, DeliveryState::Delivered);
}

#[tokio::test]
async fn a_dead_receiver_delays_nobody_else() {
    let Scene { world, .. } = scene();
    let world = world.with_schedule(&[3; 20]);
    let (dead, alive, flaky) = (
        "https://dead.test/x",
        "https://alive.test/x",
        "https://flaky.test/x",
    );
    world.outbound.script(dead, [Reply::Hang]);
    world
        .outbound
        .script(flaky, [Reply::Status(500), Reply::Status(200)]);
    let process = world.driving().await;
    let started = world.clock.now();
    // More than one page of the outbox, and more than may be under way at once.
    for _ in 0..20 {
        start(&process, &vec![notify(dead); 40]).await;
    }
    process.idle().await;
    run(&process, &[notify(alive), notify(flaky)]).await;
    world.clock.advance(seconds(9)).await;
    assert_eq!(times(&world.outbound.sent_to(alive), started), [0]);
    let retried = times(&world.outbound.sent_to(flaky), started);
    assert_eq!(
        retried.len(),
        2,
        "a retry that comes due while others hang is made: {retried:?}"
    );
    assert!((2..=5).contains(&retried[1]), "{retried:?}");
    let under_way = world.outbound.sent_to(dead).len();
    assert_eq!(under_way, 4, "at most so many at once for one receiver");
}

#[tokio::test]
async fn a_forbidden_target_fails_the_run_that_asks_for_it() {
    let Scene { world, .. } = scene();
    world.outbound.forbid("http://169.254.169.254");
    let process = world.driving().await;
    let record = run(&process, &[notify("http://169.254.169.254/latest")]).await;
    assert_eq!(
        (record.state, super::support::problem_code(&record)),
        (RunState::Failed, "TARGET_FORBIDDEN")
    );
    assert!(world.disk.all_deliveries().is_empty());
}

#[tokio::test]
async fn a_target_forbidden_since_is_given_up() {
    let Scene { world, .. } = scene();
    world.outbound.script(URL, [Reply::Status(500)]);
    let process = world.driving().await;
    run(&process, &[notify(URL)]).await;
    process.idle().await;
    world.outbound.forbid("https://hook.test");
    drain(&world, &process).await;
    assert_eq!(delivery(&world).state, DeliveryState::Dead);
    let last = attempts(&world).await.pop().unwrap();
    assert!(last.error.unwrap().contains("target refused"));
}

#[tokio::test]
async fn webhooks_of_a_run_that_fails_or_is_cancelled_are_delivered_all_the_same() {
    let Scene { world, .. } = scene();
    let process = world.driving().await;
    let record = run(&process, &[notify(URL), Op::Fail]).await;
    assert_eq!(record.state, RunState::Failed);
    drain(&world, &process).await;
    assert_eq!(delivery(&world).state, DeliveryState::Delivered);
    assert_eq!(json!(world.outbound.sent().len()), json!(1));
}

/// The log of attempts: when, how it went, how long, where to, and what was said, redacted.
#[tokio::test]
async fn the_log_says_what_happened() {
    let Scene { world, .. } = scene();
    let world = world.with_schedule(&[5, 5]);
    let said = format!("no: password=hunter2-9c1d {}", "x".repeat(4000));
    world
        .outbound
        .script(URL, [Reply::Body(500, said), Reply::Status(200)]);
    let process = world.driving().await;
    run(&process, &[notify(URL)]).await;
    drain(&world, &process).await;
    let log = attempts(&world).await;
    assert_eq!(log.len(), 2);
    assert_eq!(log[0].address.as_deref(), Some("203.0.113.5:443"));
    let answer = log[0].answer.as_deref().unwrap();
    assert_eq!(answer.len(), 1024);
    assert!(answer.starts_with("no: password=[redacted"), "{answer}");
    assert_eq!(log[0].error.as_deref(), Some("the receiver answered 500"));
    assert_eq!(
        (log[1].answer.as_deref(), log[1].error.as_deref()),
        (None, None)
    );
}

/// A receiver with too much to do gets nothing else meanwhile; others do.
#[tokio::test]
async fn a_receiver_with_too_much_to_do_is_left_alone_for_a_while() {
    let Scene { world, .. } = scene();
    let world = world.with_schedule(&[60, 60]);
    let busy = ["https://busy.test/1", "https://busy.test/2"];
    let slow = Reply::Headers(429, vec![("retry-after".to_owned(), "90".to_owned())]);
    world.outbound.script(busy[0], [slow, Reply::Status(200)]);
    let process = world.driving().await;
    let started = world.clock.now();
    run(&process, &[notify(busy[0])]).await;
    process.idle().await;
    run(&process, &[notify(busy[1]), notify(URL)]).await;
    drain(&world, &process).await;
    assert_eq!(times(&world.outbound.sent_to(busy[0]), started), [0, 90]);
    assert_eq!(times(&world.outbound.sent_to(URL), started), [0]);
    let other = times(&world.outbound.sent_to(busy[1]), started);
    assert!(
        other.len() == 1 && (90..=92).contains(&other[0]),
        "{other:?}"
    );
}
