//! Taking a completed run back, children included, and saying what stays.

use std::sync::{
    Arc, Mutex,
    atomic::{AtomicBool, Ordering},
};

use serde_json::json;
use windlass_engine::run::Step;
use windlass_testkit::{
    Moment, Process, local,
    program::{Op, fn_kind},
};
use windlass_types::{RunId, RunRecord, RunState};

use super::support::{Scene, ended, problem_code, run, scene, start, story, waiting, world_of};

async fn roll_back(process: &Process, run_id: &RunId) -> RunRecord {
    process
        .engine
        .request_rollback(&local(), run_id, None)
        .await
        .unwrap();
    ended(process, run_id).await
}

#[tokio::test]
async fn everything_is_undone_last_first() {
    let Scene { world, ledger } = scene();
    let process = world.driving().await;
    let program = [
        Op::set("a", 1),
        Op::child("sub", [Op::set("b", 1), Op::set("a", 2)]),
        Op::sleep("nap", 9),
        Op::set("a", 3),
    ];
    let record = run(&process, &program).await;
    assert_eq!(
        ledger.cells(),
        [("a".to_owned(), 3), ("b".to_owned(), 1)].into()
    );
    let record = roll_back(&process, &record.run_id).await;
    assert_eq!(
        (record.state, record.residue),
        (RunState::RolledBack, vec![])
    );
    assert_eq!(ledger.cells(), [].into());
    assert!(
        world
            .disk
            .all_runs()
            .iter()
            .all(|record| record.state == RunState::RolledBack)
    );
    insta::assert_snapshot!(story(&process, &record.run_id), @"
    run.created
    run.started
    step.started a
    step.completed a
    child.started sub
    child.completed sub
    timer.started nap
    timer.fired nap
    step.started a#2
    step.completed a#2
    run.completed
    signal.received rollback
    run.started
    run.unwinding
    undo.completed a#2
    undo.completed sub
    undo.completed a
    run.rolled_back
    ");
}

#[tokio::test]
async fn asking_again_is_harmless_and_asking_too_early_is_refused() {
    let Scene { world, ledger } = scene();
    let process = world.driving().await;
    let record = run(&process, &[Op::set("a", 1)]).await;
    for _ in 0..3 {
        assert_eq!(
            roll_back(&process, &record.run_id).await.state,
            RunState::RolledBack
        );
    }
    assert_eq!(ledger.cells(), [].into());
    let early = start(&process, &[Op::approval("deploy")]).await;
    waiting(&process, &early).await;
    let refused = process
        .engine
        .request_rollback(&local(), &early, None)
        .await
        .unwrap_err();
    assert_eq!(refused.code().name, "ILLEGAL_STATE");
    let failed = run(&process, &[Op::Fail]).await;
    let refused = process
        .engine
        .request_rollback(&local(), &failed.run_id, None)
        .await
        .unwrap_err();
    assert_eq!(refused.code().name, "ILLEGAL_STATE");
}

#[tokio::test]
async fn what_cannot_be_undone_is_named_and_the_rest_is_undone() {
    let Scene { world, ledger } = scene();
    let process = world.driving().await;
    for stuck in [
        Op::Stuck {
            cell: "b".to_owned(),
        },
        Op::PanicInUndo {
            cell: "b".to_owned(),
        },
    ] {
        let record = run(&process, &[Op::set("a", 1), stuck.clone(), Op::set("c", 1)]).await;
        let record = roll_back(&process, &record.run_id).await;
        assert_eq!(
            (record.state, record.residue),
            (RunState::RolledBack, vec!["b".to_owned()]),
            "{stuck:?}"
        );
        assert_eq!(ledger.cells(), [("b".to_owned(), 1)].into(), "{stuck:?}");
    }
}

#[tokio::test]
async fn the_residue_of_a_child_is_its_parents_too() {
    let Scene { world, .. } = scene();
    let process = world.driving().await;
    let program = [
        Op::set("a", 1),
        Op::child(
            "sub",
            [Op::Stuck {
                cell: "b".to_owned(),
            }],
        ),
    ];
    let record = run(&process, &program).await;
    let record = roll_back(&process, &record.run_id).await;
    assert_eq!(
        (record.state, record.residue),
        (RunState::RolledBack, vec!["sub".to_owned()])
    );
}

#[tokio::test]
async fn steps_without_an_undo_stay_and_are_named() {
    let Scene { world, ledger } = scene();
    let process = world.driving().await;
    let program = [
        Op::Keep {
            cell: "a".to_owned(),
            value: 1,
        },
        Op::set("b", 1),
    ];
    let record = run(&process, &program).await;
    let record = roll_back(&process, &record.run_id).await;
    assert_eq!(
        (record.state, record.residue),
        (RunState::RolledBack, vec!["a".to_owned()])
    );
    assert_eq!(ledger.cells(), [("a".to_owned(), 1)].into());
}

#[tokio::test]
async fn a_rollback_that_is_asked_for_while_nobody_drives_happens_later() {
    let Scene { world, ledger } = scene();
    let process = world.driving().await;
    let record = run(&process, &[Op::set("a", 1)]).await;
    process.stop().await;
    let client = world.process();
    client
        .engine
        .request_rollback(&local(), &record.run_id, None)
        .await
        .unwrap();
    assert_eq!(
        client.record(&record.run_id).await.state,
        RunState::Unwinding
    );
    assert_eq!(ledger.get("a"), Some(1));
    let process = world.driving().await;
    assert_eq!(
        ended(&process, &record.run_id).await.state,
        RunState::RolledBack
    );
    assert_eq!(ledger.cells(), [].into());
}

#[tokio::test]
async fn code_that_does_more_when_it_is_rolled_back_is_held() {
    let longer = Arc::new(AtomicBool::new(false));
    let kind = fn_kind("longer", {
        let longer = Arc::clone(&longer);
        move |context, _| {
            let more = longer.load(Ordering::SeqCst);
            Box::pin(async move {
                context.emit("one", json!(1)).await?;
                if more {
                    context.emit("two", json!(2)).await?;
                }
                Ok(json!(null))
            })
        }
    });
    let world = world_of(vec![kind], Vec::new());
    let process = world.driving().await;
    let record = process.run("longer", json!(null)).await;
    longer.store(true, Ordering::SeqCst);
    process
        .engine
        .request_rollback(&local(), &record.run_id, None)
        .await
        .unwrap();
    let record = process.settle(&record.run_id).await;
    assert_eq!(
        (record.state, problem_code(&record)),
        (RunState::Held, "NONDETERMINISTIC")
    );
}

#[tokio::test]
async fn what_was_undone_before_a_crash_is_not_undone_again_after_it() {
    let undone = Arc::new(Mutex::new(Vec::new()));
    let kind = fn_kind("counted", {
        let undone = Arc::clone(&undone);
        move |context, _| {
            let undone = Arc::clone(&undone);
            Box::pin(async move {
                for name in ["first", "second"] {
                    let undone = Arc::clone(&undone);
                    let step = Step::effect(name, name).undo(move |(): ()| {
                        undone.lock().unwrap().push(name);
                        std::future::ready(Ok(()))
                    });
                    step.run(context, |_| std::future::ready(Ok(()))).await?;
                }
                Ok(json!(null))
            })
        }
    });
    let world = world_of(vec![kind], Vec::new());
    let store = world.disk.open_again();
    // Six writes for the run, then: run.started, run.unwinding, the first undo.completed.
    store.crash_at(9, Moment::AfterCommit);
    let mut process = world.process_on(store.clone());
    process.drive().await;
    let client = world.process();
    let record = client.run("counted", json!(null)).await;
    client
        .engine
        .request_rollback(&local(), &record.run_id, None)
        .await
        .unwrap();
    store.died().await;
    drop(process);
    assert_eq!(*undone.lock().unwrap(), ["second"]);
    let process = world.driving().await;
    let record = ended(&process, &record.run_id).await;
    assert_eq!(record.state, RunState::RolledBack);
    assert_eq!(*undone.lock().unwrap(), ["second", "first"]);
}

#[tokio::test]
async fn code_that_fails_when_it_is_rolled_back_is_rolled_back_all_the_same() {
    let (broken, undone) = (
        Arc::new(AtomicBool::new(false)),
        Arc::new(AtomicBool::new(false)),
    );
    let kind = fn_kind("breaks", {
        let (broken, undone) = (Arc::clone(&broken), Arc::clone(&undone));
        move |context, _| {
            let (broken, undone) = (broken.load(Ordering::SeqCst), Arc::clone(&undone));
            Box::pin(async move {
                let step = Step::effect("set", "world").undo(move |(): ()| {
                    undone.store(true, Ordering::SeqCst);
                    std::future::ready(Ok(()))
                });
                step.run(context, |_| std::future::ready(Ok(()))).await?;
                assert!(!broken, "this version has a bug after its last call");
                Ok(json!(null))
            })
        }
    });
    let world = world_of(vec![kind], Vec::new());
    let process = world.driving().await;
    let record = process.run("breaks", json!(null)).await;
    broken.store(true, Ordering::SeqCst);
    let record = roll_back(&process, &record.run_id).await;
    assert_eq!(
        (record.state, record.residue),
        (RunState::RolledBack, vec![])
    );
    assert!(undone.load(Ordering::SeqCst));
}
