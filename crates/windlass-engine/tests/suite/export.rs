//! A run as one file: what is exported here is the same there, and nothing else gets in.

use windlass_engine::run::{NewRun, RunExport};
use windlass_ports::StoreMaintenance as _;
use windlass_testkit::{
    Process, local, new_run,
    program::{self, Op},
};
use windlass_types::{Digest, Principal, RunId, RunState, Scope};

use super::support::{Scene, run, scene, start, waiting};

async fn exported(process: &Process) -> (RunId, RunExport) {
    let program = [
        Op::set("a", 1),
        Op::Artifact {
            name: "report".to_owned(),
            text: "all is well".to_owned(),
        },
        Op::Artifact {
            name: "report".to_owned(),
            text: "all is better".to_owned(),
        },
        Op::Notify {
            name: "tell".to_owned(),
            url: "https://hook.test/".to_owned(),
        },
    ];
    let record = run(process, &program).await;
    let export = process
        .engine
        .export_run(&local(), &record.run_id)
        .await
        .unwrap();
    // Through a file and back.
    let text = serde_json::to_string(&export).unwrap();
    (record.run_id, serde_json::from_str(&text).unwrap())
}

#[tokio::test]
async fn a_run_is_the_same_in_another_home() {
    let (here, there) = (scene(), scene());
    let process = here.world.driving().await;
    let (run_id, export) = exported(&process).await;
    let other = there.world.driving().await;
    assert_eq!(
        other.engine.import_run(export.clone()).await.unwrap(),
        run_id
    );
    assert_eq!(other.record(&run_id).await, process.record(&run_id).await);
    let (ours, theirs) = (
        process.engine.verify(&run_id).await.unwrap(),
        other.engine.verify(&run_id).await.unwrap(),
    );
    assert_eq!((ours.intact, ours.head), (theirs.intact, theirs.head));
    let artifact = other
        .engine
        .artifact(&local(), &run_id, "report")
        .await
        .unwrap();
    assert_eq!(artifact.bytes, b"all is better");
    assert_eq!(
        serde_json::to_value(other.engine.export_run(&local(), &run_id).await.unwrap()).unwrap(),
        serde_json::to_value(&export).unwrap()
    );
    assert_eq!(
        there.world.outbound.sent().len(),
        0,
        "nothing is delivered a second time"
    );
    assert_eq!(
        there.ledger.changes(),
        [""; 0],
        "nothing is done a second time"
    );
    let again = other.engine.import_run(export).await.unwrap_err();
    assert_eq!(again.code().name, "ILLEGAL_STATE");
}

#[tokio::test]
async fn an_altered_file_is_refused() {
    let (here, there) = (scene(), scene());
    let (_, export) = exported(&here.world.driving().await).await;
    let other = there.world.process();
    let mut lines = Vec::new();
    let alter = |change: fn(&mut RunExport)| {
        let mut export = export.clone();
        change(&mut export);
        export
    };
    for (name, altered) in [
        (
            "format",
            alter(|export| export.format = "windlass.run.v9".to_owned()),
        ),
        (
            "time",
            alter(|export| export.events[2].time = windlass_types::Timestamp::EPOCH),
        ),
        (
            "payload",
            alter(|export| export.events[3].payload = r#"{"key":"a"}"#.to_owned()),
        ),
        (
            "missing event",
            alter(|export| drop(export.events.remove(2))),
        ),
        ("missing end", alter(|export| drop(export.events.pop()))),
        ("no events", alter(|export| export.events.clear())),
        (
            "content",
            alter(|export| export.contents[0].base64 = "d3Jvbmc=".to_owned()),
        ),
        (
            "digest",
            alter(|export| export.contents[0].sha256 = Digest::ZERO),
        ),
        (
            "base64",
            alter(|export| export.contents[0].base64 = "%".to_owned()),
        ),
    ] {
        let refused = other.engine.import_run(altered).await.unwrap_err();
        lines.push(format!("{name}: {}", refused.code().name));
    }
    insta::assert_snapshot!(lines.join("\n"), @"
    format: INVALID_INPUT
    time: STORE_DAMAGED
    payload: STORE_DAMAGED
    missing event: STORE_DAMAGED
    missing end: ILLEGAL_STATE
    no events: INVALID_INPUT
    content: STORE_DAMAGED
    digest: STORE_DAMAGED
    base64: INVALID_INPUT
    ");
    assert!(there.world.disk.all_runs().is_empty());
}

#[tokio::test]
async fn only_ended_runs_are_imported() {
    let (here, there) = (scene(), scene());
    let process = here.world.driving().await;
    let run_id = start(&process, &[Op::approval("deploy"), Op::set("a", 1)]).await;
    waiting(&process, &run_id).await;
    let export = process.engine.export_run(&local(), &run_id).await.unwrap();
    let refused = there
        .world
        .process()
        .engine
        .import_run(export)
        .await
        .unwrap_err();
    assert_eq!(
        (refused.code().name, refused.message().contains("waiting")),
        ("ILLEGAL_STATE", true)
    );
}

#[tokio::test]
async fn a_run_whose_artifacts_have_been_pruned_can_still_be_exported() {
    let Scene { world, .. } = scene();
    let process = world.driving().await;
    let (run_id, export) = exported(&process).await;
    assert_eq!(export.contents.len(), 2);
    // The first version of the artifact is named by nobody any more.
    let now = process.engine.now();
    world
        .disk
        .prune(std::time::Duration::from_secs(3600), now, false)
        .await
        .unwrap();
    let export = process.engine.export_run(&local(), &run_id).await.unwrap();
    assert_eq!(export.contents.len(), 1);
    let there = scene();
    let other = there.world.process();
    other.engine.import_run(export).await.unwrap();
    assert_eq!(
        other
            .engine
            .artifact(&local(), &run_id, "report")
            .await
            .unwrap()
            .bytes,
        b"all is better"
    );
}

#[tokio::test]
async fn what_a_caller_may_not_see_it_may_not_export() {
    let Scene { world, .. } = scene();
    let process = world.driving().await;
    let record = run(&process, &[Op::set("a", 1)]).await;
    let stranger = Principal::key("key_1", vec![Scope::new("runs")]);
    for problem in [
        process
            .engine
            .export_run(&stranger, &record.run_id)
            .await
            .map(drop)
            .unwrap_err(),
        process
            .engine
            .artifacts(&stranger, &record.run_id)
            .await
            .map(drop)
            .unwrap_err(),
    ] {
        assert_eq!(problem.code().name, "RUN_NOT_FOUND");
    }
    let missing = process
        .engine
        .artifact(&local(), &record.run_id, "nope")
        .await
        .unwrap_err();
    assert_eq!(missing.code().name, "ARTIFACT_NOT_FOUND");
}

#[tokio::test]
async fn an_imported_run_keeps_its_token_used() {
    let (here, there) = (scene(), scene());
    let process = here.world.driving().await;
    let new = NewRun {
        confirm_token: Some("tok_1".parse().unwrap()),
        ..new_run(program::KIND, program::input(&[Op::set("a", 1)]))
    };
    let run_id = process.engine.create_ungated(new.clone()).await.unwrap();
    assert_eq!(process.settle(&run_id).await.state, RunState::Completed);
    let export = process.engine.export_run(&local(), &run_id).await.unwrap();
    let other = there.world.with_seed(8).process();
    other.engine.import_run(export).await.unwrap();
    assert_eq!(
        other
            .engine
            .create_ungated(new)
            .await
            .unwrap_err()
            .code()
            .name,
        "CONFIRM_TOKEN_USED"
    );
}
