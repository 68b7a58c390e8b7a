//! What runs hold exclusively: refused or queued behind the holder, whatever happens to it.

use windlass_engine::run::{Holds, NewRun};
use windlass_testkit::{
    Process, local, new_run,
    program::{self, Op},
};
use windlass_types::{Problem, RunId, RunState, journal::OnHeld};

use super::support::{Scene, ended, scene};

fn holding(program: &[Op], names: &[&str], on_held: OnHeld) -> NewRun {
    NewRun {
        holds: Holds {
            names: names.iter().map(|name| (*name).to_owned()).collect(),
            on_held,
        },
        ..new_run(program::KIND, program::input(program))
    }
}

async fn create(process: &Process, new: NewRun) -> Result<RunId, Problem> {
    process.engine.create_ungated(new).await
}

#[tokio::test]
async fn a_second_run_is_refused_and_told_who_is_at_work() {
    let Scene { world, .. } = scene();
    let process = world.driving().await;
    let nap = [Op::sleep("nap", 60)];
    let shop = |program: &[Op]| holding(program, &["stack:shop"], OnHeld::Refuse);
    let first = create(&process, shop(&nap)).await.unwrap();
    process.idle().await;
    let refused = create(&process, shop(&nap)).await.unwrap_err();
    assert_eq!(refused.code().name, "BUSY");
    let detail = |name: &str| refused.details()[name].as_str().unwrap().to_owned();
    assert_eq!(detail("name"), "stack:shop");
    assert_eq!(detail("run_id"), first.as_str());
    assert_eq!(detail("state"), "waiting");
    assert_eq!(
        refused.next_actions(),
        [
            format!("windlass runs watch {first}"),
            format!("windlass runs cancel {first}")
        ]
    );
    ended(&process, &first).await;
    let second = create(&process, shop(&nap)).await.unwrap();
    // The first can be taken back only while no other run is at work.
    let (engine, principal) = (&process.engine, local());
    let refused = engine.request_rollback(&principal, &first, None).await;
    assert_eq!(refused.unwrap_err().code().name, "BUSY");
    ended(&process, &second).await;
    let rollback = engine.request_rollback(&principal, &first, None).await;
    rollback.unwrap();
}

#[tokio::test]
async fn runs_that_wait_begin_in_order_also_when_the_holder_dies_with_its_process() {
    let Scene { world, ledger } = scene();
    let process = world.driving().await;
    let mut runs = Vec::new();
    for number in 0..4 {
        let program = [Op::sleep("nap", 5), Op::set("cell", number)];
        let new = holding(&program, &["stack:shop"], OnHeld::Wait);
        runs.push(create(&process, new).await.unwrap());
    }
    process.idle().await;
    for run_id in &runs[1..] {
        assert_eq!(process.record(run_id).await.state, RunState::Queued);
    }
    process.kill();
    let process = world.driving().await;
    process
        .engine
        .cancel(&local(), &runs[2], None)
        .await
        .unwrap();
    process.idle().await;
    assert_eq!(process.record(&runs[2]).await.state, RunState::Cancelled);
    for run_id in [&runs[0], &runs[1], &runs[3]] {
        assert_eq!(ended(&process, run_id).await.state, RunState::Completed);
    }
    assert_eq!(ledger.changes(), ["cell=0", "cell=1", "cell=3"]);
}

#[tokio::test]
async fn a_command_waits_for_the_run_of_another() {
    let Scene { world, ledger } = scene();
    let (one, two) = (world.driving_own().await, world.driving_own().await);
    let wait = |program: &[Op]| holding(program, &["pack-home:/home"], OnHeld::Wait);
    let first = create(&one, wait(&[Op::sleep("nap", 5), Op::set("a", 1)])).await;
    let second = create(&two, wait(&[Op::set("b", 1)])).await;
    let (first, second) = (first.unwrap(), second.unwrap());
    assert_eq!(two.record(&second).await.state, RunState::Queued);
    assert_eq!(ended(&one, &first).await.state, RunState::Completed);
    assert_eq!(ended(&two, &second).await.state, RunState::Completed);
    assert_eq!(ledger.changes(), ["a=1", "b=1"]);
}
