//! The HTTP endpoint: statuses, sessions, hosts and origins, batches.

use http::StatusCode;
use serde_json::{Value, json};
use windlass_mcp::http::{HttpOptions, endpoint};
use windlass_types::{Principal, Scope};

use super::support::{HttpClient, TestHandler, call, initialize, modern_meta};

fn list() -> Value {
    json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list" })
}

#[tokio::test]
async fn requests_that_are_wrong_on_the_outside() {
    let cases: &[(&str, &'static str, &str, u16)] = &[
        ("POST", "content-type", "text/plain", 415),
        ("POST", "content-type", "application/jsonp", 415),
        (
            "POST",
            "content-type",
            "application/json; charset=utf-8",
            200,
        ),
        ("POST", "content-type", "APPLICATION/JSON", 200),
        ("POST", "accept", "application/json", 406),
        ("POST", "accept", "text/html", 406),
        ("POST", "host", "evil.example", 403),
        ("POST", "host", "localhost:8080", 200),
        ("POST", "host", "[::1]:8080", 200),
        ("POST", "origin", "http://localhost:3000", 200),
        ("POST", "origin", "http://127.0.0.1", 200),
        ("POST", "origin", "https://evil.example", 403),
        ("POST", "origin", "http://localhost.evil.example", 403),
        ("POST", "origin", "null", 403),
        ("POST", "mcp-protocol-version", "2024-11-05", 400),
        ("POST", "mcp-protocol-version", "1999-01-01", 400),
        ("PUT", "accept", "application/json, text/event-stream", 405),
        (
            "PATCH",
            "accept",
            "application/json, text/event-stream",
            405,
        ),
        ("GET", "accept", "application/json", 406),
    ];
    for (method, name, value, want) in cases {
        let mut client = HttpClient::start();
        client.header(name, value);
        let body = initialize(1, "2025-06-18").to_string();
        let reply = client.send(client.request(method, body)).await;
        assert_eq!(
            reply.status.as_u16(),
            *want,
            "{method} with {name}: {value}\n{}",
            reply.text
        );
        if reply.status.is_client_error() {
            assert_eq!(
                reply.messages[0]["jsonrpc"], "2.0",
                "every refusal has a JSON-RPC body"
            );
        }
    }
}

#[tokio::test]
async fn a_body_over_the_limit_is_refused_announced_or_not() {
    let client = HttpClient::start();
    let body = vec![b' '; (1 << 20) + 1];
    assert_eq!(
        client.post_bytes(&body).await.status,
        StatusCode::PAYLOAD_TOO_LARGE
    );
    let mut announced = HttpClient::start();
    announced.header("content-length", "99999999999");
    assert_eq!(
        announced.post_bytes(b"{}").await.status,
        StatusCode::PAYLOAD_TOO_LARGE
    );
}

#[tokio::test]
async fn a_session_lives_from_initialize_to_delete() {
    let mut client = HttpClient::initialized("2025-11-25").await;
    assert_eq!(
        client.post(&list()).await.messages[0]["result"]["tools"]
            .as_array()
            .map(Vec::len),
        Some(4)
    );
    let initialized = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
    assert_eq!(client.post(&initialized).await.status, StatusCode::ACCEPTED);
    let gone = client.send(client.request("DELETE", "")).await;
    assert!(gone.status.is_success(), "{}", gone.status);
    assert_eq!(client.post(&list()).await.status, StatusCode::NOT_FOUND);
    client.header("mcp-session-id", "never-was");
    assert_eq!(client.post(&list()).await.status, StatusCode::NOT_FOUND);
    client.headers.retain(|(name, _)| *name != "mcp-session-id");
    assert_eq!(client.post(&list()).await.status, StatusCode::BAD_REQUEST);
}

#[tokio::test]
async fn a_session_belongs_to_the_principal_that_opened_it() {
    let mut client = HttpClient::start();
    let ada = Principal::key("key_ada", vec![Scope::all()]);
    let eve = Principal::key("key_eve", vec![Scope::all()]);
    let mut open = client.request("POST", initialize(1, "2025-06-18").to_string());
    open.extensions_mut().insert(ada.clone());
    let opened = client.send(open).await;
    client.header(
        "mcp-session-id",
        opened.headers["mcp-session-id"].to_str().unwrap(),
    );
    for (principal, want) in [(Some(ada), 200), (Some(eve), 404), (None, 404)] {
        for method in ["POST", "DELETE"] {
            if method == "DELETE" && want == 200 {
                continue;
            }
            let mut request = client.request(method, list().to_string());
            if let Some(principal) = &principal {
                request.extensions_mut().insert(principal.clone());
            }
            assert_eq!(
                client.send(request).await.status.as_u16(),
                want,
                "{method} by {principal:?}"
            );
        }
    }
}

#[tokio::test]
async fn the_session_idle_longest_makes_room() {
    let options = HttpOptions {
        max_sessions: 8,
        ..HttpOptions::default()
    };
    let endpoint = endpoint(TestHandler::default, options);
    let mut sessions = Vec::new();
    for _ in 0..3 {
        let reply = HttpClient::over(endpoint.clone())
            .post(&initialize(1, "2025-06-18"))
            .await;
        sessions.push(reply.headers["mcp-session-id"].to_str().unwrap().to_owned());
    }
    for (session, want) in sessions.iter().zip([404, 200, 200]) {
        let mut client = HttpClient::over(endpoint.clone());
        client
            .header("mcp-session-id", session)
            .header("mcp-protocol-version", "2025-06-18");
        assert_eq!(client.post(&list()).await.status.as_u16(), want);
    }
}

/// Who opens many sessions closes their own, however long others have been idle.
#[tokio::test]
async fn a_caller_closes_no_session_of_another() {
    let options = HttpOptions {
        max_sessions: 8,
        ..HttpOptions::default()
    };
    let endpoint = endpoint(TestHandler::default, options);
    let principals = ["quiet", "loud", "more"].map(|name| Principal::key(name, Vec::new()));
    let open = async |principal: &Principal| {
        let client = HttpClient::over(endpoint.clone());
        let mut request = client.request("POST", initialize(1, "2025-06-18").to_string());
        request.extensions_mut().insert(principal.clone());
        let reply = client.send(request).await;
        reply.headers["mcp-session-id"].to_str().unwrap().to_owned()
    };
    let quiet = open(&principals[0]).await;
    let mut loud = Vec::new();
    for _ in 0..20 {
        loud.push(open(&principals[1]).await);
    }
    let status = async |session: &str, principal: &Principal| {
        let mut client = HttpClient::over(endpoint.clone());
        client
            .header("mcp-session-id", session)
            .header("mcp-protocol-version", "2025-06-18");
        let mut request = client.request("POST", list().to_string());
        request.extensions_mut().insert(principal.clone());
        client.send(request).await.status.as_u16()
    };
    assert_eq!(status(&quiet, &principals[0]).await, 200);
    let mut left = 0;
    for session in &loud {
        left += usize::from(status(session, &principals[1]).await == 200);
    }
    assert_eq!(left, 2, "a quarter of the places");
    assert_eq!(
        status(&open(&principals[2]).await, &principals[2]).await,
        200
    );
    assert_eq!(status(&quiet, &principals[0]).await, 200);
}

#[tokio::test]
async fn a_batch_is_answered_on_one_stream_in_2025_03_26_only() {
    let batch = json!([
        call(1, "echo", json!({ "n": 1 })),
        { "jsonrpc": "2.0", "method": "notifications/initialized" },
        7,
        { "jsonrpc": "2.0", "id": 3, "method": "no/such" },
        { "jsonrpc": "2.0", "id": 2, "method": "ping" },
    ]);
    let client = HttpClient::initialized("2025-03-26").await;
    let reply = client.post(&batch).await;
    assert_eq!(reply.status, StatusCode::OK);
    let mut seen: Vec<_> = reply
        .messages
        .iter()
        .map(|message| (message["id"].as_i64(), message["error"]["code"].as_i64()))
        .collect();
    seen.sort_unstable();
    assert_eq!(
        seen,
        [
            (None, Some(-32600)),
            (Some(1), None),
            (Some(2), None),
            (Some(3), Some(-32601))
        ]
    );

    let quiet = client
        .post(&json!([{ "jsonrpc": "2.0", "method": "notifications/initialized" }]))
        .await;
    assert_eq!(quiet.status, StatusCode::ACCEPTED);
    for refused in [json!([]), json!([initialize(1, "2025-03-26")])] {
        let reply = client.post(&refused).await;
        assert_eq!(
            (reply.status.as_u16(), &reply.messages[0]["error"]["code"]),
            (400, &json!(-32600))
        );
    }
    let later = HttpClient::initialized("2025-06-18")
        .await
        .post(&batch)
        .await;
    assert_eq!(
        (later.status.as_u16(), &later.messages[0]["error"]["code"]),
        (400, &json!(-32600))
    );
    let mut stranger = HttpClient::start();
    stranger.header("mcp-session-id", "never-was");
    assert_eq!(stranger.post(&batch).await.status, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn the_modern_era_needs_no_session_and_its_headers_must_match() {
    let mut client = HttpClient::start();
    client
        .header("mcp-protocol-version", "2026-07-28")
        .header("mcp-method", "tools/list");
    let mut request = list();
    request["params"] = json!({ "_meta": modern_meta() });
    let reply = client.post(&request).await;
    assert_eq!(
        (
            reply.status.as_u16(),
            &reply.messages[0]["result"]["resultType"]
        ),
        (200, &json!("complete"))
    );
    assert_eq!(reply.headers["content-type"], "application/json");
    assert!(!reply.headers.contains_key("mcp-session-id"));

    client.header("mcp-method", "tools/call");
    let reply = client.post(&request).await;
    assert_eq!(
        (reply.status.as_u16(), &reply.messages[0]["error"]["code"]),
        (400, &json!(-32020))
    );

    client.header("mcp-method", "no/such");
    request["method"] = json!("no/such");
    let reply = client.post(&request).await;
    assert_eq!(
        (reply.status.as_u16(), &reply.messages[0]["error"]["code"]),
        (404, &json!(-32601))
    );

    client.header("accept", "text/event-stream");
    assert_eq!(
        client.send(client.request("GET", "")).await.status,
        StatusCode::METHOD_NOT_ALLOWED
    );
}
