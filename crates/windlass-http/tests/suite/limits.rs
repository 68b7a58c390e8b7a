//! Limits and their headers, on a clock that the tests move.

use std::{future::pending, time::Duration};

use futures::StreamExt as _;
use http::StatusCode;
use serde_json::json;
use windlass_http::HttpState;
use windlass_testkit::program::{KIND, Op, input};
use windlass_types::Timestamp;

use super::support::{Reply, Server, call, get, server, server_with};

fn shown(reply: &Reply) -> String {
    let mut line = reply.status.as_u16().to_string();
    for name in [
        "x-ratelimit-limit",
        "x-ratelimit-remaining",
        "x-ratelimit-reset",
        "ratelimit",
        "ratelimit-policy",
        "retry-after",
    ] {
        line.push_str(&format!(
            " {}",
            if reply.header(name).is_empty() {
                "-"
            } else {
                reply.header(name)
            }
        ));
    }
    line
}

fn move_clock(server: &Server, millis: i64) {
    server
        .world
        .clock
        .set(Timestamp::from_millis(1_750_000_000_000 + millis));
}

#[tokio::test]
async fn headers_say_exactly_where_a_caller_stands() {
    let server = server().await;
    let mut lines = Vec::new();
    for millis in [0, 1, 20_500, 20_500, 59_999, 60_000, 60_001] {
        move_clock(&server, millis);
        let reply = server
            .ask(call("probe.echo", json!({ "text": "a" })).key(&server.tiny))
            .await;
        lines.push(format!("{millis:>5} ms → {}", shown(&reply)));
    }
    insta::assert_snapshot!(lines.join("\n"), @r#"
        0 ms → 200 3 2 1750000060 "requests";r=2;t=60 "requests";q=3;w=60 -
        1 ms → 200 3 1 1750000060 "requests";r=1;t=60 "requests";q=3;w=60 -
    20500 ms → 200 3 0 1750000060 "requests";r=0;t=40 "requests";q=3;w=60 -
    20500 ms → 429 3 0 1750000060 "requests";r=0;t=40 "requests";q=3;w=60 40
    59999 ms → 429 3 0 1750000060 "requests";r=0;t=1 "requests";q=3;w=60 1
    60000 ms → 200 3 0 1750000061 "requests";r=0;t=1 "requests";q=3;w=60 -
    60001 ms → 200 3 0 1750000081 "requests";r=0;t=21 "requests";q=3;w=60 -
    "#);
}

#[tokio::test]
async fn failed_calls_count_too() {
    let server = server().await;
    let mut lines = Vec::new();
    for ask in [
        call("probe.echo", json!({})).key(&server.tiny),
        get("/nowhere").key(&server.tiny),
        get("/v1/runs").key(&server.tiny),
        get("/v1/runs").key(&server.tiny),
        get("/v1/runs").key(&server.probe),
    ] {
        lines.push(shown(&server.ask(ask).await));
    }
    insta::assert_snapshot!(lines.join("\n"), @r#"
    400 3 2 1750000060 "requests";r=2;t=60 "requests";q=3;w=60 -
    404 3 1 1750000060 "requests";r=1;t=60 "requests";q=3;w=60 -
    403 3 0 1750000060 "requests";r=0;t=60 "requests";q=3;w=60 -
    429 3 0 1750000060 "requests";r=0;t=60 "requests";q=3;w=60 60
    403 300 299 1750000060 "requests";r=299;t=60 "requests";q=300;w=60 -
    "#);
}

#[tokio::test]
async fn guessing_keys_is_limited_by_address_and_probes_never_are() {
    let server = server().await;
    for _ in 0..20 {
        let reply = server.ask(get("/v1/runs").key("wk_1_2")).await;
        assert_eq!(reply.status, StatusCode::UNAUTHORIZED);
    }
    let reply = server.ask(get("/v1/runs").key("wk_1_2")).await;
    assert_eq!(
        (reply.status, reply.code().as_str()),
        (StatusCode::TOO_MANY_REQUESTS, "RATE_LIMITED")
    );
    reply.check_headers("too many guesses");
    assert_eq!(
        server.ask(get("/v1/runs")).await.status,
        StatusCode::TOO_MANY_REQUESTS
    );
    let other = server
        .ask(get("/v1/runs").key("wk_1_2").from("10.0.0.9"))
        .await;
    assert_eq!(other.status, StatusCode::UNAUTHORIZED);
    for (peer, status) in [
        ("2001:db8::1", 401),
        ("2001:db8::ffff:2", 401),
        ("2001:db8:0:1::1", 401),
    ] {
        let reply = server.ask(get("/v1/runs").from(peer)).await;
        assert_eq!(reply.status.as_u16(), status, "{peer}");
        let left = if peer == "2001:db8::ffff:2" {
            "18"
        } else {
            "19"
        };
        assert_eq!(
            reply.header("x-ratelimit-remaining"),
            left,
            "{peer} shares with its network"
        );
    }
    let known = server.ask(get("/v1/runs").key(&server.runs)).await;
    assert_eq!(known.status, StatusCode::OK);
    for path in ["/v1/health", "/v1/ready"] {
        let reply = server.ask(get(path)).await;
        assert_eq!(reply.status, StatusCode::OK, "{path}");
        reply.check_headers(path);
        assert_eq!(
            reply.header("x-ratelimit-limit"),
            "120",
            "what needs no key has a count of its own"
        );
    }
}

#[tokio::test]
async fn calls_at_once_are_limited() {
    let server = server().await;
    let wait = || call("probe.wait", json!({})).key(&server.tiny);
    let waiting = async { tokio::join!(server.ask(wait()), server.ask(wait())) };
    let checks = async {
        server.gates.begun.acquire_many(2).await.unwrap().forget();
        let refused = server
            .ask(call("probe.echo", json!({ "text": "a" })).key(&server.tiny))
            .await;
        assert_eq!(refused.code(), "RATE_LIMITED");
        assert_eq!(refused.header("retry-after"), "1");
        server.gates.go_on.add_permits(2);
    };
    let ((first, second), ()) = tokio::join!(waiting, checks);
    assert_eq!(
        (first.status, second.status),
        (StatusCode::OK, StatusCode::OK)
    );
    let after = server
        .ask(call("probe.echo", json!({ "text": "a" })).key(&server.tiny))
        .await;
    assert_eq!(after.status, StatusCode::OK);
}

#[tokio::test]
async fn a_stream_keeps_its_place_until_it_is_dropped() {
    let server = server_with(|state: &mut HttpState| {
        let tier = super::support::tier(100, 1);
        state.tiers.insert("pro".to_owned(), tier);
    })
    .await;
    let run_id = server
        .process
        .start(KIND, input(&[Op::approval("ok")]))
        .await;
    server.process.settle(&run_id).await;
    let ask = get(&format!("/v1/runs/{run_id}/events"))
        .with("accept", "text/event-stream")
        .key(&server.root);
    let (status, _, mut stream) = server.open(ask).await;
    assert_eq!(status, StatusCode::OK);
    assert!(
        stream
            .next()
            .await
            .unwrap()
            .unwrap()
            .starts_with(b"id: 1\n")
    );
    assert!(
        server
            .state
            .traffic
            .text()
            .contains("windlass_http_streams 1\n")
    );
    assert_eq!(
        server.ask(get("/v1/runs").key(&server.root)).await.status,
        StatusCode::TOO_MANY_REQUESTS
    );
    drop(stream);
    assert!(
        server
            .state
            .traffic
            .text()
            .contains("windlass_http_streams 0\n")
    );
    assert_eq!(
        server.ask(get("/v1/runs").key(&server.root)).await.status,
        StatusCode::OK
    );
}

#[tokio::test]
async fn a_request_that_takes_too_long_is_answered() {
    let server =
        server_with(|state: &mut HttpState| state.request_timeout = Duration::from_millis(50))
            .await;
    let reply = server
        .ask(call("probe.wait", json!({})).key(&server.probe))
        .await;
    assert_eq!(
        (reply.status, reply.code().as_str()),
        (StatusCode::GATEWAY_TIMEOUT, "TIMEOUT")
    );
    reply.check_headers("timeout");
}

#[tokio::test]
async fn a_refused_caller_does_not_wait() {
    let server = server().await;
    for _ in 0..3 {
        server
            .ask(call("probe.echo", json!({ "text": "a" })).key(&server.tiny))
            .await;
    }
    // Refused before the body is read: one that never comes does not matter.
    let body = axum::body::Body::from_stream(futures::stream::once(pending::<
        Result<Vec<u8>, std::io::Error>,
    >()));
    let request = http::Request::post("/v1/operations/probe.echo")
        .header("host", "localhost")
        .header("authorization", format!("Bearer {}", server.tiny))
        .body(body)
        .unwrap();
    let response = tower::ServiceExt::oneshot(server.router.clone(), request)
        .await
        .unwrap();
    assert_eq!(response.status(), StatusCode::TOO_MANY_REQUESTS);
}
