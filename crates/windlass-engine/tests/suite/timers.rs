//! Timers fire once, at their time, in any process.

use std::time::Duration;

use windlass_ports::Clock as _;
use windlass_testkit::program::Op;
use windlass_types::RunState;

use super::support::{Scene, ended, scene, start, story};

const HOUR: Duration = Duration::from_secs(3600);

#[tokio::test]
async fn a_restart_does_not_begin_the_sleep_again() {
    let Scene { world, .. } = scene();
    let process = world.driving().await;
    let started = world.clock.now();
    let run_id = start(&process, &[Op::sleep("nap", 3600)]).await;
    for _ in 0..3 {
        world.clock.advance(HOUR / 4).await;
        let process = world.process();
        assert_eq!(process.record(&run_id).await.state, RunState::Waiting);
    }
    process.kill();
    let process = world.driving().await;
    assert_eq!(ended(&process, &run_id).await.state, RunState::Completed);
    assert_eq!(world.clock.now().since(started), HOUR);
    insta::assert_snapshot!(story(&process, &run_id), @"
    run.created
    run.started
    timer.started nap
    timer.fired nap
    run.completed
    ");
}

#[tokio::test]
async fn a_timer_that_ran_out_while_nobody_drove_fires_at_once() {
    let Scene { world, .. } = scene();
    let process = world.driving().await;
    let run_id = start(&process, &[Op::sleep("nap", 3600)]).await;
    world.clock.advance(HOUR / 2).await;
    process.kill();
    world.clock.advance(24 * HOUR).await;
    let before = world.clock.now();
    let process = world.driving().await;
    assert_eq!(ended(&process, &run_id).await.state, RunState::Completed);
    assert_eq!(world.clock.now(), before);
}

#[tokio::test]
async fn timers_of_many_runs_fire_in_order() {
    let Scene { world, ledger } = scene();
    let process = world.driving().await;
    let mut runs = Vec::new();
    for number in (1..=20).rev() {
        runs.push(
            start(
                &process,
                &[
                    Op::sleep("nap", number * 60),
                    Op::set("last", number as i64),
                ],
            )
            .await,
        );
    }
    for run_id in &runs {
        ended(&process, run_id).await;
    }
    let expected: Vec<String> = (1..=20).map(|number| format!("last={number}")).collect();
    assert_eq!(ledger.changes(), expected);
}

#[tokio::test]
async fn a_clock_that_goes_back_delays_and_never_repeats() {
    let Scene { world, ledger } = scene();
    let process = world.driving().await;
    let run_id = start(&process, &[Op::sleep("nap", 3600), Op::set("a", 1)]).await;
    world.clock.advance(HOUR / 2).await;
    world.clock.set(world.clock.now().before(HOUR));
    world.clock.advance(HOUR).await;
    assert_eq!(process.record(&run_id).await.state, RunState::Waiting);
    assert_eq!(ended(&process, &run_id).await.state, RunState::Completed);
    assert_eq!(ledger.changes(), ["a=1"]);
}
