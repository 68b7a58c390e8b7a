//! A store that fails: runs stand still, nothing is lost or done twice, and they go on.

use std::time::Duration;

use serde_json::json;
use windlass_ports::StoreError;
use windlass_testkit::{
    local, new_run,
    program::{self, Op},
};
use windlass_types::RunState;

use super::support::{Scene, ended, run, scene, start, waiting};

const MINUTE: Duration = Duration::from_secs(60);

#[tokio::test]
async fn a_full_disk_stops_runs_until_there_is_space() {
    // Each of these needs the disk in its own way.
    for op in [
        Op::set("b", 1),
        Op::Count {
            name: "count".to_owned(),
        },
        Op::sleep("nap", 5),
        Op::Emit {
            name: "note".to_owned(),
            text: "x".to_owned(),
        },
        Op::Artifact {
            name: "report".to_owned(),
            text: "x".to_owned(),
        },
        Op::child("sub", [Op::set("c", 1)]),
        Op::Notify {
            name: "tell".to_owned(),
            url: "https://hook.test/".to_owned(),
        },
    ] {
        let Scene { world, .. } = scene();
        let process = world.driving().await;
        let run_id = start(
            &process,
            &[Op::set("a", 1), Op::wait("go", None), op.clone()],
        )
        .await;
        waiting(&process, &run_id).await;
        process
            .engine
            .send_signal(&local(), &run_id, "go", json!(1))
            .await
            .unwrap();
        world.disk.set_full(true);
        world.clock.advance(10 * MINUTE).await;
        let record = process.record(&run_id).await;
        assert!(!record.state.is_final(), "{op:?} is {:?}", record.state);
        let refused = process
            .engine
            .cancel(&local(), &run_id, None)
            .await
            .unwrap_err();
        assert_eq!(refused.code().name, "STORE_FULL");
        world.disk.set_full(false);
        assert_eq!(
            ended(&process, &run_id).await.state,
            RunState::Completed,
            "{op:?}"
        );
        assert!(process.engine.verify(&run_id).await.unwrap().intact);
    }
}

#[tokio::test]
async fn every_single_write_may_fail_once() {
    let program = [
        Op::set("a", 1),
        Op::sleep("nap", 5),
        Op::child("sub", [Op::set("b", 1)]),
        Op::Artifact {
            name: "report".to_owned(),
            text: "x".to_owned(),
        },
        Op::Notify {
            name: "tell".to_owned(),
            url: "https://hook.test/".to_owned(),
        },
    ];
    let mut write = 0;
    loop {
        write += 1;
        let Scene { world, ledger } = scene();
        let store = world.disk.open_again();
        store.fail_writes(write..=write + 1, StoreError::Io("worn out".to_owned()));
        let mut process = world.process_on(store.clone());
        process.drive().await;
        let client = world.process();
        let run_id = start(&client, &program).await;
        let record = ended(&client, &run_id).await;
        assert_eq!(record.state, RunState::Completed, "write {write}");
        client
            .engine
            .request_rollback(&local(), &run_id, None)
            .await
            .unwrap();
        let record = ended(&client, &run_id).await;
        assert_eq!(
            (record.state, record.residue),
            (RunState::RolledBack, vec![]),
            "write {write}"
        );
        assert_eq!(ledger.changes(), ["a=1", "b=1"], "write {write}");
        if store.writes() < write {
            break;
        }
        process.stop().await;
    }
    assert!(write > 20, "{write}");
}

#[tokio::test]
async fn reads_that_fail_for_a_while_lose_no_run() {
    let Scene { world, ledger } = scene();
    let process = world.driving().await;
    process.store.fail_reads(Some(StoreError::Busy));
    let client = world.process();
    let run_id = start(
        &client,
        &[Op::set("a", 1), Op::child("sub", [Op::set("b", 1)])],
    )
    .await;
    world.clock.advance(5 * MINUTE).await;
    assert_eq!(client.record(&run_id).await.state, RunState::Queued);
    process.store.fail_reads(None);
    assert_eq!(ended(&client, &run_id).await.state, RunState::Completed);
    // While it waits for its child, too.
    let run_id = start(
        &client,
        &[Op::child("sub", [Op::sleep("nap", 30), Op::set("c", 1)])],
    )
    .await;
    world.clock.advance(Duration::from_secs(5)).await;
    process
        .store
        .fail_reads(Some(StoreError::Io("cable".to_owned())));
    world.clock.advance(MINUTE).await;
    process.store.fail_reads(None);
    assert_eq!(ended(&client, &run_id).await.state, RunState::Completed);
    assert_eq!(ledger.changes(), ["a=1", "b=1", "c=1"]);
}

#[tokio::test]
async fn nothing_is_acknowledged_on_a_full_disk() {
    let Scene { world, .. } = scene();
    let process = world.driving().await;
    world.disk.set_full(true);
    let refused = process
        .engine
        .create_ungated(new_run(program::KIND, program::input(&[Op::set("a", 1)])))
        .await
        .unwrap_err();
    assert_eq!(
        (refused.code().name, refused.code().retryable),
        ("STORE_FULL", true)
    );
    assert!(world.disk.all_runs().is_empty());
    world.disk.set_full(false);
    assert_eq!(
        run(&process, &[Op::set("a", 1)]).await.state,
        RunState::Completed
    );
}
