//! What a refused caller is told, in which envelope, and how far open mode goes.

use serde_json::json;
use windlass_http::{AuthMode, HttpState};
use windlass_testkit::local;

use super::{
    refusals::check,
    support::{call, get, post, server, server_with},
};

#[tokio::test]
async fn challenges_say_what_is_missing() {
    let server = server_with(|state: &mut HttpState| {
        state.public_url = Some("https://w.example".to_owned())
    })
    .await;
    let mut shown = Vec::new();
    for ask in [
        get("/v1/runs"),
        call("probe.echo", json!({})),
        post("/mcp", "{}"),
        get("/v1/runs").key("wk_1_2"),
        get("/v1/runs").key(&server.probe),
        get("/v1/metrics").key(&server.probe),
    ] {
        let line = format!("{} {}", ask.method, ask.path);
        let reply = server.ask(ask).await;
        shown.push(format!(
            "{line} → {} {}",
            reply.status.as_u16(),
            reply.header("www-authenticate")
        ));
    }
    insta::assert_snapshot!(shown.join("\n"), @r#"
    GET /v1/runs → 401 Bearer resource_metadata="https://w.example/.well-known/oauth-protected-resource", scope="runs"
    POST /v1/operations/probe.echo → 401 Bearer resource_metadata="https://w.example/.well-known/oauth-protected-resource", scope="probe"
    POST /mcp → 401 Bearer resource_metadata="https://w.example/.well-known/oauth-protected-resource/mcp", scope="admin ledger probe runs"
    GET /v1/runs → 401 Bearer error="invalid_token", resource_metadata="https://w.example/.well-known/oauth-protected-resource", scope="runs"
    GET /v1/runs → 403 Bearer error="insufficient_scope", resource_metadata="https://w.example/.well-known/oauth-protected-resource", scope="runs"
    GET /v1/metrics → 403 Bearer error="insufficient_scope", resource_metadata="https://w.example/.well-known/oauth-protected-resource", scope="metrics"
    "#);
}

#[tokio::test]
async fn failures_wear_the_envelope_of_the_toolset() {
    let server = server().await;
    let mut shown = Vec::new();
    for ask in [
        call("probe.echo", json!({ "text": "fail" })).key(&server.probe),
        call("probe.wrapped", json!({ "text": "fail" })).key(&server.probe),
        call("probe.pipeline", json!({ "text": "fail" })).key(&server.probe),
        call("probe.pipeline", json!({})).key(&server.probe),
        call("probe.pipeline", json!({})),
        call("probe.wrapped", json!({ "text": "hi" })).key(&server.probe),
        call("probe.pipeline", json!({ "text": "hi" })).key(&server.probe),
    ] {
        let reply = server.ask(ask.with("x-request-id", "mine-1")).await;
        shown.push(format!("{} {}", reply.status.as_u16(), reply.canonical()));
    }
    insta::assert_snapshot!(shown.join("\n"), @r#"
    409 {"error":{"code":"ILLEGAL_STATE","details":{},"message":"told to fail","next_actions":[],"request_id":"mine-1","retryable":false},"ok":false}
    418 {"code":"NO_LUCK","message":"told to fail","ok":false,"operation":"probe.wrapped"}
    400 {"error":{"code":"INVALID_INPUT","details":{},"message":"told to fail","request_id":"mine-1"}}
    400 {"error":{"code":"INVALID_INPUT","details":{"constraint":"required","field":"text"},"message":"\"text\" is required","request_id":"mine-1"}}
    401 {"error":{"code":"UNAUTHORIZED","details":{},"message":"invalid or expired API key","request_id":"mine-1"}}
    200 {"data":{"said":"hi"},"ok":true}
    200 {"said":"hi"}
    "#);
}

#[tokio::test]
async fn open_mode_is_for_this_machine_only() {
    let server = server_with(|state| state.auth = AuthMode::LoopbackOpen(local())).await;
    let cases = vec![
        ("from this machine", get("/v1/runs"), 200, ""),
        (
            "from this machine, v6",
            get("/v1/runs").from("::1"),
            200,
            "",
        ),
        (
            "from this machine, mapped",
            get("/v1/runs").from("::ffff:127.0.0.1"),
            200,
            "",
        ),
        (
            "from another",
            get("/v1/runs").from("10.0.0.9"),
            401,
            "UNAUTHORIZED",
        ),
        (
            "a key still counts",
            get("/v1/runs").key(&server.probe),
            403,
            "FORBIDDEN",
        ),
        (
            "a bad key is still bad",
            get("/v1/runs").key("wk_1_2"),
            401,
            "UNAUTHORIZED",
        ),
        (
            "a page of elsewhere",
            get("/v1/runs").with("origin", "https://evil.example"),
            403,
            "FORBIDDEN",
        ),
    ];
    check(&server, cases).await;
}

#[tokio::test]
async fn open_mode_refuses_to_listen_to_others() {
    let mut state = server().await.state;
    state.auth = AuthMode::LoopbackOpen(local());
    for (address, allowed) in [
        ("127.0.0.1:0", true),
        ("[::1]:0", true),
        ("0.0.0.0:0", false),
        ("10.0.0.1:80", false),
    ] {
        state.listen = address.parse().unwrap();
        assert_eq!(state.listen_options().is_ok(), allowed, "{address}");
        state.auth = AuthMode::Keys;
        assert!(state.listen_options().is_ok(), "{address}");
        state.auth = AuthMode::LoopbackOpen(local());
    }
}
