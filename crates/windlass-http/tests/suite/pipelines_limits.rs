//! The limits of contract 001: requests, jobs at once, pipelines in an hour, with exact headers.

use http::StatusCode;
use serde_json::{Value, json};
use windlass_mcp::{ServerOptions, ToolMode, http::HttpOptions};
use windlass_types::Timestamp;

use super::{
    pipelines_support::{Jobs, SPEC, Shop, shop},
    support::{Ask, Reply, get, post},
};

const HEADERS: [&str; 6] = [
    "X-RateLimit-Limit",
    "X-RateLimit-Remaining",
    "X-RateLimit-Reset",
    "RateLimit-Policy",
    "RateLimit",
    "Retry-After",
];

fn shown(reply: &Reply) -> String {
    let mut line = reply.status.as_u16().to_string();
    for name in HEADERS {
        let value = reply.header(name);
        line.push_str(&format!(" {}", if value.is_empty() { "-" } else { value }));
    }
    line
}

fn set_clock(shop: &Shop, millis: i64) {
    let moment = Timestamp::from_millis(1_750_000_000_000 + millis);
    shop.server.world.clock.set(moment);
}

/// The free tier has ten requests a minute, whatever they are and however they end.
#[tokio::test]
async fn every_answer_says_where_its_caller_stands() {
    let shop = shop(Jobs::Stay, |_| {}).await;
    let asks: Vec<(i64, Ask)> = vec![
        (0, get("/v1/operations")),
        (1_000, post("/v1/strategize", "{}")),
        (2_500, get("/v1/pipelines/job_none")),
        (2_500, get("/artifacts/job_none/code")),
        (2_500, get("/nowhere")),
        (2_500, get("/v1/strategize")),
        (3_000, get("/v1/openapi.json")),
        (4_000, post("/v1/pipelines", "{")),
        (5_000, get("/v1/pipelines/job_none/events")),
        (6_000, get("/v1/runs")),
        (7_000, get("/v1/operations")),
        (59_999, post("/v1/strategize", "{}")),
        (60_000, get("/v1/operations")),
        (60_500, get("/v1/operations")),
        (61_000, get("/v1/operations")),
    ];
    let mut lines = Vec::new();
    for (millis, ask) in asks {
        set_clock(&shop, millis);
        let what = format!("{millis:>5} {} {}", ask.method, ask.path);
        let reply = shop.ask(ask.key(&shop.free)).await;
        reply.check_headers(&what);
        lines.push(format!("{what} → {}", shown(&reply)));
    }
    insta::assert_snapshot!(lines.join("\n"), @r#"
        0 GET /v1/operations → 200 10 9 1750000060 "requests";q=10;w=60 "requests";r=9;t=60 -
     1000 POST /v1/strategize → 400 10 8 1750000060 "requests";q=10;w=60 "requests";r=8;t=59 -
     2500 GET /v1/pipelines/job_none → 404 10 7 1750000060 "requests";q=10;w=60 "requests";r=7;t=58 -
     2500 GET /artifacts/job_none/code → 404 10 6 1750000060 "requests";q=10;w=60 "requests";r=6;t=58 -
     2500 GET /nowhere → 404 10 5 1750000060 "requests";q=10;w=60 "requests";r=5;t=58 -
     2500 GET /v1/strategize → 405 10 4 1750000060 "requests";q=10;w=60 "requests";r=4;t=58 -
     3000 GET /v1/openapi.json → 200 10 3 1750000060 "requests";q=10;w=60 "requests";r=3;t=57 -
     4000 POST /v1/pipelines → 400 10 2 1750000060 "requests";q=10;w=60 "requests";r=2;t=56 -
     5000 GET /v1/pipelines/job_none/events → 404 10 1 1750000060 "requests";q=10;w=60 "requests";r=1;t=55 -
     6000 GET /v1/runs → 403 10 0 1750000060 "requests";q=10;w=60 "requests";r=0;t=54 -
     7000 GET /v1/operations → 429 10 0 1750000060 "requests";q=10;w=60 "requests";r=0;t=53 53
    59999 POST /v1/strategize → 429 10 0 1750000060 "requests";q=10;w=60 "requests";r=0;t=1 1
    60000 GET /v1/operations → 200 10 0 1750000061 "requests";q=10;w=60 "requests";r=0;t=1 -
    60500 GET /v1/operations → 429 10 0 1750000061 "requests";q=10;w=60 "requests";r=0;t=1 1
    61000 GET /v1/operations → 200 10 0 1750000063 "requests";q=10;w=60 "requests";r=0;t=2 -
    "#);
}

#[tokio::test]
async fn jobs_at_once_and_in_an_hour_are_refused_with_what_frees_them() {
    let shop = shop(Jobs::GoOn, |_| {}).await;
    let input = json!({ "spec": SPEC, "phases": ["strategy"] });
    let mut lines = Vec::new();
    for round in 0..6_i64 {
        set_clock(&shop, round * 600_000);
        let reply = shop.begin(&shop.free, input.clone()).await;
        let job = reply.json()["job_id"].as_str().map(str::to_owned);
        lines.push(format!("{} s → {}", round * 600, reply.status.as_u16()));
        match job {
            Some(job) => shop.ended(&job).await,
            None => lines.push(format!(
                "{} {}",
                shown(&reply),
                reply.json()["error"]["details"]
            )),
        }
    }
    insta::assert_snapshot!(lines.join("\n"), @r#"
    0 s → 202
    600 s → 202
    1200 s → 202
    1800 s → 202
    2400 s → 202
    3000 s → 429
    429 10 9 1750003060 "requests";q=10;w=60 "requests";r=9;t=60 600 {"allowed":5,"limit":"pipelines_per_hour","retry_after_seconds":600}
    "#);
}

#[tokio::test]
async fn a_second_job_at_once_is_refused_and_a_call_is_not_a_job() {
    let shop = shop(Jobs::Stay, |_| {}).await;
    let input = json!({ "spec": SPEC });
    let (one, two) = tokio::join!(
        shop.begin(&shop.free, input.clone()),
        shop.begin(&shop.free, input.clone()),
    );
    let mut statuses = [one.status.as_u16(), two.status.as_u16()];
    statuses.sort_unstable();
    assert_eq!(statuses, [202, 429], "two at once make one job");
    let refused = if one.status == StatusCode::ACCEPTED {
        two
    } else {
        one
    };
    refused.check_headers("refused");
    let error = &refused.json()["error"];
    assert_eq!(error["code"], "RATE_LIMITED");
    assert_eq!(error["details"]["limit"], "concurrent_jobs");
    assert_eq!(
        refused.header("retry-after"),
        error["details"]["retry_after_seconds"].to_string()
    );
    for _ in 0..5 {
        let begun = shop.begin(&shop.key, input.clone()).await;
        assert_eq!(begun.status, StatusCode::ACCEPTED);
    }
    let sixth = shop.begin(&shop.key, input).await;
    assert_eq!(sixth.status, StatusCode::TOO_MANY_REQUESTS);
}

fn serve_mcp(shop: &mut Shop) {
    let options = ServerOptions {
        tools: ToolMode::Full,
        ..ServerOptions::default()
    };
    let catalogue = shop.server.process.catalogue().clone();
    let handler = windlass_mcp::handler(catalogue, options).unwrap();
    let endpoint = windlass_mcp::http::endpoint(move || handler.session(), HttpOptions::default());
    shop.server.router = windlass_http::router_with_mcp(shop.server.state.clone(), endpoint);
}

/// Every message of a batch counts, and a batch that does not fit does nothing.
#[tokio::test]
async fn a_batch_counts_as_its_messages() {
    let mut shop = shop(Jobs::Stay, |_| {}).await;
    serve_mcp(&mut shop);
    let ask = |body: Value| {
        post("/mcp", body.to_string())
            .key(&shop.free)
            .with("accept", "application/json, text/event-stream")
    };
    let hello = json!({
        "jsonrpc": "2.0", "id": 7, "method": "initialize",
        "params": {
            "protocolVersion": "2025-03-26",
            "capabilities": {},
            "clientInfo": { "name": "test", "version": "1" },
        },
    });
    let opened = shop.ask(ask(hello)).await;
    let session = opened.header("mcp-session-id").to_owned();
    let send = |messages: usize| {
        let batch: Vec<Value> = (0..messages)
            .map(|id| json!({ "jsonrpc": "2.0", "id": id, "method": "ping" }))
            .collect();
        ask(Value::Array(batch)).with("mcp-session-id", &session)
    };
    let mut lines = Vec::new();
    for messages in [4, 6, 5, 1] {
        let reply = shop.ask(send(messages)).await;
        lines.push(format!("{messages} messages: {}", shown(&reply)));
        if reply.status != StatusCode::OK {
            lines.push(reply.text().trim().to_owned());
        }
    }
    insta::assert_snapshot!(lines.join("\n"), @r#"
    4 messages: 200 10 5 1750000060 "requests";q=10;w=60 "requests";r=5;t=60 -
    6 messages: 429 10 4 1750000060 "requests";q=10;w=60 "requests";r=4;t=60 60
    {"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"more than 10 requests in a minute: a batch counts as its 6 messages","data":{"code":"RATE_LIMITED","details":{"limit":"requests","retry_after_seconds":60},"message":"more than 10 requests in a minute"}}}
    5 messages: 429 10 3 1750000060 "requests";q=10;w=60 "requests";r=3;t=60 60
    {"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"more than 10 requests in a minute: a batch counts as its 5 messages","data":{"code":"RATE_LIMITED","details":{"limit":"requests","retry_after_seconds":60},"message":"more than 10 requests in a minute"}}}
    1 messages: 200 10 2 1750000060 "requests";q=10;w=60 "requests";r=2;t=60 -
    "#);
}

/// The MCP endpoint answers on three paths, with the same headers; a refusal answers the request.
#[tokio::test]
async fn the_mcp_endpoint_is_limited_and_says_so_in_its_own_protocol() {
    let mut shop = shop(Jobs::Stay, |_| {}).await;
    serve_mcp(&mut shop);
    let hello = json!({
        "jsonrpc": "2.0", "id": 7, "method": "initialize",
        "params": {
            "protocolVersion": "2025-06-18",
            "capabilities": {},
            "clientInfo": { "name": "test", "version": "1" },
        },
    });
    let ask = |path: &str, body: String| {
        post(path, body)
            .key(&shop.free)
            .with("accept", "application/json, text/event-stream")
    };
    let mut lines = Vec::new();
    for path in ["/v1/mcp", "/v1", "/mcp"] {
        let reply = shop.ask(ask(path, hello.to_string())).await;
        lines.push(format!("{path} {}", shown(&reply)));
        assert!(reply.text().contains("serverInfo"), "{}", reply.text());
    }
    for _ in 3..10 {
        shop.ask(ask("/v1", hello.to_string())).await;
    }
    for (path, body) in [
        ("/v1/mcp", hello.to_string()),
        ("/v1", hello.to_string()),
        ("/v1", "not a message".to_owned()),
    ] {
        let mut reply = shop.ask(ask(path, body).with("x-request-id", "mine")).await;
        reply.check_headers(path);
        lines.push(format!("{path} {}", shown(&reply)));
        reply.headers.clear();
        lines.push(reply.canonical());
    }
    insta::assert_snapshot!(lines.join("\n"), @r#"
    /v1/mcp 200 10 9 1750000060 "requests";q=10;w=60 "requests";r=9;t=60 -
    /v1 200 10 8 1750000060 "requests";q=10;w=60 "requests";r=8;t=60 -
    /mcp 200 10 7 1750000060 "requests";q=10;w=60 "requests";r=7;t=60 -
    /v1/mcp 429 10 0 1750000060 "requests";q=10;w=60 "requests";r=0;t=60 60
    {"error":{"code":-32000,"data":{"code":"RATE_LIMITED","details":{"limit":"requests","retry_after_seconds":60},"message":"more than 10 requests in a minute","request_id":"mine"},"message":"more than 10 requests in a minute"},"id":7,"jsonrpc":"2.0"}
    /v1 429 10 0 1750000060 "requests";q=10;w=60 "requests";r=0;t=60 60
    {"error":{"code":-32000,"data":{"code":"RATE_LIMITED","details":{"limit":"requests","retry_after_seconds":60},"message":"more than 10 requests in a minute","request_id":"mine"},"message":"more than 10 requests in a minute"},"id":7,"jsonrpc":"2.0"}
    /v1 429 10 0 1750000060 "requests";q=10;w=60 "requests";r=0;t=60 60
    {"error":{"code":"RATE_LIMITED","details":{"limit":"requests","retry_after_seconds":60},"message":"more than 10 requests in a minute","request_id":"mine"}}
    "#);
}
