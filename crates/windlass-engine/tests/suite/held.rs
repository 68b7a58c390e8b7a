//! Code and journal disagree: the run is held, untouched, until a person decides.

use std::sync::{
    Arc,
    atomic::{AtomicI64, Ordering},
};

use serde_json::json;
use windlass_engine::{Domain, run::Step};
use windlass_testkit::{
    TestWorld, local,
    program::{FnDomain, Ledger, Op, ProgramDomain, fn_kind},
};
use windlass_types::RunState;

use super::support::{ended, problem_code, scene, start, story, world_of};

/// A kind whose step input is a version that a test can change, as an upgrade would.
fn versioned() -> (TestWorld, Arc<AtomicI64>, Ledger) {
    let (version, ledger) = (Arc::new(AtomicI64::new(1)), Ledger::new());
    let kind = fn_kind("versioned", {
        let (version, ledger) = (Arc::clone(&version), ledger.clone());
        move |context, _| {
            let (version, ledger) = (version.load(Ordering::SeqCst), ledger.clone());
            Box::pin(async move {
                Step::effect("set", "a")
                    .input(&version)
                    .run(context, async |step| {
                        ledger.set(step.idempotency_key(), "a", version);
                        Ok(())
                    })
                    .await?;
                context
                    .sleep("nap", std::time::Duration::from_secs(60))
                    .await?;
                Ok(json!(version))
            })
        }
    });
    (world_of(vec![kind], Vec::new()), version, ledger)
}

#[tokio::test]
async fn a_changed_input_holds_the_run_and_cancelling_lets_it_go_with_its_residue() {
    let (world, version, ledger) = versioned();
    let process = world.driving().await;
    let run_id = process.start("versioned", json!(null)).await;
    process.record(&run_id).await;
    process.kill();
    version.store(2, Ordering::SeqCst);
    let process = world.driving().await;
    let record = process.settle(&run_id).await;
    assert_eq!(
        (record.state, problem_code(&record)),
        (RunState::Held, "NONDETERMINISTIC")
    );
    assert!(
        record
            .problem
            .unwrap()
            .message()
            .contains("step \"set\" has another input")
    );
    assert_eq!(ledger.changes(), ["a=1"]);
    process
        .engine
        .cancel(&local(), &run_id, None)
        .await
        .unwrap();
    let record = ended(&process, &run_id).await;
    assert_eq!(
        (record.state, record.residue),
        (RunState::Cancelled, vec!["set".to_owned()])
    );
    insta::assert_snapshot!(story(&process, &run_id), @"
    run.created
    run.started
    step.started set
    step.completed set
    timer.started nap
    run.started
    run.held
    signal.received cancel
    run.started
    run.cancelled
    ");
}

#[tokio::test]
async fn a_held_run_continues_once_the_code_fits_again_and_it_is_resumed() {
    let (world, version, ledger) = versioned();
    let process = world.driving().await;
    let run_id = process.start("versioned", json!(null)).await;
    process.record(&run_id).await;
    process.kill();
    version.store(2, Ordering::SeqCst);
    let process = world.driving().await;
    assert_eq!(process.settle(&run_id).await.state, RunState::Held);
    process.engine.resume(&local(), &run_id).await.unwrap();
    process.idle().await;
    assert_eq!(
        process.record(&run_id).await.state,
        RunState::Held,
        "the code still does not fit"
    );
    process.kill();
    version.store(1, Ordering::SeqCst);
    let process = world.driving().await;
    assert_eq!(
        process.record(&run_id).await.state,
        RunState::Held,
        "nobody said so"
    );
    process.engine.resume(&local(), &run_id).await.unwrap();
    assert_eq!(ended(&process, &run_id).await.output, Some(json!(1)));
    assert_eq!(ledger.changes(), ["a=1"]);
    let refused = process.engine.resume(&local(), &run_id).await.unwrap_err();
    assert_eq!(refused.code().name, "ILLEGAL_STATE");
}

#[tokio::test]
async fn a_run_without_code_is_held_and_goes_on_where_the_code_is() {
    let ledger = Ledger::new();
    let known = Arc::new(std::sync::atomic::AtomicBool::new(true));
    let world = TestWorld::new({
        let (ledger, known) = (ledger.clone(), Arc::clone(&known));
        move || {
            let program = Box::new(ProgramDomain::new(&ledger)) as Box<dyn Domain>;
            if known.load(Ordering::SeqCst) {
                vec![program]
            } else {
                vec![Box::new(FnDomain::default())]
            }
        }
    });
    let client = world.process();
    let run_id = start(&client, &[Op::set("a", 1)]).await;
    known.store(false, Ordering::SeqCst);
    let process = world.driving().await;
    let record = process.settle(&run_id).await;
    assert_eq!(record.state, RunState::Held);
    assert!(
        record
            .problem
            .unwrap()
            .message()
            .contains("no code for runs of kind \"program\"")
    );
    process.stop().await;
    known.store(true, Ordering::SeqCst);
    let process = world.driving().await;
    process.engine.resume(&local(), &run_id).await.unwrap();
    assert_eq!(ended(&process, &run_id).await.state, RunState::Completed);
    assert_eq!(ledger.changes(), ["a=1"]);
}

#[tokio::test]
async fn a_run_with_a_damaged_journal_fails_and_the_others_go_on() {
    let scene = scene();
    let process = scene.world.driving().await;
    let run_id = start(&process, &[Op::set("a", 1), Op::wait("go", None)]).await;
    process.settle(&run_id).await;
    process.kill();
    scene.world.disk.damage(&run_id, 3);
    let process = scene.world.driving().await;
    process.idle().await;
    let record = process.record(&run_id).await;
    assert_eq!(record.state, RunState::Failed);
    let problem = record.problem.unwrap();
    assert_eq!(problem.code().name, "STORE_DAMAGED");
    assert!(
        problem.message().contains("event 3 was altered"),
        "{problem}"
    );
    assert_eq!(problem.next_actions()[0], "windlass store check");
    assert!(!record.residue.is_empty(), "nobody knows what it left");
    let damaged = process.engine.damaged_runs().await.unwrap();
    assert_eq!(damaged.len(), 1);
    assert_eq!(damaged[0].0, run_id);
    let health = process.engine.health().await;
    assert_eq!(health.len(), 1, "{health:?}");
    assert_eq!((health[0].check, health[0].state), ("runs", "damaged"));
    assert!(!health[0].blocks);
    let report = process.engine.verify(&run_id).await.unwrap();
    assert!(!report.intact);
    assert!(report.finding.unwrap().contains("event 3 was altered"));
    let other = start(&process, &[Op::set("b", 1)]).await;
    assert_eq!(
        ended(&process, &other).await.state,
        RunState::Completed,
        "other runs go on"
    );
    assert_eq!(scene.ledger.changes(), ["a=1", "b=1"]);
}

#[tokio::test]
async fn a_cancellation_that_meets_a_run_on_its_way_to_being_held_lets_it_go() {
    // Every possible moment, one turn of the scheduler after the other.
    for turns in 0..40 {
        let (world, version, _) = versioned();
        let process = world.driving().await;
        let run_id = process.start("versioned", json!(null)).await;
        process.record(&run_id).await;
        process.kill();
        version.store(2, Ordering::SeqCst);
        let process = world.driving().await;
        for _ in 0..turns {
            tokio::task::yield_now().await;
        }
        let asked = process.engine.cancel(&local(), &run_id, None).await;
        asked.unwrap_or_else(|problem| panic!("after {turns} turns: {problem}"));
        let record = process.record(&run_id).await;
        assert_eq!(record.state, RunState::Cancelled, "after {turns} turns");
    }
}
