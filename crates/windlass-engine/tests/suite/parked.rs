//! Parked runs: no task, no memory and no event until they are due or told something.

use std::time::Duration;

use serde_json::json;
use windlass_engine::run::Step;
use windlass_ports::RunStore as _;
use windlass_testkit::{
    Process, TestWorld, local,
    program::{Op, fn_kind},
};
use windlass_types::{RunId, RunState};

use super::support::{Scene, ended, scene, start, story, world_of};

/// Longer than a run is kept that may soon go on.
const A_WHILE: Duration = Duration::from_secs(30);
const DAY: u64 = 24 * 3600;

async fn say(process: &Process, run_id: &RunId, signal: &str) {
    let (engine, principal) = (&process.engine, local());
    let said = engine.send_signal(&principal, run_id, signal, json!(1));
    said.await.unwrap();
}

/// Starts a program and waits until its run is parked.
async fn parked(world: &TestWorld, process: &Process, program: &[Op]) -> RunId {
    let run_id = start(process, program).await;
    world.clock.advance(A_WHILE).await;
    assert_eq!(process.driver().live_runs(), 0);
    let standing = process.store.standing(&run_id).await.unwrap().unwrap();
    assert_eq!(standing.lease, None);
    run_id
}

#[tokio::test]
async fn thousands_of_parked_runs_are_no_task_and_a_restart_does_not_touch_them() {
    const RUNS: usize = 2000;
    let Scene { world, ledger } = scene();
    let process = world.driving().await;
    let mut runs = Vec::with_capacity(RUNS);
    for number in 0..RUNS {
        let program = match number % 3 {
            0 => vec![Op::sleep("nap", DAY), Op::set("cell", number as i64)],
            1 => vec![Op::approval("deploy")],
            _ => vec![Op::wait("go", Some(2 * DAY))],
        };
        runs.push(start(&process, &program).await);
    }
    world.clock.advance(A_WHILE).await;
    assert_eq!(process.driver().live_runs(), 0);
    assert_eq!(process.store.leases().await.unwrap(), []);
    process.stop().await;
    let before = world.disk.position().await.unwrap();
    let process = world.driving().await;
    process.idle().await;
    assert_eq!(process.driver().live_runs(), 0);
    assert_eq!(process.store.writes(), 0, "nothing is written");
    assert_eq!(world.disk.position().await.unwrap(), before);
    // One timer for all of them.
    assert!(world.clock.next_timer().is_some());
    say(&process, &runs[2], "go").await;
    assert_eq!(ended(&process, &runs[2]).await.state, RunState::Completed);
    world.clock.advance(Duration::from_secs(DAY)).await;
    let of_timers = runs.iter().step_by(3);
    for run_id in of_timers.clone() {
        let record = process.record(run_id).await;
        assert_eq!((record.state, record.attempts), (RunState::Completed, 1));
    }
    assert_eq!(ledger.changes().len(), of_timers.count());
    world.clock.advance(A_WHILE).await;
    assert_eq!(process.driver().live_runs(), 0);
}

#[tokio::test]
async fn a_parked_run_goes_on_where_it_waited() {
    let Scene { world, ledger } = scene();
    let process = world.driving().await;
    let program = [Op::set("a", 1), Op::wait("go", None), Op::set("b", 1)];
    let run_id = parked(&world, &process, &program).await;
    say(&process, &run_id, "go").await;
    assert_eq!(ended(&process, &run_id).await.state, RunState::Completed);
    assert_eq!(ledger.changes(), ["a=1", "b=1"]);
    insta::assert_snapshot!(story(&process, &run_id), @"
    run.created
    run.started
    step.started a
    step.completed a
    wait.started go
    signal.received go
    wait.completed go
    step.started b
    step.completed b
    run.completed
    ");
}

#[tokio::test]
async fn what_nobody_waits_for_wakes_a_run_once_and_its_timer_stays() {
    let Scene { world, .. } = scene();
    let process = world.driving().await;
    let run_id = parked(&world, &process, &[Op::sleep("nap", DAY)]).await;
    say(&process, &run_id, "other").await;
    process.idle().await;
    assert_eq!(process.driver().live_runs(), 1);
    world.clock.advance(A_WHILE).await;
    assert_eq!(process.driver().live_runs(), 0);
    world.clock.advance(Duration::from_secs(DAY)).await;
    assert_eq!(process.record(&run_id).await.state, RunState::Completed);
}

#[tokio::test]
async fn a_living_driver_wakes_what_another_parked() {
    let Scene { world, .. } = scene();
    let first = world.driving().await;
    let program = [Op::sleep("nap", DAY), Op::wait("go", None)];
    let run_id = parked(&world, &first, &program).await;
    let second = world.driving().await;
    first.kill();
    world
        .clock
        .advance(Duration::from_secs(DAY) + A_WHILE)
        .await;
    assert_eq!(
        second.driver().live_runs(),
        0,
        "parked again, in its next wait"
    );
    second.kill();
    say(&world.process(), &run_id, "go").await;
    let third = world.driving().await;
    let record = ended(&third, &run_id).await;
    assert_eq!((record.state, record.attempts), (RunState::Completed, 1));
}

#[tokio::test]
async fn cancelling_a_parked_run_undoes_what_it_did() {
    let Scene { world, ledger } = scene();
    let process = world.driving().await;
    let run_id = parked(&world, &process, &[Op::set("a", 1), Op::sleep("nap", DAY)]).await;
    let asked = process.engine.cancel(&local(), &run_id, None).await;
    asked.unwrap();
    assert_eq!(ended(&process, &run_id).await.state, RunState::Cancelled);
    assert_eq!(ledger.get("a"), None);
}

#[tokio::test]
async fn a_run_that_waits_for_something_outside_is_not_parked() {
    let kind = fn_kind("outside", |context, _| {
        Box::pin(async move {
            let nap = context.sleep("nap", Duration::from_secs(DAY));
            let error = tokio::select! {
                error = context.interrupted() => error,
                slept = nap => match slept {
                    Ok(()) => return Ok(json!("slept")),
                    Err(error) => error,
                },
            };
            Err(error)
        })
    });
    let busy = fn_kind("busy", |context, _| {
        Box::pin(async move {
            let endless = |_| std::future::pending::<Result<(), windlass_types::Problem>>();
            let step = Step::effect("endless", "world");
            let (slept, done) = tokio::join!(
                context.sleep("nap", Duration::from_secs(DAY)),
                step.run(context, endless)
            );
            slept?;
            done?;
            Ok(json!(null))
        })
    });
    let world = world_of(vec![kind, busy], Vec::new());
    let process = world.driving().await;
    for kind in ["outside", "busy"] {
        process.start(kind, json!(null)).await;
    }
    world.clock.advance(A_WHILE).await;
    assert_eq!(process.driver().live_runs(), 2);
}

#[tokio::test]
async fn a_signal_that_meets_a_run_on_its_way_to_being_parked_is_heard() {
    // Every possible moment, one turn of the scheduler after the other.
    for turns in 0..60 {
        let Scene { world, .. } = scene();
        let process = world.driving().await;
        let run_id = start(&process, &[Op::wait("go", None)]).await;
        process.idle().await;
        assert!(
            world.clock.advance_to_next_timer(),
            "it is about to be parked"
        );
        for _ in 0..turns {
            tokio::task::yield_now().await;
        }
        say(&process, &run_id, "go").await;
        let record = process.record(&run_id).await;
        assert_eq!(record.state, RunState::Completed, "after {turns} turns");
    }
}

#[tokio::test]
async fn a_command_wakes_its_own_parked_run() {
    let Scene { world, .. } = scene();
    let command = world.driving_own().await;
    let run_id = parked(&world, &command, &[Op::sleep("nap", 600)]).await;
    assert_eq!(ended(&command, &run_id).await.state, RunState::Completed);
}
