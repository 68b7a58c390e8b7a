//! Events over SSE: order, resuming, keep-alive, redaction, and every way a stream ends.

use futures::StreamExt as _;
use http::{HeaderMap, StatusCode};
use serde_json::{Value, json};
use std::time::Duration;
use windlass_testkit::program::{KIND, Op, input};

use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
};
use windlass_types::RunId;

use super::{
    connections::{Running, exchange},
    support::{Ask, Server, get, post, server, server_with},
};

fn watch(server: &Server, run_id: &RunId) -> Ask {
    get(&format!("/v1/runs/{run_id}/events"))
        .with("accept", "text/event-stream")
        .key(&server.root)
}

/// The events of a stream's text as (id, event, data).
fn parse(text: &str) -> Vec<(Option<u64>, String, Value)> {
    text.split("\n\n")
        .filter(|block| !block.is_empty() && !block.starts_with(':'))
        .map(|block| {
            let field = |name: &str| block.lines().find_map(|line| line.strip_prefix(name));
            let data = serde_json::from_str(field("data: ").unwrap()).unwrap();
            (
                field("id: ").map(|id| id.parse().unwrap()),
                field("event: ").unwrap().to_owned(),
                data,
            )
        })
        .collect()
}

async fn finished(server: &Server) -> RunId {
    let run_id = server
        .process
        .start(
            KIND,
            input(&[Op::set("a", 1), Op::sleep("nap", 60), Op::set("b", 2)]),
        )
        .await;
    server.process.settle(&run_id).await;
    run_id
}

#[tokio::test]
async fn a_finished_run_is_told_from_start_to_end() {
    let server = server().await;
    let run_id = finished(&server).await;
    let reply = server.ask(watch(&server, &run_id)).await;
    assert_eq!(reply.status, StatusCode::OK);
    reply.check_headers("stream");
    assert_eq!(reply.header("content-type"), "text/event-stream");
    assert_eq!(reply.header("x-accel-buffering"), "no");
    let mut events = parse(&reply.text());
    let (id, name, data) = events.pop().unwrap();
    assert_eq!(
        (id, name.as_str(), &data["state"]),
        (None, "end", &json!("completed"))
    );
    let told: Vec<&str> = events.iter().map(|(_, name, _)| name.as_str()).collect();
    assert_eq!(told, server.process.event_types(&run_id));
    for (place, (id, name, data)) in events.iter().enumerate() {
        assert_eq!(*id, Some(place as u64 + 1));
        assert_eq!((&data["seq"], &data["type"]), (&json!(id), &json!(name)));
    }
}

#[tokio::test]
async fn a_cut_stream_goes_on_where_it_was_cut() {
    let server = server().await;
    let run_id = finished(&server).await;
    let last = server.process.event_types(&run_id).len() as u64;
    let whole = parse(&server.ask(watch(&server, &run_id)).await.text());
    for cut in 0..last {
        let asks = [
            watch(&server, &run_id).with("last-event-id", cut.to_string()),
            {
                let mut ask = watch(&server, &run_id);
                ask.path.push_str(&format!("?after_seq={cut}"));
                ask
            },
            {
                // The header is what the client saw last; the address is what it began with.
                let mut ask = watch(&server, &run_id).with("last-event-id", cut.to_string());
                ask.path.push_str("?after_seq=0");
                ask
            },
        ];
        for ask in asks {
            let rest = parse(&server.ask(ask).await.text());
            assert_eq!(rest, whole[cut as usize..], "cut after {cut}");
        }
    }
    let reply = server
        .ask(watch(&server, &run_id).with("last-event-id", last.to_string()))
        .await;
    assert_eq!(
        (reply.status, reply.body.len()),
        (StatusCode::NO_CONTENT, 0)
    );
}

#[tokio::test]
async fn a_place_that_cannot_be_is_refused() {
    let server = server().await;
    let run_id = finished(&server).await;
    for place in ["-1", "x", "", "1.5", "999999", "18446744073709551616"] {
        let reply = server
            .ask(watch(&server, &run_id).with("last-event-id", place))
            .await;
        assert_eq!(
            (reply.status, reply.code().as_str()),
            (StatusCode::BAD_REQUEST, "INVALID_INPUT"),
            "{place:?}"
        );
    }
}

#[tokio::test]
async fn a_running_run_is_followed() {
    let server = server().await;
    let run_id = server
        .process
        .start(
            KIND,
            input(&[Op::set("a", 1), Op::approval("ok"), Op::set("b", 2)]),
        )
        .await;
    server.process.settle(&run_id).await;
    let (status, headers, mut stream) = server.open(watch(&server, &run_id)).await;
    assert_eq!((status, length(&headers)), (StatusCode::OK, None));
    let mut text = String::new();
    let first = stream.next().await.unwrap().unwrap();
    text.push_str(std::str::from_utf8(&first).unwrap());
    let before = parse(&text).len();
    assert_eq!(parse(&text).last().unwrap().1, "wait.started");

    // Nothing happens for a while: the connection is kept alive.
    let quiet = server
        .world
        .clock
        .run(stream.next())
        .await
        .unwrap()
        .unwrap();
    assert_eq!(quiet, ": keep-alive\n\n");

    let approved = server
        .ask(post(&format!("/v1/runs/{run_id}/approve"), "{}").key(&server.root))
        .await;
    assert_eq!(approved.status, StatusCode::OK, "{}", approved.text());
    let rest = server.world.clock.run(async {
        let mut rest = String::new();
        while let Some(chunk) = stream.next().await {
            rest.push_str(std::str::from_utf8(&chunk.unwrap()).unwrap());
        }
        rest
    });
    let rest = parse(&rest.await);
    assert_eq!(rest.first().unwrap().0, Some(before as u64 + 1));
    let (_, name, data) = rest.last().unwrap();
    assert_eq!(
        (name.as_str(), &data["state"]),
        ("end", &json!("completed"))
    );
    let told = before + rest.len() - 1;
    assert_eq!(told, server.process.event_types(&run_id).len());
}

fn length(headers: &HeaderMap) -> Option<&str> {
    headers
        .get("content-length")
        .map(|length| length.to_str().unwrap())
}

#[tokio::test]
async fn a_stream_ends_with_the_server_and_after_its_time() {
    let server = server().await;
    let run_id = server
        .process
        .start(KIND, input(&[Op::approval("ok")]))
        .await;
    server.process.settle(&run_id).await;
    let (_, _, old) = server.open(watch(&server, &run_id)).await;
    let chunks = server.world.clock.run(old.collect::<Vec<_>>()).await;
    assert!(
        chunks.len() > 50,
        "a quarter of an hour of keep-alives, not {}",
        chunks.len()
    );
    let (_, _, mut open) = server.open(watch(&server, &run_id)).await;
    open.next().await.unwrap().unwrap();
    server.state.closing.cancel();
    assert!(open.next().await.is_none());
}

#[tokio::test]
async fn strangers_see_no_stream() {
    let server = server().await;
    let run_id = finished(&server).await;
    let path = format!("/v1/runs/{run_id}/events");
    for (key, status, code) in [
        (&server.runs, 404, "RUN_NOT_FOUND"),
        (&server.probe, 403, "FORBIDDEN"),
    ] {
        let reply = server
            .ask(get(&path).with("accept", "text/event-stream").key(key))
            .await;
        assert_eq!(
            (reply.status.as_u16(), reply.code().as_str()),
            (status, code)
        );
        reply.check_headers(code);
    }
}

#[tokio::test]
async fn secrets_do_not_leave_in_events() {
    let server = server().await;
    let secret = "ghp_0123456789abcdefghijABCDEFGHIJ012345";
    let op = Op::Emit {
        name: "note".to_owned(),
        text: format!("the token is {secret}"),
    };
    let run_id = server.process.start(KIND, input(&[op])).await;
    server.process.settle(&run_id).await;
    for accept in ["text/event-stream", "application/json"] {
        let ask = get(&format!("/v1/runs/{run_id}/events"))
            .with("accept", accept)
            .key(&server.root);
        let text = server.ask(ask).await.text();
        assert!(!text.contains(secret), "{accept}");
        assert!(text.contains("[redacted:"), "{accept}: {text}");
    }
}

#[tokio::test]
async fn without_asking_for_a_stream_events_come_as_a_page() {
    let server = server().await;
    let run_id = finished(&server).await;
    let ask = get(&format!("/v1/runs/{run_id}/events?after_seq=2&limit=3")).key(&server.root);
    let page = server.ask(ask).await.json();
    let places: Vec<&Value> = page["events"]
        .as_array()
        .unwrap()
        .iter()
        .map(|event| &event["seq"])
        .collect();
    assert_eq!(places, [3, 4, 5]);
    assert_eq!(page["next_after_seq"], 5);
    assert_eq!(page["done"], false);
}

fn resident_bytes() -> usize {
    let status = fs_err::read_to_string("/proc/self/statm").unwrap();
    let pages: usize = status.split(' ').nth(1).unwrap().parse().unwrap();
    pages * 4096
}

/// Many readers of a large run who take nothing share what they would be sent.
#[tokio::test(flavor = "multi_thread")]
async fn stalled_readers_of_a_large_run_cost_little() {
    const READERS: usize = 64;
    let server = server().await;
    let large = "x".repeat(8 * 1024 * 1024);
    let ops = [
        Op::Emit {
            name: "note".to_owned(),
            text: large,
        },
        Op::set("a", 1),
    ];
    let run_id = server.process.start(KIND, input(&ops)).await;
    server.process.settle(&run_id).await;
    let running = Running::start(&server.state, |_| {}).await;
    let request = |after: u64| {
        format!(
            "GET /v1/runs/{run_id}/events HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\
             Accept: text/event-stream\r\nLast-Event-ID: {after}\r\nAuthorization: Bearer {}\r\n\r\n",
            server.root
        )
    };
    // One reader first, so that what any reader costs is not counted.
    let first = exchange(running.address, request(0).as_bytes()).await;
    let before = resident_bytes();
    let mut stalled = Vec::new();
    for _ in 0..READERS {
        let mut stream = TcpStream::connect(running.address).await.unwrap();
        stream.write_all(request(0).as_bytes()).await.unwrap();
        let mut byte = [0];
        stream.read_exact(&mut byte).await.unwrap();
        stalled.push(stream);
    }
    tokio::time::sleep(Duration::from_secs(2)).await;
    let grown = resident_bytes().saturating_sub(before) / (1024 * 1024);
    eprintln!("{READERS} stalled readers of a run of 16 MiB: {grown} MiB more");
    assert!(grown < 128, "{grown} MiB");
    drop(stalled);
    // A reader that goes on by the cursor misses nothing and gets nothing twice.
    let ids = |text: &str| -> Vec<u64> {
        let lines = text.lines().filter_map(|line| line.strip_prefix("id: "));
        lines.map(|id| id.parse().unwrap()).collect()
    };
    let all = ids(&first);
    let resumed = exchange(running.address, request(all[1]).as_bytes()).await;
    let mut together = all[..2].to_vec();
    together.extend(ids(&resumed));
    assert_eq!(together, all);
    let expected: Vec<u64> = (1..=all.len() as u64).collect();
    assert_eq!(all, expected);
    running.stop().await;
}

/// A reader that takes too long is told why its stream ends and where to go on.
#[tokio::test(flavor = "multi_thread")]
async fn a_slow_reader_is_told_where_to_go_on() {
    let server = server_with(|state| state.slow_reader = Duration::from_millis(300)).await;
    let ops: Vec<Op> = (0..24)
        .map(|number| Op::Emit {
            name: format!("note-{number}"),
            text: "x".repeat(512 * 1024),
        })
        .collect();
    let run_id = server.process.start(KIND, input(&ops)).await;
    server.process.settle(&run_id).await;
    let running = Running::start(&server.state, |_| {}).await;
    let read = async |after: u64, pause: Duration| {
        let mut stream = TcpStream::connect(running.address).await.unwrap();
        let request = format!(
            "GET /v1/runs/{run_id}/events HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\
             Accept: text/event-stream\r\nLast-Event-ID: {after}\r\nAuthorization: Bearer {}\r\n\r\n",
            server.root
        );
        stream.write_all(request.as_bytes()).await.unwrap();
        // More than the head: the first event has begun to arrive.
        let mut text = vec![0; 4096];
        stream.read_exact(&mut text).await.unwrap();
        tokio::time::sleep(pause).await;
        stream.read_to_end(&mut text).await.unwrap();
        String::from_utf8(text).unwrap()
    };
    let ids = |text: &str| -> Vec<u64> {
        let lines = text.lines().filter_map(|line| line.strip_prefix("id: "));
        lines.map(|id| id.parse().unwrap()).collect()
    };
    let cut = read(0, Duration::from_secs(1)).await;
    let closed = cut
        .split("event: closed\ndata: ")
        .nth(1)
        .unwrap_or_else(|| panic!("not closed: {} bytes, {:?}", cut.len(), ids(&cut)));
    let closed: Value = serde_json::from_str(closed.lines().next().unwrap()).unwrap();
    assert_eq!(closed["reason"], "slow_reader");
    let mut seen = ids(&cut);
    assert_eq!(closed["last_seq"], json!(seen.last()));
    let last = server.process.event_types(&run_id).len() as u64;
    // On a busy machine even a reader without a pause may be told to come again.
    while seen.last() != Some(&last) {
        let rest = ids(&read(*seen.last().unwrap(), Duration::ZERO).await);
        assert!(!rest.is_empty(), "{seen:?} of {last}");
        seen.extend(rest);
    }
    let every: Vec<u64> = (1..=last).collect();
    assert_eq!(seen, every);
    running.stop().await;
}

#[tokio::test]
async fn open_streams_are_limited() {
    let server = server_with(|state| state.max_streams_per_key = 2).await;
    let run_id = server
        .process
        .start(
            KIND,
            input(&[Op::Wait {
                signal: "go".to_owned(),
                seconds: None,
            }]),
        )
        .await;
    let running = Running::start(&server.state, |_| {}).await;
    let request = format!(
        "GET /v1/runs/{run_id}/events HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\
         Accept: text/event-stream\r\nAuthorization: Bearer {}\r\n\r\n",
        server.root
    );
    let mut open = Vec::new();
    for _ in 0..2 {
        let mut stream = TcpStream::connect(running.address).await.unwrap();
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut byte = [0];
        stream.read_exact(&mut byte).await.unwrap();
        open.push(stream);
    }
    let refused = exchange(running.address, request.as_bytes()).await;
    assert!(refused.starts_with("HTTP/1.1 429"), "{refused}");
    assert!(refused.contains("\"limit\":\"streams\""), "{refused}");
    drop(open);
    running.stop().await;
}
