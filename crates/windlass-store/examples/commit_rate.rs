//! Temporary measurement.
use std::{
    io::Write,
    sync::Arc,
    time::{Duration, Instant},
};
use windlass_ports::*;
use windlass_store::*;
use windlass_types::*;

fn event(n: u64) -> NewEvent {
    let body = Body::from(journal::StepCompleted {
        key: format!("step-{n}"),
        input_hash: Digest::ZERO,
        output: serde_json::json!({"ok": true, "n": n, "text": "some output of a step"}),
        undoable: false,
        effect: None,
    });
    let (event_type, payload) = body.encode().unwrap();
    NewEvent {
        time: Timestamp::from_millis(n as i64),
        event_type,
        payload,
        spans: SpanIds::default(),
    }
}
fn created(n: u64) -> NewEvent {
    let body = Body::from(journal::RunCreated {
        kind: "demo".into(),
        principal: Principal::local("ada"),
        surface: Surface::Cli,
        parent: None,
        trace_id: TraceId::default(),
        idempotency_key: None,
        config_hash: Digest::ZERO,
        input: serde_json::json!({"n": n}),
        plan_digest: None,
        confirm_token: None,
        approval: None,
        title: "t".into(),
    });
    let (event_type, payload) = body.encode().unwrap();
    NewEvent {
        time: Timestamp::from_millis(n as i64),
        event_type,
        payload,
        spans: SpanIds::default(),
    }
}
fn pct(mut d: Vec<Duration>, label: &str) {
    d.sort();
    let mean = d.iter().sum::<Duration>() / d.len() as u32;
    println!(
        "{label:28} p50 {:?} mean {:?} p99 {:?} rate {:.0}/s",
        d[d.len() / 2],
        mean,
        d[d.len() * 99 / 100],
        1.0 / mean.as_secs_f64()
    );
}
fn main() {
    let dir = std::path::PathBuf::from(std::env::args().nth(1).unwrap());
    let n: u64 = std::env::args().nth(2).map_or(2000, |s| s.parse().unwrap());
    std::fs::create_dir_all(&dir).unwrap();
    let rt = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .unwrap();
    for round in 0..3 {
        let home = dir.join(format!("home{round}"));
        let store = Arc::new(SqliteStore::open(&home, SqliteStoreOptions::default()).unwrap());
        let raw_path = dir.join(format!("raw{round}"));
        let mut raw = std::fs::File::create(&raw_path).unwrap();
        let over_path = dir.join(format!("over{round}"));
        std::fs::write(&over_path, vec![0u8; 8 << 20]).unwrap();
        let mut over = std::fs::OpenOptions::new()
            .write(true)
            .open(&over_path)
            .unwrap();
        over.sync_all().unwrap();
        let plain = rusqlite::Connection::open(dir.join(format!("plain{round}.db"))).unwrap();
        plain.execute_batch("PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; CREATE TABLE t (id INTEGER PRIMARY KEY, payload TEXT)").unwrap();
        let run: RunId = "run_one".parse().unwrap();
        rt.block_on(store.commit(Commit {
            writes: vec![JournalWrite {
                run_id: run.clone(),
                expect: Expect::New,
                events: vec![created(1)],
            }],
            epoch: None,
        }))
        .unwrap();
        let (mut a, mut b, mut c, mut d) = (vec![], vec![], vec![], vec![]);
        let block = [7u8; 512];
        for i in 0..n {
            let t = Instant::now();
            raw.write_all(&block).unwrap();
            raw.sync_data().unwrap();
            a.push(t.elapsed());
            let t = Instant::now();
            over.write_all(&block).unwrap();
            over.sync_data().unwrap();
            b.push(t.elapsed());
            let t = Instant::now();
            plain
                .prepare_cached("INSERT INTO t (payload) VALUES (?1)")
                .unwrap()
                .execute([event(i).payload.as_str()])
                .unwrap();
            c.push(t.elapsed());
            let ev = event(i);
            let store2 = store.clone();
            let run2 = run.clone();
            let t = Instant::now();
            rt.block_on(async move {
                store2
                    .commit(Commit {
                        writes: vec![JournalWrite {
                            run_id: run2,
                            expect: Expect::Any,
                            events: vec![ev],
                        }],
                        epoch: None,
                    })
                    .await
            })
            .unwrap();
            d.push(t.elapsed());
        }
        pct(a, "raw append+fdatasync");
        pct(b, "raw overwrite+fdatasync");
        pct(c, "plain sqlite commit");
        pct(d, "store, one caller (block_on)");
        let one: Vec<Duration> = rt.block_on({
            let store = store.clone();
            let run = run.clone();
            async move {
                tokio::spawn(async move {
                    let mut d = vec![];
                    for i in 0..n {
                        let ev = event(i);
                        let t = Instant::now();
                        store
                            .commit(Commit {
                                writes: vec![JournalWrite {
                                    run_id: run.clone(),
                                    expect: Expect::Any,
                                    events: vec![ev],
                                }],
                                epoch: None,
                            })
                            .await
                            .unwrap();
                        d.push(t.elapsed());
                    }
                    d
                })
                .await
                .unwrap()
            }
        });
        pct(one, "store, one caller (task)");
        let mut plain_rate = vec![];
        for i in 0..n {
            let t = Instant::now();
            plain
                .prepare_cached("INSERT INTO t (payload) VALUES (?1)")
                .unwrap()
                .execute([event(i).payload.as_str()])
                .unwrap();
            plain_rate.push(t.elapsed());
        }
        pct(plain_rate, "plain sqlite alone");
        for callers in [16u64, 64, 256] {
            let per = 20 * n / callers;
            let t = Instant::now();
            rt.block_on(async {
                let mut tasks = vec![];
                for k in 0..callers {
                    let store = store.clone();
                    tasks.push(tokio::spawn(async move {
                        let run: RunId = format!("run_{callers}_{k}_{round}").parse().unwrap();
                        store
                            .commit(Commit {
                                writes: vec![JournalWrite {
                                    run_id: run.clone(),
                                    expect: Expect::New,
                                    events: vec![created(k)],
                                }],
                                epoch: None,
                            })
                            .await
                            .unwrap();
                        for i in 0..per {
                            store
                                .commit(Commit {
                                    writes: vec![JournalWrite {
                                        run_id: run.clone(),
                                        expect: Expect::Any,
                                        events: vec![event(i)],
                                    }],
                                    epoch: None,
                                })
                                .await
                                .unwrap();
                        }
                    }));
                }
                for task in tasks {
                    task.await.unwrap();
                }
            });
            println!(
                "store, {callers} callers: {:.0} commits/s",
                (callers * per) as f64 / t.elapsed().as_secs_f64()
            );
        }
        drop(store);
        let t = Instant::now();
        let store = SqliteStore::open(&home, SqliteStoreOptions::default()).unwrap();
        println!("reopen {:?}", t.elapsed());
        drop(store);
    }
}
