//! A run as one file: what is exported here is the same there, and nothing else gets in.

use windlass_engine::run::{NewRun, RunExport, RunOrigin};
use windlass_ports::{DeliveryFilter, StoreMaintenance as _};
use windlass_testkit::{
    Process, local, new_run,
    program::{self, Op},
};
use windlass_types::{Digest, Event, Principal, RunId, RunState, Scope};

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
        ("missing content", alter(|export| export.contents.clear())),
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
    missing content: INVALID_INPUT
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

/// The same export with another content, hashed again as its maker would.
fn forged(export: &RunExport, from: &str, to: &str) -> RunExport {
    let mut export = export.clone();
    let mut prev_hash = Digest::ZERO;
    for exported in &mut export.events {
        exported.payload = exported.payload.replace(from, to);
        exported.prev_hash = prev_hash;
        let event = Event::try_from(exported.clone()).unwrap();
        exported.hash = event.compute_hash();
        prev_hash = exported.hash;
    }
    export
}

#[tokio::test]
async fn an_export_says_who_signed_it_and_a_forged_one_does_not_pass() {
    let (here, there) = (scene(), scene());
    let process = here.world.driving().await;
    let (run_id, export) = exported(&process).await;
    let RunOrigin::Here { key } = process.engine.origin(&run_id).await.unwrap() else {
        panic!("it happened here");
    };
    let signature = export.signature.clone().unwrap();
    assert_eq!(signature.key, key);
    let other = there.world.process();
    let rehashed = forged(&export, "all is", "all was");
    let refused = other.engine.import_run(rehashed).await.unwrap_err();
    assert_eq!(refused.code().name, "STORE_DAMAGED");
    assert!(
        refused.message().contains("the signature does not fit"),
        "{refused}"
    );
    other.engine.import_run(export).await.unwrap();
    let report = other.engine.verify(&run_id).await.unwrap();
    assert_eq!(
        report.origin,
        Some(RunOrigin::Imported {
            signature: Some(signature)
        })
    );
}

#[tokio::test]
async fn an_imported_run_is_history_whatever_is_asked_of_it() {
    let (here, there) = (scene(), scene());
    let (run_id, export) = exported(&here.world.driving().await).await;
    let unsigned = RunExport {
        signature: None,
        ..forged(&export, "all is", "all was")
    };
    let other = there.world.driving().await;
    let engine = &other.engine;
    // What is forged with care can be read, and says that nobody signed it.
    engine.import_run(unsigned).await.unwrap();
    assert_eq!(
        engine.verify(&run_id).await.unwrap().origin,
        Some(RunOrigin::Imported { signature: None })
    );
    let exported_again = engine.export_run(&local(), &run_id).await.unwrap();
    assert_eq!(exported_again.signature, None, "not signed on the way");
    let before = other.record(&run_id).await;
    let deliveries = engine
        .deliveries(DeliveryFilter {
            run_id: Some(run_id.clone()),
            limit: 9,
            ..DeliveryFilter::default()
        })
        .await
        .unwrap();
    for refused in [
        engine.request_rollback(&local(), &run_id, None).await,
        engine.send_signal(&local(), &run_id, "go", 1.into()).await,
        engine.cancel(&local(), &run_id, None).await,
        engine.resume(&local(), &run_id).await.map(drop),
        engine.replay_delivery(&local(), &deliveries[0].id).await,
    ] {
        assert_eq!(refused.unwrap_err().code().name, "ILLEGAL_STATE");
    }
    assert_eq!(other.record(&run_id).await, before);
    assert_eq!(there.ledger.changes(), [""; 0]);
    assert_eq!(there.world.outbound.sent().len(), 0);
}
