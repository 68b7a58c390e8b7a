//! Several processes on one home: one drives, the others submit and watch.

use std::time::Duration;

use serde_json::json;
use windlass_engine::run::Step;
use windlass_testkit::{
    Reply, local,
    program::{Op, fn_kind},
};
use windlass_types::{Problem, RunState};

use super::support::{Scene, ended, scene, start, waiting, world_of};

#[tokio::test]
async fn one_drives_the_other_submits_and_watches() {
    let Scene { world, ledger } = scene();
    let driver = world.driving().await;
    let mut client = world.process();
    assert!(!client.drive().await, "somebody drives already");
    let run_id = start(
        &client,
        &[
            Op::set("a", 1),
            Op::approval("deploy"),
            Op::sleep("nap", 60),
        ],
    )
    .await;
    waiting(&client, &run_id).await;
    let decision = windlass_engine::run::ApprovalDecision {
        approved: true,
        plan_digest: None,
        reason: None,
    };
    client
        .engine
        .answer_approval(&local(), &run_id, decision)
        .await
        .unwrap();
    let watch = async {
        let mut seen = Vec::new();
        loop {
            let after = seen.len() as u64;
            let page = client
                .engine
                .events_after(&run_id, after, 2, Duration::from_secs(3600))
                .await
                .unwrap();
            seen.extend(page.into_iter().map(|event| event.event_type));
            if seen.last().is_some_and(|last| last == "run.completed") {
                return seen;
            }
        }
    };
    let seen = world.clock.run(watch).await;
    assert_eq!(seen, driver.event_types(&run_id));
    assert_eq!(ended(&client, &run_id).await.state, RunState::Completed);
    assert_eq!(ledger.changes(), ["a=1"]);
}

#[tokio::test]
async fn another_takes_over_when_the_driver_stops_or_dies() {
    let Scene { world, ledger } = scene();
    let run_id = start(
        &world.process(),
        &[Op::set("a", 1), Op::sleep("nap", 100), Op::set("b", 1)],
    )
    .await;
    for round in 0..4 {
        let process = world.driving().await;
        assert_eq!(process.driver().epoch(), round + 1);
        world.clock.advance(Duration::from_secs(20)).await;
        if round % 2 == 0 {
            process.kill();
        } else {
            process.stop().await;
        }
    }
    let process = world.driving().await;
    let record = ended(&process, &run_id).await;
    assert_eq!((record.state, record.attempts), (RunState::Completed, 5));
    assert_eq!(ledger.changes(), ["a=1", "b=1"]);
}

#[tokio::test]
async fn a_driver_that_is_dropped_ends_at_once_and_frees_the_lease() {
    let Scene { world, ledger } = scene();
    let process = world.driving().await;
    let run_id = start(&process, &[Op::sleep("nap", 10), Op::set("a", 1)]).await;
    process.record(&run_id).await;
    drop(process);
    world.clock.advance(Duration::from_secs(60)).await;
    assert_eq!(ledger.changes(), [""; 0], "nobody drives");
    let process = world.driving().await;
    assert_eq!(ended(&process, &run_id).await.state, RunState::Completed);
}

#[tokio::test]
async fn a_driver_that_is_dropped_in_the_middle_of_an_effect_frees_the_lease_too() {
    let kind = fn_kind("endless", |context, _| {
        Box::pin(async move {
            let endless = |_| std::future::pending::<Result<(), Problem>>();
            Step::effect("endless", "world")
                .run(context, endless)
                .await?;
            Ok(json!(null))
        })
    });
    let world = world_of(vec![kind], Vec::new());
    let process = world.driving().await;
    let run_id = process.start("endless", json!(null)).await;
    assert_eq!(process.record(&run_id).await.state, RunState::Running);
    drop(process);
    world.clock.idle().await;
    let process = world.driving().await;
    assert_eq!(process.record(&run_id).await.attempts, 2);
}

#[tokio::test]
async fn a_driver_that_lost_its_lease_writes_nothing_more_and_stops() {
    let Scene { world, ledger } = scene();
    let first = world.driving().await;
    let run_id = start(
        &first,
        &[Op::set("a", 1), Op::sleep("nap", 60), Op::set("b", 1)],
    )
    .await;
    first.record(&run_id).await;
    world.disk.break_lease();
    let second = world.driving().await;
    assert!(!first.driver().is_stopping(), "it has not noticed yet");
    let record = ended(&second, &run_id).await;
    assert!(first.driver().is_stopping());
    assert_eq!((record.state, record.attempts), (RunState::Completed, 2));
    assert_eq!(ledger.changes(), ["a=1", "b=1"]);
    assert!(second.engine.verify(&run_id).await.unwrap().intact);
    let started: Vec<_> = second
        .event_types(&run_id)
        .into_iter()
        .filter(|name| name == "timer.fired")
        .collect();
    assert_eq!(started.len(), 1, "the fenced driver fired no timer");
}

#[tokio::test]
async fn a_fenced_driver_stops_sending_webhooks() {
    let Scene { world, .. } = scene();
    let url = "https://hook.test/";
    world.outbound.script(
        url,
        [
            Reply::After(Duration::from_secs(5), 200),
            Reply::Status(200),
        ],
    );
    let first = world.driving().await;
    start(
        &first,
        &[Op::Notify {
            name: "tell".to_owned(),
            url: url.to_owned(),
        }],
    )
    .await;
    first.idle().await;
    assert_eq!(world.outbound.sent_to(url).len(), 1);
    world.disk.break_lease();
    let _second = world.driving().await;
    world.clock.advance(Duration::from_secs(3600)).await;
    assert!(first.driver().is_stopping());
    let sent = world.outbound.sent_to(url);
    assert_eq!(sent.len(), 2, "once by each, not over and over");
    assert_eq!(sent[0].header("webhook-id"), sent[1].header("webhook-id"));
}

#[tokio::test]
async fn stopping_suspends_waits_at_once_and_lets_effects_be_recorded() {
    let Scene { world, ledger } = scene();
    let process = world.driving().await;
    let program = [
        Op::set("a", 1),
        Op::child("sub", [Op::set("b", 1), Op::wait("go", None)]),
    ];
    let run_id = start(&process, &program).await;
    process.record(&run_id).await;
    process.stop().await;
    assert_eq!(world.clock.next_timer(), None);
    let process = world.driving().await;
    process.record(&run_id).await;
    let child = world
        .disk
        .all_runs()
        .into_iter()
        .find(|record| record.parent.is_some())
        .unwrap();
    process
        .engine
        .send_signal(&local(), &child.run_id, "go", json!(null))
        .await
        .unwrap();
    assert_eq!(ended(&process, &run_id).await.state, RunState::Completed);
    assert_eq!(ledger.changes(), ["a=1", "b=1"]);
}
