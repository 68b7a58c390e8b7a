//! Steps are done once; failures are tried again as their policy says, on the run's own clock.

use std::time::Duration;

use serde_json::json;
use windlass_ports::Clock as _;
use windlass_testkit::{Moment, program::Op};
use windlass_types::{Body, RunState};

use super::support::{Scene, bodies, ended, problem_code, run, scene, start, story};

#[tokio::test]
async fn a_run_is_its_journal() {
    let Scene { world, ledger } = scene();
    let process = world.driving().await;
    let program = [
        Op::Count {
            name: "count".to_owned(),
        },
        Op::set("a", 1),
        Op::set("a", 2),
        Op::sleep("nap", 5),
    ];
    let record = run(&process, &program).await;
    assert_eq!(record.state, RunState::Completed);
    assert_eq!(record.output, Some(json!([0, null, 1, null])));
    assert_eq!(ledger.changes(), ["a=1", "a=2"]);
    insta::assert_snapshot!(story(&process, &record.run_id), @"
    run.created
    run.started
    step.completed count
    step.started a
    step.completed a
    step.started a#2
    step.completed a#2
    timer.started nap
    timer.fired nap
    run.completed
    ");
    assert!(process.engine.verify(&record.run_id).await.unwrap().intact);
}

#[tokio::test]
async fn steps_that_were_done_are_not_done_again() {
    let Scene { world, ledger } = scene();
    let process = world.driving().await;
    let program = [
        Op::Count {
            name: "count".to_owned(),
        },
        Op::set("a", 1),
        Op::Emit {
            name: "half".to_owned(),
            text: "x".to_owned(),
        },
        Op::Artifact {
            name: "report".to_owned(),
            text: "x".to_owned(),
        },
        Op::wait("go", None),
        Op::set("b", 2),
    ];
    let run_id = start(&process, &program).await;
    process.settle(&run_id).await;
    process.kill();
    let process = world.driving().await;
    process
        .engine
        .send_signal(&windlass_testkit::local(), &run_id, "go", json!(1))
        .await
        .unwrap();
    let record = ended(&process, &run_id).await;
    assert_eq!((record.state, record.attempts), (RunState::Completed, 2));
    assert_eq!(ledger.changes(), ["a=1", "b=2"]);
    insta::assert_snapshot!(story(&process, &run_id), @"
    run.created
    run.started
    step.completed count
    step.started a
    step.completed a
    event.half half
    artifact.stored artifact:report
    wait.started go
    signal.received go
    run.started
    wait.completed go
    step.started b
    step.completed b
    run.completed
    ");
}

#[tokio::test]
async fn a_failing_step_is_tried_again_after_growing_pauses() {
    let Scene { world, ledger } = scene();
    let process = world.driving().await;
    let started = world.clock.now();
    let record = run(
        &process,
        &[Op::Flaky {
            cell: "a".to_owned(),
            value: 1,
            refusals: 4,
            tries: 9,
        }],
    )
    .await;
    assert_eq!(record.state, RunState::Completed);
    let failures: Vec<(u32, u64)> = bodies(&process, &record.run_id)
        .into_iter()
        .filter_map(|body| match body {
            Body::StepFailed(failed) => Some((
                failed.attempt,
                failed.retry_at.unwrap().since(started).as_secs(),
            )),
            _ => None,
        })
        .collect();
    // 10 s, doubled each time, at most 60 s.
    assert_eq!(failures, [(1, 10), (2, 30), (3, 70), (4, 130)]);
    assert_eq!(world.clock.now().since(started), Duration::from_secs(130));
    assert_eq!(ledger.changes(), ["a=1"]);
}

#[tokio::test]
async fn tries_run_out() {
    let Scene { world, ledger } = scene();
    let process = world.driving().await;
    let program = [
        Op::set("b", 1),
        Op::Flaky {
            cell: "a".to_owned(),
            value: 1,
            refusals: 9,
            tries: 3,
        },
    ];
    let record = run(&process, &program).await;
    assert_eq!(
        (record.state, problem_code(&record)),
        (RunState::Failed, "UPSTREAM_ERROR")
    );
    assert_eq!(ledger.cells(), [].into());
    assert_eq!(record.residue, Vec::<String>::new());
}

#[tokio::test]
async fn failures_that_no_retry_can_fix_are_final() {
    let Scene { world, .. } = scene();
    let process = world.driving().await;
    let record = run(&process, &[Op::set("a", 1), Op::Fail]).await;
    assert_eq!(
        (record.state, problem_code(&record)),
        (RunState::Failed, "STEP_FAILED")
    );
    insta::assert_snapshot!(story(&process, &record.run_id), @"
    run.created
    run.started
    step.started a
    step.completed a
    run.unwinding
    undo.completed a
    run.failed
    ");
}

#[tokio::test]
async fn a_pause_between_tries_goes_on_after_a_restart() {
    let Scene { world, ledger } = scene();
    let process = world.driving().await;
    let started = world.clock.now();
    let run_id = start(
        &process,
        &[Op::Flaky {
            cell: "a".to_owned(),
            value: 1,
            refusals: 1,
            tries: 2,
        }],
    )
    .await;
    world.clock.advance(Duration::from_secs(6)).await;
    process.kill();
    let process = world.driving().await;
    let record = ended(&process, &run_id).await;
    assert_eq!(record.state, RunState::Completed);
    assert_eq!(world.clock.now().since(started), Duration::from_secs(10));
    assert_eq!(ledger.changes(), ["a=1"]);
}

#[tokio::test]
async fn an_effect_keeps_its_idempotency_key_over_crashes_and_retries() {
    let Scene { world, .. } = scene();
    let process = world.driving().await;
    let run_id = start(
        &process,
        &[Op::Flaky {
            cell: "a".to_owned(),
            value: 1,
            refusals: 3,
            tries: 9,
        }],
    )
    .await;
    for seconds in [5, 8, 15] {
        world.clock.advance(Duration::from_secs(seconds)).await;
    }
    process.kill();
    let process = world.driving().await;
    ended(&process, &run_id).await;
    let keys: Vec<(u32, String)> = bodies(&process, &run_id)
        .into_iter()
        .filter_map(|body| match body {
            Body::StepStarted(started) => Some((started.attempt, started.idempotency_key)),
            _ => None,
        })
        .collect();
    assert_eq!(
        keys.iter().map(|(attempt, _)| *attempt).collect::<Vec<_>>(),
        [1, 2, 3, 4]
    );
    assert!(keys.iter().all(|(_, key)| *key == keys[0].1));
}

#[tokio::test]
async fn a_panic_in_run_code_fails_the_run_and_nothing_else() {
    let Scene { world, ledger } = scene();
    let process = world.driving().await;
    let other = start(&process, &[Op::sleep("nap", 60), Op::set("other", 1)]).await;
    let record = run(&process, &[Op::set("a", 1), Op::Panic]).await;
    assert_eq!(
        (record.state, problem_code(&record)),
        (RunState::Failed, "INTERNAL")
    );
    assert!(
        record
            .problem
            .unwrap()
            .message()
            .contains("the program panics here")
    );
    assert_eq!(ended(&process, &other).await.state, RunState::Completed);
    assert_eq!(ledger.cells(), [("other".to_owned(), 1)].into());
}

#[tokio::test]
async fn a_panic_in_the_middle_of_an_effect_leaves_a_residue_that_is_named() {
    let Scene { world, ledger } = scene();
    let process = world.driving().await;
    let record = run(
        &process,
        &[
            Op::set("a", 1),
            Op::PanicIn {
                cell: "b".to_owned(),
            },
        ],
    )
    .await;
    assert_eq!(
        (record.state, problem_code(&record)),
        (RunState::Failed, "INTERNAL")
    );
    assert_eq!(record.residue, ["b"]);
    assert_eq!(ledger.cells(), [("b".to_owned(), 1)].into());
}

#[tokio::test]
async fn of_two_branches_the_one_that_is_cut_off_in_an_effect_is_named() {
    let Scene { world, ledger } = scene();
    let process = world.driving().await;
    let program = [Op::Both {
        left: vec![
            Op::Count {
                name: "count".to_owned(),
            },
            Op::Fail,
        ],
        right: vec![Op::set("b", 1)],
    }];
    let record = run(&process, &program).await;
    assert_eq!(record.state, RunState::Failed);
    // Whether it happened nobody can tell, so it is named either way.
    assert_eq!(record.residue, ["b"]);
    assert!(ledger.changes().len() <= 1);
}

#[tokio::test]
async fn an_effect_cut_off_before_a_crash_is_named_even_if_the_code_does_not_come_by_again() {
    let Scene { world, .. } = scene();
    let store = world.disk.open_again();
    // run.started, the effect's intent and the count are written; the unwinding is not.
    store.crash_at(4, Moment::BeforeWrite);
    let mut process = world.process_on(store.clone());
    process.drive().await;
    let counted = Op::Count {
        name: "count".to_owned(),
    };
    let program = [Op::Both {
        left: vec![counted, Op::Fail],
        right: vec![Op::set("b", 1)],
    }];
    let run_id = start(&world.process(), &program).await;
    store.died().await;
    drop(process);
    let process = world.driving().await;
    let record = ended(&process, &run_id).await;
    assert_eq!(record.state, RunState::Failed);
    assert_eq!(record.residue, ["b"], "{}", story(&process, &run_id));
}
