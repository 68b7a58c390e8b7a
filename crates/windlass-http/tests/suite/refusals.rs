//! Malformed, misdirected and unauthorised requests: each with its exact status and code.

use serde_json::json;

use super::support::{Ask, Server, call, get, post, server_with, tier};

pub type Case = (&'static str, Ask, u16, &'static str);

pub async fn check(server: &Server, cases: Vec<Case>) {
    let mut wrong = Vec::new();
    for (title, ask, status, code) in cases {
        let shown = format!(
            "{title}: {} {}",
            ask.method,
            &ask.path[..ask.path.len().min(60)]
        );
        let reply = server.ask(ask).await;
        reply.check_headers(&shown);
        if reply.status.as_u16() != status || reply.code() != code {
            wrong.push(format!(
                "{shown} → {} {:?}, not {status} {code:?}",
                reply.status,
                reply.code()
            ));
        }
        if !reply.code().is_empty() {
            assert_eq!(
                reply.json()["error"]["request_id"],
                reply.header("x-request-id"),
                "{shown}"
            );
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// A server whose strangers may make as many mistakes as the table has.
pub async fn patient() -> Server {
    server_with(|state| {
        for name in ["anonymous", "unauthorized"] {
            state.tiers.insert(name.to_owned(), tier(1000, 16));
        }
        state.allowed_hosts = vec!["api.example".to_owned()];
        state.allowed_origins = vec!["https://app.example".to_owned()];
    })
    .await
}

pub fn echo(server: &Server) -> Ask {
    call("probe.echo", json!({ "text": "hello" })).key(&server.probe)
}

#[tokio::test]
async fn who_may_come_in() {
    let server = patient().await;
    let wrong_secret = format!("{}0", &server.probe[..server.probe.len() - 1]);
    let runs = || get("/v1/runs");
    let cases = vec![
        ("health needs no key", get("/v1/health"), 200, ""),
        ("ready needs no key", get("/v1/ready"), 200, ""),
        (
            "metadata needs no key",
            get("/.well-known/oauth-protected-resource"),
            200,
            "",
        ),
        (
            "metadata of mcp needs no key",
            get("/.well-known/oauth-protected-resource/mcp"),
            200,
            "",
        ),
        (
            "other metadata does not exist",
            get("/.well-known/oauth-protected-resource/x"),
            401,
            "UNAUTHORIZED",
        ),
        ("no key", runs(), 401, "UNAUTHORIZED"),
        (
            "no key for metrics",
            get("/v1/metrics"),
            401,
            "UNAUTHORIZED",
        ),
        (
            "no key for the document",
            get("/v1/openapi.json"),
            401,
            "UNAUTHORIZED",
        ),
        (
            "no key for the catalogue",
            get("/v1/operations"),
            401,
            "UNAUTHORIZED",
        ),
        (
            "no key for an unknown path",
            get("/v2/what"),
            401,
            "UNAUTHORIZED",
        ),
        ("no key for mcp", post("/mcp", "{}"), 401, "UNAUTHORIZED"),
        ("a good key", runs().key(&server.runs), 200, ""),
        (
            "scheme in lower case",
            runs().with("authorization", format!("bearer {}", server.runs)),
            200,
            "",
        ),
        (
            "spaces around the key",
            runs().with("authorization", format!("Bearer   {} ", server.runs)),
            200,
            "",
        ),
        (
            "another scheme",
            runs().with("authorization", "Basic dTpw"),
            401,
            "UNAUTHORIZED",
        ),
        (
            "a bare key",
            runs().with("authorization", &server.runs),
            401,
            "UNAUTHORIZED",
        ),
        (
            "an empty key",
            runs().with("authorization", "Bearer "),
            401,
            "UNAUTHORIZED",
        ),
        (
            "an empty header",
            runs().with("authorization", ""),
            401,
            "UNAUTHORIZED",
        ),
        (
            "a key that is not ASCII",
            runs().with("authorization", b"Bearer \xff\xfe"),
            401,
            "UNAUTHORIZED",
        ),
        (
            "a key of no known shape",
            runs().key("nonsense"),
            401,
            "UNAUTHORIZED",
        ),
        (
            "an unknown key",
            runs().key("wk_00000000000000000000000000000000_00"),
            401,
            "UNAUTHORIZED",
        ),
        (
            "a wrong secret",
            runs().key(&wrong_secret),
            401,
            "UNAUTHORIZED",
        ),
        (
            "a path for an id",
            runs().key("wk_../../etc_x"),
            401,
            "UNAUTHORIZED",
        ),
        (
            "two keys",
            runs().key(&server.runs).key(&server.runs),
            401,
            "UNAUTHORIZED",
        ),
        (
            "a key in the address",
            get(&format!("/v1/runs?access_token={}", server.runs)),
            401,
            "UNAUTHORIZED",
        ),
        (
            "a key in any field",
            get(&format!("/v1/runs?kind={}", server.runs)),
            401,
            "UNAUTHORIZED",
        ),
        (
            "a key in the address beside a good one",
            get(&format!("/v1/runs?api_key={}", server.runs)).key(&server.runs),
            401,
            "UNAUTHORIZED",
        ),
        (
            "a key in another scope",
            runs().key(&server.probe),
            403,
            "FORBIDDEN",
        ),
        (
            "keys need admin",
            get("/v1/keys").key(&server.runs),
            403,
            "FORBIDDEN",
        ),
        (
            "metrics need a scope",
            get("/v1/metrics").key(&server.runs),
            403,
            "FORBIDDEN",
        ),
        (
            "root sees metrics",
            get("/v1/metrics").key(&server.root),
            200,
            "",
        ),
        ("root sees keys", get("/v1/keys").key(&server.root), 200, ""),
    ];
    check(&server, cases).await;
}

#[tokio::test]
async fn from_where() {
    let server = patient().await;
    let echo = || echo(&server);
    let cases = vec![
        ("loopback name", echo().host("localhost"), 200, ""),
        (
            "loopback address and port",
            echo().host("127.0.0.1:9"),
            200,
            "",
        ),
        ("loopback v6", echo().host("[::1]:9"), 200, ""),
        ("an allowed name", echo().host("API.example"), 200, ""),
        (
            "another name",
            echo().host("evil.example"),
            403,
            "FORBIDDEN",
        ),
        (
            "a name that begins well",
            echo().host("localhost.evil.example"),
            403,
            "FORBIDDEN",
        ),
        (
            "a name with a user",
            echo().host("localhost@evil.example"),
            403,
            "FORBIDDEN",
        ),
        (
            "the unspecified address",
            echo().host("0.0.0.0"),
            403,
            "FORBIDDEN",
        ),
        ("an empty host", echo().host(""), 403, "FORBIDDEN"),
        ("no host", echo().without("host"), 400, "INVALID_INPUT"),
        (
            "two hosts",
            echo().with("host", "localhost"),
            400,
            "INVALID_INPUT",
        ),
        (
            "another name for health",
            get("/v1/health").host("evil.example"),
            403,
            "FORBIDDEN",
        ),
        ("no origin", echo(), 200, ""),
        (
            "a loopback page",
            echo().with("origin", "http://localhost:5173"),
            200,
            "",
        ),
        (
            "an allowed page",
            echo().with("origin", "https://app.example"),
            200,
            "",
        ),
        (
            "another page",
            echo().with("origin", "https://evil.example"),
            403,
            "FORBIDDEN",
        ),
        (
            "an allowed page without TLS",
            echo().with("origin", "http://app.example"),
            403,
            "FORBIDDEN",
        ),
        (
            "a hidden page",
            echo().with("origin", "null"),
            403,
            "FORBIDDEN",
        ),
        (
            "two origins",
            echo()
                .with("origin", "null")
                .with("origin", "http://localhost"),
            403,
            "FORBIDDEN",
        ),
        (
            "another page for mcp",
            post("/mcp", "{}").with("origin", "https://evil.example"),
            403,
            "FORBIDDEN",
        ),
    ];
    check(&server, cases).await;
}

#[tokio::test]
async fn paths_and_methods() {
    let server = patient().await;
    let root = |ask: Ask| ask.key(&server.root);
    let cases = vec![
        ("nothing there", root(get("/")), 404, "NOT_FOUND"),
        ("another version", root(get("/v2/runs")), 404, "NOT_FOUND"),
        ("a slash too many", root(get("/v1/runs/")), 404, "NOT_FOUND"),
        ("no mcp mounted", root(post("/mcp", "{}")), 404, "NOT_FOUND"),
        (
            "a dot segment",
            root(get("/v1/../v1/runs")),
            404,
            "NOT_FOUND",
        ),
        (
            "wrong verb on a list",
            root(post("/v1/runs", "{}")),
            405,
            "INVALID_INPUT",
        ),
        (
            "wrong verb on health",
            root(post("/v1/health", "{}")),
            405,
            "INVALID_INPUT",
        ),
        (
            "wrong verb on an action",
            root(get("/v1/runs/run_1/cancel")),
            405,
            "INVALID_INPUT",
        ),
        (
            "wrong verb on keys",
            root(get("/v1/keys").method("PUT")),
            405,
            "INVALID_INPUT",
        ),
        (
            "a verb nobody knows",
            root(get("/v1/runs").method("BREW")),
            405,
            "INVALID_INPUT",
        ),
        (
            "preflight while CORS is off",
            root(get("/v1/runs").method("OPTIONS")),
            405,
            "INVALID_INPUT",
        ),
        (
            "the head of a list",
            root(get("/v1/runs").method("HEAD")),
            200,
            "",
        ),
        (
            "an unknown operation",
            root(call("probe.ecko", json!({}))),
            404,
            "UNKNOWN_OPERATION",
        ),
        (
            "an unknown description",
            root(get("/v1/operations/nope")),
            404,
            "UNKNOWN_OPERATION",
        ),
        (
            "an operation by its tool name",
            root(call("probe_echo", json!({ "text": "x" }))),
            200,
            "",
        ),
        (
            "a run nobody has",
            root(get("/v1/runs/run_1")),
            404,
            "RUN_NOT_FOUND",
        ),
        (
            "a run id with a slash",
            root(get("/v1/runs/a%2Fb")),
            400,
            "INVALID_INPUT",
        ),
        (
            "a run id that climbs",
            root(get("/v1/runs/%2e%2e%2fetc")),
            400,
            "INVALID_INPUT",
        ),
        (
            "a run id that is not text",
            root(get("/v1/runs/%ff")),
            400,
            "INVALID_INPUT",
        ),
        (
            "a run id with a NUL",
            root(get("/v1/runs/a%00b")),
            400,
            "INVALID_INPUT",
        ),
        (
            "events of a run nobody has",
            root(get("/v1/runs/run_1/events")),
            404,
            "RUN_NOT_FOUND",
        ),
        (
            "an artifact of a run nobody has",
            root(get("/v1/runs/run_1/artifacts/a")),
            404,
            "RUN_NOT_FOUND",
        ),
        (
            "cancel a run nobody has",
            root(post("/v1/runs/run_1/cancel", "{}")),
            404,
            "RUN_NOT_FOUND",
        ),
        (
            "approve a run nobody has",
            root(post("/v1/runs/run_1/approve", "")),
            404,
            "RUN_NOT_FOUND",
        ),
        (
            "revoke a key nobody has",
            root(get("/v1/keys/key_1").method("DELETE")),
            404,
            "NOT_FOUND",
        ),
        (
            "two runs at once",
            root(post("/v1/runs/run_1/cancel", r#"{"run_id":"run_2"}"#)),
            400,
            "INVALID_INPUT",
        ),
        (
            "a long address",
            root(get(&format!("/v1/runs?kind={}", "a".repeat(9000)))),
            414,
            "INVALID_INPUT",
        ),
        (
            "large headers",
            root(get("/v1/runs").with("x-filler", "a".repeat(33_000))),
            431,
            "INVALID_INPUT",
        ),
    ];
    check(&server, cases).await;
}
