//! The audit log: one entry per call, chained, whatever became of the call.

use serde_json::{Value, json};
use windlass_testkit::Process;
use windlass_types::{
    Body, Principal,
    event::{ChainHead, verify_chain},
    journal::AuditCall,
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
                    reads.calls.into_iter().map(|read| read.call).collect()
                }
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
