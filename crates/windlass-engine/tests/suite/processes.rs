//! Several processes on one home: each run has one driver, the others submit and watch.

use std::{collections::BTreeSet, time::Duration};

use serde_json::json;
use windlass_engine::run::Step;
use windlass_ports::RunStore as _;
use windlass_testkit::{
    Reply, local,
    program::{Op, fn_kind},
};
use windlass_types::{Body, Problem, RunState};

use super::support::{Scene, bodies, ended, scene, start, waiting, world_of};

#[tokio::test]
async fn one_drives_the_other_submits_and_watches() {
    let Scene { world, ledger } = scene();
    let driver = world.driving().await;
    let client = world.process();
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
        assert_eq!(process.driver().id(), round + 1);
        // Not for so long that the run is parked.
        world.clock.advance(Duration::from_secs(5)).await;
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
async fn a_driver_that_lost_its_lease_writes_nothing_more() {
    let Scene { world, ledger } = scene();
    let first = world.driving().await;
    let run_id = start(
        &first,
        &[Op::set("a", 1), Op::sleep("nap", 60), Op::set("b", 1)],
    )
    .await;
    first.record(&run_id).await;
    world.disk.break_leases();
    let second = world.driving().await;
    let record = ended(&second, &run_id).await;
    assert_eq!(first.driver().live_runs(), 0, "it has noticed");
    assert_eq!((record.state, record.attempts), (RunState::Completed, 2));
    assert_eq!(ledger.changes(), ["a=1", "b=1"]);
    assert!(second.engine.verify(&run_id).await.unwrap().intact);
    let started: Vec<_> = second
        .event_types(&run_id)
        .into_iter()
        .filter(|name| name == "timer.fired")
        .collect();
    assert_eq!(started.len(), 1, "the fenced driver fired no timer");
    // Neither does it take up anything else: it is dead to all others.
    start(&second, &[Op::set("c", 1)]).await;
    second.idle().await;
    assert!(first.driver().is_stopping());
    assert_eq!(ledger.changes(), ["a=1", "b=1", "c=1"]);
}

#[tokio::test]
async fn a_fenced_driver_records_no_attempt() {
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
    world.disk.break_leases();
    let _second = world.driving().await;
    world.clock.advance(Duration::from_secs(3600)).await;
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

/// Two that drive everything share the runs, and none is done twice.
#[tokio::test]
async fn two_drivers_share_the_runs() {
    let Scene { world, ledger } = scene();
    let (one, two) = (world.driving().await, world.driving().await);
    let url = "https://hook.test/";
    let mut runs = Vec::new();
    for number in 0..40 {
        let program = [
            Op::set(&format!("cell{number:02}"), 1),
            Op::child("sub", [Op::sleep("nap", 3)]),
            Op::Notify {
                name: "tell".to_owned(),
                url: url.to_owned(),
            },
        ];
        runs.push(start(&world.process(), &program).await);
    }
    let mut drivers = BTreeSet::new();
    for run_id in &runs {
        let record = ended(&one, run_id).await;
        assert_eq!((record.state, record.attempts), (RunState::Completed, 1));
        for body in bodies(&two, run_id) {
            if let Body::RunStarted(started) = body {
                drivers.insert(started.epoch);
            }
        }
    }
    assert!(drivers.len() <= 2);
    world.clock.advance(Duration::from_secs(60)).await;
    assert_eq!(world.outbound.sent_to(url).len(), 40, "each webhook once");
    assert_eq!(ledger.changes().len(), 40, "each effect once");
}

#[tokio::test]
async fn a_command_drives_its_own_runs_and_their_children_and_nothing_else() {
    let Scene { world, ledger } = scene();
    let other = start(&world.process(), &[Op::set("other", 1)]).await;
    let command = world.driving_own().await;
    let program = [
        Op::set("own", 1),
        Op::child("sub", [Op::set("child", 1), Op::sleep("nap", 30)]),
    ];
    let own = start(&command, &program).await;
    assert_eq!(ended(&command, &own).await.state, RunState::Completed);
    assert_eq!(ledger.changes(), ["own=1", "child=1"]);
    assert_eq!(command.record(&other).await.state, RunState::Queued);
    // Until it is told to.
    command.engine.own_runs().note(&other);
    command.idle().await;
    assert_eq!(command.record(&other).await.state, RunState::Completed);
}

#[tokio::test]
async fn a_refused_command_begins_nothing() {
    let Scene { world, ledger } = scene();
    let waiting = start(&world.process(), &[Op::set("other", 1)]).await;
    let command = world.driving_own().await;
    let nobody = windlass_types::Principal::key("key_1", Vec::new());
    let refused = command.engine.cancel(&nobody, &waiting, None).await;
    assert_eq!(refused.unwrap_err().code().name, "RUN_NOT_FOUND");
    command.idle().await;
    assert_eq!(ledger.changes(), [""; 0]);
    assert_eq!(command.driver().live_runs(), 0);
}

#[tokio::test]
async fn what_a_command_leaves_is_taken_up_by_the_daemon_at_once() {
    let Scene { world, .. } = scene();
    let daemon = world.driving().await;
    for kill in [true, false] {
        let mut command = world.process();
        command.drive_own().await;
        let program = [Op::set("a", 1), Op::sleep("nap", 9), Op::set("b", 1)];
        let run_id = start(&command, &program).await;
        daemon.idle().await;
        assert_eq!(daemon.record(&run_id).await.attempts, 1);
        if kill {
            command.kill();
        } else {
            command.stop().await;
        }
        daemon.idle().await;
        let resumed = daemon.record(&run_id).await;
        let drivers = daemon.engine.lease.drivers();
        assert_eq!(drivers.len(), 1, "the command is gone");
        // The command or the daemon had it first: it has one driver now, and that is alive.
        assert!(resumed.attempts <= 2);
        let standing = daemon.store.standing(&run_id).await.unwrap().unwrap();
        assert_eq!(standing.lease.unwrap().driver, daemon.driver().id());
        assert_eq!(ended(&daemon, &run_id).await.state, RunState::Completed);
    }
}

#[tokio::test]
async fn a_command_takes_over_the_children_of_the_run_it_takes_up() {
    let Scene { world, ledger } = scene();
    let process = world.driving().await;
    let program = [Op::child("sub", [Op::sleep("nap", 9), Op::set("a", 1)])];
    let run_id = start(&process, &program).await;
    process.idle().await;
    process.kill();
    let command = world.driving_own().await;
    command.engine.own_runs().note(&run_id);
    assert_eq!(ended(&command, &run_id).await.state, RunState::Completed);
    assert_eq!(ledger.changes(), ["a=1"]);
}
