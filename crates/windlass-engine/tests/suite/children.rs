//! Child runs: created once, awaited, and never left behind.

use serde_json::json;
use windlass_testkit::{Moment, program::Op};
use windlass_types::{RunState, Surface};

use super::support::{Scene, ended, problem_code, run, scene, start, story};

#[tokio::test]
async fn a_childs_output_is_the_answer_and_its_trace_is_the_parents() {
    let Scene { world, .. } = scene();
    let process = world.driving().await;
    let record = run(
        &process,
        &[Op::child(
            "sub",
            [
                Op::set("a", 1),
                Op::Count {
                    name: "count".to_owned(),
                },
            ],
        )],
    )
    .await;
    assert_eq!(record.output, Some(json!([[null, 1]])));
    let runs = world.disk.all_runs();
    let child = runs.iter().find(|other| other.parent.is_some()).unwrap();
    assert_eq!(child.parent.as_ref().unwrap().run_id, record.run_id);
    assert_eq!(
        (child.trace_id, child.surface),
        (record.trace_id, Surface::Engine)
    );
    assert_eq!(child.principal, record.principal);
    insta::assert_snapshot!(story(&process, &record.run_id), @"
    run.created
    run.started
    child.started sub
    child.completed sub
    run.completed
    ");
}

#[tokio::test]
async fn a_failing_child_fails_its_parent_and_both_are_undone() {
    let Scene { world, ledger } = scene();
    let process = world.driving().await;
    let record = run(
        &process,
        &[
            Op::set("a", 1),
            Op::child("sub", [Op::set("b", 1), Op::Fail]),
        ],
    )
    .await;
    assert_eq!(
        (record.state, problem_code(&record)),
        (RunState::Failed, "STEP_FAILED")
    );
    assert_eq!((ledger.cells(), record.residue), ([].into(), vec![]));
}

#[tokio::test]
async fn a_child_under_way_is_cancelled_when_its_parent_fails_beside_it() {
    let Scene { world, ledger } = scene();
    let process = world.driving().await;
    let child = Op::child(
        "sub",
        [Op::set("c", 1), Op::sleep("long", 3600), Op::set("d", 1)],
    );
    let program = [Op::Both {
        left: vec![Op::sleep("short", 5), Op::Fail],
        right: vec![child],
    }];
    let record = run(&process, &program).await;
    assert_eq!((record.state, record.residue), (RunState::Failed, vec![]));
    assert_eq!(ledger.cells(), [].into());
    assert_eq!(ledger.changes(), ["c=1"]);
    assert!(
        world
            .disk
            .all_runs()
            .iter()
            .all(|record| record.state.is_final())
    );
}

#[tokio::test]
async fn a_parent_that_dies_around_creating_a_child_creates_it_once() {
    // run.started, child.started, run.created of the child, run.started of the child.
    for write in 1..=4 {
        for moment in Moment::ALL {
            let Scene { world, ledger } = scene();
            let store = world.disk.open_again();
            store.crash_at(write, moment);
            let mut process = world.process_on(store.clone());
            process.drive().await;
            let run_id = start(&world.process(), &[Op::child("sub", [Op::set("a", 1)])]).await;
            store.died().await;
            drop(process);
            let process = world.driving().await;
            assert_eq!(
                ended(&process, &run_id).await.state,
                RunState::Completed,
                "{write} {moment:?}"
            );
            assert_eq!(world.disk.all_runs().len(), 2, "{write} {moment:?}");
            assert_eq!(ledger.changes(), ["a=1"], "{write} {moment:?}");
        }
    }
}

#[tokio::test]
async fn children_have_children() {
    let Scene { world, ledger } = scene();
    let process = world.driving().await;
    let mut program = vec![Op::set("deepest", 1)];
    for depth in 0..6 {
        program = vec![
            Op::set(&format!("level {depth}"), 1),
            Op::child("sub", program),
        ];
    }
    let record = run(&process, &program).await;
    assert_eq!(record.state, RunState::Completed);
    assert_eq!(ledger.cells().len(), 7);
    process
        .engine
        .request_rollback(&windlass_testkit::local(), &record.run_id, None)
        .await
        .unwrap();
    assert_eq!(
        ended(&process, &record.run_id).await.state,
        RunState::RolledBack
    );
    assert_eq!(ledger.cells(), [].into());
}
