//! The audit log: one entry per call, chained, whatever became of the call.

use std::time::Instant;

use serde_json::{Value, json};
use windlass_ports::Clock as _;
use windlass_testkit::Process;
use windlass_types::{
    Body, Digest, Principal, RunId,
    event::{ChainHead, verify_chain},
    journal::{AuditCall, AuditGap, AuditRead},
};

use super::support::{Scene, ended, scene};

async fn entries(process: &Process) -> Vec<AuditCall> {
    process.engine.audit().flush().await;
    let events = process.store.journal(&"sys_audit".parse().unwrap());
    verify_chain(ChainHead::default(), &events).unwrap();
    events
        .iter()
        .flat_map(
            |event| match Body::decode(&event.event_type, &event.payload) {
                Ok(Some(Body::AuditCall(call))) => vec![call],
                Ok(Some(Body::AuditReads(reads))) => {
                    let repeated = |read: AuditRead| {
                        std::iter::repeat_n(read.call, read.count.unwrap_or(1) as usize)
                    };
                    reads.calls.into_iter().flat_map(repeated).collect()
                }
                Ok(Some(Body::AuditGap(_))) => vec![],
                other => panic!("{other:?}"),
            },
        )
        .collect()
}

#[tokio::test]
async fn every_call_has_one_entry() {
    let Scene { world, .. } = scene();
    let process = world.driving().await;
    process.call("ledger.show", json!({})).await.unwrap();
    let plan = process
        .call("ledger.plan", json!({ "cell": "a", "value": 1 }))
        .await
        .unwrap()
        .output;
    let apply = json!({ "cell": "a", "value": 1, "confirm_token": plan["confirm_token"] });
    let run_id = process
        .call("ledger.apply", apply.clone())
        .await
        .unwrap()
        .run_id
        .unwrap();
    process.call("ledger.apply", apply).await.unwrap_err();
    process
        .call("ledger.apply", json!({ "cell": 7 }))
        .await
        .unwrap_err();
    process
        .call_as(Principal::key("key_1", vec![]), "ledger_show", json!({}))
        .await
        .unwrap_err();
    ended(&process, &run_id).await;
    let entries = entries(&process).await;
    let lines: Vec<String> = entries
        .iter()
        .map(|entry| {
            format!(
                "{} {} {} {}",
                entry.principal,
                entry.operation,
                entry.outcome,
                entry.run_id.is_some()
            )
        })
        .collect();
    // Reads join the next group commit, so their order among the others is free.
    let mut sorted = lines.clone();
    sorted.sort_unstable();
    insta::assert_snapshot!(sorted.join("\n"), @"
    key:key_1 ledger.show FORBIDDEN false
    local:ada ledger.apply CONFIRM_TOKEN_USED false
    local:ada ledger.apply INVALID_INPUT false
    local:ada ledger.apply OK true
    local:ada ledger.plan OK false
    local:ada ledger.show OK false
    ");
    let applied = entries.iter().find(|entry| entry.run_id.is_some()).unwrap();
    assert_eq!(applied.run_id.as_ref(), Some(&run_id));
    let journal = "sys_audit".parse().unwrap();
    assert!(process.engine.verify(&journal).await.unwrap().intact);
}

#[tokio::test]
async fn the_input_of_a_caller_without_the_scope_is_not_looked_at() {
    const PIECE: &str = "-----BEGIN PRIVATE KEY-----";
    let Scene { world, .. } = scene();
    let process = world.process();
    let input = json!({ "cell": PIECE.repeat(8 * 1024 * 1024 / PIECE.len()) });
    let stranger = Principal::key("key_1", vec![]);
    let started = Instant::now();
    let refused = process
        .call_as(stranger, "ledger.plan", input.clone())
        .await;
    let refusing = started.elapsed();
    assert_eq!(refused.unwrap_err().code().name, "FORBIDDEN");
    let entries = entries(&process).await;
    assert_eq!(entries[0].input_hash, Digest::of_json(&Value::Null));
    let started = Instant::now();
    let _ = process.engine.redactor.redact_value(input);
    let redaction = started.elapsed();
    assert!(
        refusing < redaction / 2,
        "refusing took {refusing:?}, redaction takes {redaction:?}"
    );
}

#[tokio::test]
async fn many_calls_at_once_lose_no_entry() {
    let Scene { world, .. } = scene();
    let process = world.process();
    let calls = (0..500).map(|_| process.call("ledger.show", json!({})));
    assert!(
        futures::future::join_all(calls)
            .await
            .iter()
            .all(Result::is_ok)
    );
    assert_eq!(entries(&process).await.len(), 500);
}

#[tokio::test]
async fn a_change_that_cannot_be_put_on_record_is_not_acknowledged() {
    let Scene { world, .. } = scene();
    let process = world.process();
    let plan = process
        .call("ledger.plan", json!({ "cell": "a", "value": 1 }))
        .await
        .unwrap()
        .output;
    process.engine.audit().flush().await;
    let writes = process.store.writes();
    // The run is the next write, its audit entry the one after.
    process
        .store
        .fail_writes(writes + 2..=writes + 2, windlass_ports::StoreError::Full);
    let apply = json!({ "cell": "a", "value": 1, "confirm_token": plan["confirm_token"], "idempotency_key": "k" });
    let refused = process
        .call("ledger.apply", apply.clone())
        .await
        .unwrap_err();
    assert_eq!(refused.code().name, "STORE_FULL");
    // Repeating the call finds the run that exists.
    let run_id = process
        .call("ledger.apply", apply)
        .await
        .unwrap()
        .run_id
        .unwrap();
    assert_eq!(world.disk.all_runs()[0].run_id, run_id);
    assert_eq!(
        entries(&process)
            .await
            .iter()
            .filter(|entry| entry.operation == "ledger.apply")
            .count(),
        1
    );
}

#[tokio::test]
async fn inputs_are_recorded_as_digests_only() {
    let Scene { world, .. } = scene();
    let process = world.process();
    let input = json!({ "cell": "very private name", "value": 1 });
    process.call("ledger.plan", input.clone()).await.unwrap();
    let entries = entries(&process).await;
    assert_eq!(
        entries[0].input_hash,
        windlass_types::Digest::of_json(&input)
    );
    let journal = process.store.journal(&"sys_audit".parse().unwrap());
    assert!(!journal[0].payload.as_str().contains("private"));
    let _: Value = journal[0].payload.value();

    // Secrets not even so: a short one could be guessed from its digest.
    let secret = json!({ "cell": "a", "value": 1, "password": "1234" });
    let refused = process.call("ledger.plan", secret.clone()).await;
    assert!(refused.is_err(), "the operation takes no password");
    let entries = super::audit::entries(&process).await;
    assert_eq!(entries.len(), 2);
    let digest = windlass_types::Digest::of_json(&secret);
    assert!(entries.iter().all(|entry| entry.input_hash != digest));
}

/// A poll that never ends must not fill the disk: its calls are counted, a minute at a time.
#[tokio::test]
async fn reads_are_counted_by_caller_operation_and_outcome() {
    let Scene { world, .. } = scene();
    let process = world.process();
    for _ in 0..1000 {
        process.call("ledger.show", json!({})).await.unwrap();
    }
    let eve = Principal::key("key_1", vec![]);
    process
        .call_as(eve, "ledger.show", json!({}))
        .await
        .unwrap_err();
    process.engine.audit().flush().await;
    let events = process.store.journal(&"sys_audit".parse().unwrap());
    let bytes: usize = events
        .iter()
        .map(|event| event.payload.as_str().len())
        .sum();
    println!("1001 reads: {} entries, {bytes} bytes", events.len());
    assert_eq!(events.len(), 1);
    assert!(bytes < 1000, "{bytes}");
    let Ok(Some(Body::AuditReads(reads))) = Body::decode(&events[0].event_type, &events[0].payload)
    else {
        panic!("{events:?}");
    };
    let counts: Vec<_> = reads
        .calls
        .iter()
        .map(|read| (read.call.outcome.as_str(), read.count))
        .collect();
    assert_eq!(counts, [("FORBIDDEN", None), ("OK", Some(1000))]);
    // Without a flush they are written when the minute is over.
    process.call("ledger.show", json!({})).await.unwrap();
    world
        .clock
        .advance(std::time::Duration::from_secs(61))
        .await;
    process.idle().await;
    assert_eq!(
        process.store.journal(&"sys_audit".parse().unwrap()).len(),
        2
    );
}

#[tokio::test]
async fn entries_that_could_not_be_written_are_a_marked_gap() {
    let Scene { world, .. } = scene();
    let process = world.process();
    let since = world.clock.now();
    world.disk.set_full(true);
    for _ in 0..3 {
        process.call("ledger.show", json!({})).await.unwrap();
    }
    process.engine.audit().flush().await;
    process
        .call("ledger.apply", json!({ "cell": 7 }))
        .await
        .unwrap_err();
    world.disk.set_full(false);
    process.call("ledger.show", json!({})).await.unwrap();
    process.engine.audit().flush().await;
    let journal: RunId = "sys_audit".parse().unwrap();
    let events = process.store.journal(&journal);
    let types: Vec<&str> = events.iter().map(|event| &*event.event_type).collect();
    assert_eq!(types, ["audit.gap", "audit.reads"]);
    let gap: AuditGap = events[0].payload.to().unwrap();
    assert_eq!((gap.missed, gap.since), (4, since));
    assert!(process.engine.verify(&journal).await.unwrap().intact);
    // Said once.
    process.call("ledger.show", json!({})).await.unwrap();
    process.engine.audit().flush().await;
    assert_eq!(process.store.journal(&journal).len(), 3);
}
