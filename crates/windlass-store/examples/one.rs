//! Temporary measurement.
use std::time::Instant;
use windlass_ports::*;
use windlass_store::*;
use windlass_types::*;
fn main() {
    let dir = std::path::PathBuf::from(std::env::args().nth(1).unwrap());
    let n: u64 = std::env::args().nth(2).map_or(20, |s| s.parse().unwrap());
    let runs: u64 = std::env::args().nth(3).map_or(0, |s| s.parse().unwrap());
    let rt = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .unwrap();
    let t = Instant::now();
    let store = SqliteStore::open(&dir, SqliteStoreOptions::default()).unwrap();
    eprintln!("open {:?}", t.elapsed());
    for r in 0..runs {
        let body = Body::from(journal::RunCreated {
            kind: "demo".into(),
            principal: Principal::local("ada"),
            surface: Surface::Cli,
            parent: None,
            trace_id: TraceId::default(),
            idempotency_key: None,
            config_hash: Digest::ZERO,
            input: serde_json::json!({"n": r}),
            plan_digest: None,
            confirm_token: None,
            approval: None,
            title: "t".into(),
        });
        let (event_type, payload) = body.encode().unwrap();
        let mut events = vec![NewEvent {
            time: Timestamp::from_millis(r as i64),
            event_type,
            payload,
            spans: SpanIds::default(),
        }];
        for k in 0..10 {
            let (event_type, payload) = Body::Domain("x".into(), journal::DomainEvent { key: "k".into(), data: serde_json::json!({"k": k, "some": "text of a payload that is a bit longer"}) }).encode().unwrap();
            events.push(NewEvent {
                time: Timestamp::from_millis(r as i64),
                event_type,
                payload,
                spans: SpanIds::default(),
            });
        }
        let (event_type, payload) = Body::from(journal::RunCompleted {
            output: serde_json::json!(1),
        })
        .encode()
        .unwrap();
        events.push(NewEvent {
            time: Timestamp::from_millis(r as i64),
            event_type,
            payload,
            spans: SpanIds::default(),
        });
        rt.block_on(store.commit(Commit {
            writes: vec![JournalWrite {
                run_id: RunId::from_random(
                    (r as u128 * 0x9E3779B97F4A7C15F39CC0605CEDC835).to_be_bytes(),
                ),
                expect: Expect::New,
                events,
            }],
            epoch: None,
        }))
        .unwrap();
    }
    let run: RunId = "sys_test".parse().unwrap();
    for i in 0..n {
        let (event_type, payload) = Body::Domain(
            "x".into(),
            journal::DomainEvent {
                key: "k".into(),
                data: serde_json::json!(i),
            },
        )
        .encode()
        .unwrap();
        rt.block_on(store.commit(Commit {
            writes: vec![JournalWrite {
                run_id: run.clone(),
                expect: Expect::Any,
                events: vec![NewEvent {
                    time: Timestamp::from_millis(1),
                    event_type,
                    payload,
                    spans: SpanIds::default(),
                }],
            }],
            epoch: None,
        }))
        .unwrap();
    }
    if runs == 0 {
        let t = Instant::now();
        let page = rt
            .block_on(store.runs(RunFilter {
                limit: 50,
                ..Default::default()
            }))
            .unwrap();
        eprintln!("runs page of {} in {:?}", page.runs.len(), t.elapsed());
        let t = Instant::now();
        let page = rt.block_on(store.unfinished()).unwrap();
        eprintln!("unfinished {} in {:?}", page.len(), t.elapsed());
        let t = Instant::now();
        let report = rt.block_on(store.check()).unwrap();
        eprintln!("check {report:?} in {:?}", t.elapsed());
    }
    let t = Instant::now();
    drop(store);
    eprintln!("close {:?}", t.elapsed());
}
