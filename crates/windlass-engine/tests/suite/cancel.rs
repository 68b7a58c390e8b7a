//! Cancelling: at any point, with everything undone, and never half.

use std::time::Duration;

use serde_json::json;
use windlass_engine::run::Step;
use windlass_testkit::{
    Process, local,
    program::{Op, fn_kind},
};
use windlass_types::{RunId, RunState};

use super::support::{Scene, ended, run, scene, start, story, waiting, world_of};

async fn cancel(process: &Process, run_id: &RunId) {
    process
        .engine
        .cancel(&local(), run_id, Some("changed my mind"))
        .await
        .unwrap();
}

#[tokio::test]
async fn a_queued_run_is_cancelled_before_it_does_anything() {
    let Scene { world, ledger } = scene();
    let client = world.process();
    let run_id = start(&client, &[Op::set("a", 1)]).await;
    cancel(&client, &run_id).await;
    let process = world.driving().await;
    assert_eq!(ended(&process, &run_id).await.state, RunState::Cancelled);
    assert_eq!(ledger.changes(), [""; 0]);
    insta::assert_snapshot!(story(&process, &run_id), @"
    run.created
    signal.received cancel
    run.started
    run.unwinding
    run.cancelled
    ");
}

#[tokio::test]
async fn waits_timers_and_pauses_are_cut_short() {
    let Scene { world, ledger } = scene();
    let process = world.driving().await;
    for waits in [
        Op::sleep("nap", 3600),
        Op::wait("go", Some(3600)),
        Op::approval("deploy"),
        Op::Flaky {
            cell: "b".to_owned(),
            value: 1,
            refusals: 9,
            tries: 9,
        },
        Op::child("sub", [Op::set("c", 1), Op::sleep("nap", 3600)]),
    ] {
        let run_id = start(&process, &[Op::set("a", 1), waits.clone(), Op::set("d", 1)]).await;
        process.record(&run_id).await;
        let before = world.clock.next_timer();
        cancel(&process, &run_id).await;
        let record = process.record(&run_id).await;
        assert_eq!(
            (record.state, record.residue),
            (RunState::Cancelled, vec![]),
            "{waits:?}"
        );
        assert_eq!(ledger.cells(), [].into(), "{waits:?}");
        assert!(
            before.is_some() || matches!(waits, Op::Approval { .. }),
            "{waits:?} waited"
        );
        assert_eq!(world.clock.next_timer(), None, "{waits:?} leaves no timer");
    }
}

#[tokio::test]
async fn an_effect_under_way_is_finished_and_then_undone() {
    let (began, mut begun) = tokio::sync::mpsc::unbounded_channel();
    let (go, may_end) = tokio::sync::watch::channel(false);
    let (undone, mut was_undone) = tokio::sync::mpsc::unbounded_channel();
    let kind = fn_kind("slow", move |context, _| {
        let (began, may_end, undone) = (began.clone(), may_end.clone(), undone.clone());
        Box::pin(async move {
            let step = Step::effect("slow", "world").undo(move |output: u32| {
                undone.send(output).unwrap();
                std::future::ready(Ok(()))
            });
            step.run(context, move |_| {
                let (began, mut may_end) = (began.clone(), may_end.clone());
                async move {
                    began.send(()).unwrap();
                    may_end.wait_for(|end| *end).await.unwrap();
                    Ok(7)
                }
            })
            .await?;
            context.sleep("after", Duration::from_secs(1)).await?;
            Ok(json!(null))
        })
    });
    let world = world_of(vec![kind], Vec::new());
    let process = world.driving().await;
    let run_id = process.start("slow", json!(null)).await;
    begun.recv().await.unwrap();
    cancel(&process, &run_id).await;
    assert_eq!(
        process.record(&run_id).await.state,
        RunState::Running,
        "the effect goes on"
    );
    go.send_replace(true);
    assert_eq!(ended(&process, &run_id).await.state, RunState::Cancelled);
    assert_eq!(was_undone.try_recv(), Ok(7));
    insta::assert_snapshot!(story(&process, &run_id), @"
    run.created
    run.started
    step.started slow
    signal.received cancel
    step.completed slow
    run.unwinding
    undo.completed slow
    run.cancelled
    ");
}

#[tokio::test]
async fn an_effect_interrupted_by_a_crash_and_cancelled_since_is_finished_and_undone() {
    let Scene { world, ledger } = scene();
    let store = world.disk.open_again();
    // run.started, step.started, then the outcome that is never written.
    store.crash_at(3, windlass_testkit::Moment::BeforeWrite);
    let mut process = world.process_on(store.clone());
    process.drive().await;
    let run_id = start(&world.process(), &[Op::set("a", 1), Op::set("b", 1)]).await;
    store.died().await;
    drop(process);
    assert_eq!(ledger.get("a"), Some(1));
    cancel(&world.process(), &run_id).await;
    let process = world.driving().await;
    let record = ended(&process, &run_id).await;
    assert_eq!(
        (record.state, record.residue),
        (RunState::Cancelled, vec![])
    );
    assert_eq!(ledger.cells(), [].into());
    assert_eq!(ledger.changes(), ["a=1"]);
}

#[tokio::test]
async fn a_child_is_cancelled_with_its_parent() {
    let Scene { world, ledger } = scene();
    let process = world.driving().await;
    let program = [
        Op::set("a", 1),
        Op::child("sub", [Op::set("b", 1), Op::approval("deploy")]),
    ];
    let run_id = start(&process, &program).await;
    process.record(&run_id).await;
    assert_eq!(ledger.cells().len(), 2);
    cancel(&process, &run_id).await;
    assert_eq!(ended(&process, &run_id).await.state, RunState::Cancelled);
    assert!(
        world
            .disk
            .all_runs()
            .iter()
            .all(|record| record.state == RunState::Cancelled)
    );
    assert_eq!(ledger.cells(), [].into());
}

#[tokio::test]
async fn what_has_ended_cannot_be_cancelled() {
    let Scene { world, .. } = scene();
    let process = world.driving().await;
    for program in [vec![Op::set("a", 1)], vec![Op::Fail]] {
        let record = run(&process, &program).await;
        let refused = process
            .engine
            .cancel(&local(), &record.run_id, None)
            .await
            .unwrap_err();
        assert_eq!(refused.code().name, "ILLEGAL_STATE");
        assert_eq!(refused.details()["state"], record.state.as_str());
    }
    let run_id = start(&process, &[Op::approval("deploy")]).await;
    waiting(&process, &run_id).await;
    cancel(&process, &run_id).await;
    assert_eq!(ended(&process, &run_id).await.state, RunState::Cancelled);
    assert!(
        process
            .engine
            .cancel(&local(), &run_id, None)
            .await
            .is_err()
    );
}
