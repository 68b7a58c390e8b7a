//! The wall clock is set while runs, tokens and keys wait: what has a deadline keeps to elapsed
//! time when the clock goes back, and to the clock when it goes forwards.

use std::time::Duration;

use windlass_engine::confirm::{TokenPurpose, TokenRefusal};
use windlass_ports::Clock as _;
use windlass_testkit::{TestWorld, local, program::Op};
use windlass_types::{Digest, RunState};

use super::support::{Scene, scene, start};

const HOUR: i64 = 3600;
const DAY: i64 = 24 * HOUR;
const JUMPS: [i64; 4] = [-DAY, -HOUR, HOUR, DAY];

/// When the clock is set.
#[derive(Clone, Copy, Debug)]
enum Phase {
    /// Before the run sleeps.
    Before,
    /// While its code sleeps.
    Live,
    /// While it is parked.
    Parked,
    /// While nobody drives.
    Down,
}

/// How many seconds it took until the run was done, from when it began to sleep.
async fn time_taken(jump: i64, phase: Phase, program: &[Op]) -> u64 {
    let Scene { world, .. } = scene();
    let seconds = |count| world.clock.advance(Duration::from_secs(count));
    let mut process = world.driving().await;
    if matches!(phase, Phase::Before) {
        world.clock.jump(jump);
    }
    let began = world.clock.steady();
    let run_id = start(&process, program).await;
    process.idle().await;
    match phase {
        Phase::Before => {}
        Phase::Live => {
            seconds(2).await;
            world.clock.jump(jump);
        }
        Phase::Parked => {
            seconds(30).await;
            assert_eq!(process.driver().live_runs(), 0);
            world.clock.jump(jump);
        }
        Phase::Down => {
            process.stop().await;
            world.clock.jump(jump);
            process = world.driving().await;
        }
    }
    let set_by = world.clock.steady();
    loop {
        process.idle().await;
        if process.record(&run_id).await.state == RunState::Completed {
            break;
        }
        assert!(world.clock.advance_to_next_timer());
    }
    let forwards = if jump > 0 && !matches!(phase, Phase::Before) {
        jump.unsigned_abs()
    } else {
        0
    };
    assert!(set_by <= world.clock.steady());
    world.clock.steady().since(began).as_secs() - forwards
}

#[tokio::test]
async fn timers_and_deadlines_keep_to_elapsed_time_or_the_clock() {
    let (mut cases, mut latest) = (0, 0);
    for jump in JUMPS {
        for phase in [Phase::Before, Phase::Live, Phase::Parked, Phase::Down] {
            for program in [
                vec![Op::sleep("nap", 2 * HOUR as u64)],
                vec![Op::wait("go", Some(2 * HOUR as u64))],
            ] {
                let took = time_taken(jump, phase, &program).await;
                let case = format!("{jump} s, {phase:?}, {program:?}");
                let forwards = if matches!(phase, Phase::Before) {
                    0
                } else {
                    jump.max(0)
                };
                // What the clock skips is skipped, and nothing else.
                let expected = (2 * HOUR - forwards).max(0) as u64;
                let slack = if forwards > 2 * HOUR { 31 } else { 0 };
                assert!(
                    (expected..=expected + slack).contains(&took),
                    "{case}: {took} s"
                );
                cases += 1;
                latest = latest.max(took - expected);
            }
        }
    }
    println!("{cases} jumps of the clock; the latest run ended {latest} s after it was due");
}

async fn token_after(world: &TestWorld, jump: i64, seconds: u64) -> Result<(), TokenRefusal> {
    let engine = &world.process().engine;
    let purpose = TokenPurpose {
        operation: "demo.apply".to_owned(),
        plan_digest: Digest::of(b"plan"),
        targets: Vec::new(),
        note: serde_json::Value::Null,
    };
    let issued = engine.issue_token(&local(), purpose).await.unwrap();
    world.clock.jump(jump);
    world.clock.advance(Duration::from_secs(seconds)).await;
    engine
        .return_token(&local(), "demo.apply", &issued.token)
        .await
        .map(drop)
}

#[tokio::test]
async fn tokens_do_not_outlive_a_clock_that_is_set_back() {
    for jump in [-DAY, -HOUR] {
        let Scene { world, .. } = scene();
        assert!(token_after(&world, jump, 9 * 60).await.is_ok(), "{jump}");
        let Scene { world, .. } = scene();
        let late = token_after(&world, jump, 10 * 60).await;
        assert!(matches!(late, Err(TokenRefusal::Expired)), "{jump}");
    }
    for jump in [HOUR, DAY] {
        let Scene { world, .. } = scene();
        let late = token_after(&world, jump, 0).await;
        assert!(matches!(late, Err(TokenRefusal::Expired)), "{jump}");
    }
}

/// Pauses that are made from the wall clock do not spin when it is behind.
#[tokio::test]
async fn a_pause_lasts_as_long_as_it_says() {
    for jump in JUMPS {
        let Scene { world, .. } = scene();
        world.clock.jump(jump);
        let began = world.clock.steady();
        let pause = world
            .clock
            .sleep_until(world.clock.now().after(Duration::from_secs(60)));
        world.clock.run(pause).await;
        assert_eq!(world.clock.steady().since(began).as_secs(), 60, "{jump}");
    }
}
