//! Requests to the real HTTP surfaces that are well-formed and wrong: callers, hosts, paths,
//! methods, types, sizes. Exact status and code for each.

use serde_json::{Value, json};

use super::support::{http::Ask, keyed::Server};

#[test]
fn requests() {
    let server = Server::start();
    let key = |ask: Ask| server.with_key(ask);
    let list = || Ask::post("/v1/operations/runs.list", "{}");
    let plain = |kind: &str| list().without("content-type").with("content-type", kind);
    let bearer = |key: &str| Ask::get("/v1/runs").with("authorization", format!("Bearer {key}"));
    let wrong_secret = format!("{}x", &server.root[..server.root.len() - 1]);
    let large = vec![b' '; 32 * 1024 * 1024];
    server.check(&[
        ("no key", Ask::get("/v1/runs"), 401, "UNAUTHORIZED"),
        ("no key for a call", list(), 401, "UNAUTHORIZED"),
        (
            "no key for mcp",
            Ask::post("/mcp", "{}"),
            401,
            "UNAUTHORIZED",
        ),
        (
            "no key for nothing",
            Ask::get("/nowhere"),
            401,
            "UNAUTHORIZED",
        ),
        (
            "a key of another place",
            bearer("wk_0123456789abcdef0123456789abcdef_0123"),
            401,
            "UNAUTHORIZED",
        ),
        ("a key of no shape", bearer("letmein"), 401, "UNAUTHORIZED"),
        ("a wrong secret", bearer(&wrong_secret), 401, "UNAUTHORIZED"),
        ("an empty key", bearer(""), 401, "UNAUTHORIZED"),
        ("a long key", bearer(&"k".repeat(4000)), 401, "UNAUTHORIZED"),
        (
            "a key that is no text",
            Ask::get("/v1/runs").with("authorization", b"Bearer \xff\xfe"),
            401,
            "UNAUTHORIZED",
        ),
        (
            "another scheme",
            Ask::get("/v1/runs").with("authorization", "Basic cm9vdDpyb290"),
            401,
            "UNAUTHORIZED",
        ),
        (
            "a key in the address",
            Ask::get(&format!("/v1/runs?key={}", server.root)),
            401,
            "UNAUTHORIZED",
        ),
        (
            "a scope too small",
            bearer(&server.runs).with("x", "y"),
            200,
            "",
        ),
        (
            "a key for less",
            Ask::get("/v1/keys").with("authorization", format!("Bearer {}", server.runs)),
            403,
            "FORBIDDEN",
        ),
        (
            "a change with a key for less",
            Ask::post("/v1/operations/demo.plan", "{}")
                .with("authorization", format!("Bearer {}", server.runs)),
            403,
            "FORBIDDEN",
        ),
        (
            "another host",
            key(list()).with("host", "evil.example"),
            403,
            "FORBIDDEN",
        ),
        (
            "a host that begins well",
            key(list()).with("host", "127.0.0.1.evil.example"),
            403,
            "FORBIDDEN",
        ),
        (
            "an empty host",
            key(list()).with("host", ""),
            403,
            "FORBIDDEN",
        ),
        (
            "two hosts",
            key(list())
                .with("host", "localhost")
                .with("host", "localhost"),
            400,
            "INVALID_INPUT",
        ),
        (
            "another host for health",
            Ask::get("/v1/health").with("host", "evil.example"),
            403,
            "FORBIDDEN",
        ),
        (
            "another page",
            key(list()).with("origin", "https://evil.example"),
            403,
            "FORBIDDEN",
        ),
        (
            "a hidden page",
            key(list()).with("origin", "null"),
            403,
            "FORBIDDEN",
        ),
        (
            "another page for mcp",
            key(Ask::post("/mcp", "{}")).with("origin", "http://evil.example"),
            403,
            "FORBIDDEN",
        ),
        ("the root", key(Ask::get("/")), 404, "NOT_FOUND"),
        (
            "another version",
            key(Ask::get("/v2/runs")),
            404,
            "NOT_FOUND",
        ),
        (
            "a slash too many",
            key(Ask::get("/v1/runs/")),
            404,
            "NOT_FOUND",
        ),
        ("two slashes", key(Ask::get("//v1//runs")), 404, "NOT_FOUND"),
        (
            "climbing",
            key(Ask::get("/v1/../../etc/passwd")),
            404,
            "NOT_FOUND",
        ),
        (
            "climbing, encoded",
            key(Ask::get("/v1/runs/%2e%2e%2f%2e%2e%2fetc%2fpasswd")),
            400,
            "INVALID_INPUT",
        ),
        (
            "a broken escape",
            key(Ask::get("/v1/runs/%zz")),
            400,
            "INVALID_INPUT",
        ),
        (
            "a NUL in the path",
            key(Ask::get("/v1/runs/run_%00")),
            400,
            "INVALID_INPUT",
        ),
        (
            "no text in the path",
            key(Ask::get("/v1/runs/%ff%fe")),
            400,
            "INVALID_INPUT",
        ),
        (
            "a long path",
            key(Ask::get(&format!("/v1/runs/{}", "x".repeat(20_000)))),
            414,
            "INVALID_INPUT",
        ),
        (
            "a run nobody has",
            key(Ask::get("/v1/runs/run_0123456789abcdef0123456789abcdef")),
            404,
            "RUN_NOT_FOUND",
        ),
        (
            "events of no run",
            key(Ask::get("/v1/runs/run_1/events").with("accept", "text/event-stream")),
            404,
            "RUN_NOT_FOUND",
        ),
        (
            "a bad event id",
            key(Ask::get("/v1/runs/run_1/events")
                .with("accept", "text/event-stream")
                .with("last-event-id", "x")),
            400,
            "INVALID_INPUT",
        ),
        (
            "an artifact of no run",
            key(Ask::get("/v1/runs/run_1/artifacts/report.json")),
            404,
            "RUN_NOT_FOUND",
        ),
        (
            "an unknown operation",
            key(Ask::post("/v1/operations/runs.lisst", "{}")),
            404,
            "UNKNOWN_OPERATION",
        ),
        (
            "no operation",
            key(Ask::post("/v1/operations/", "{}")),
            404,
            "NOT_FOUND",
        ),
        (
            "a query nobody knows",
            key(Ask::get("/v1/runs?colour=red")),
            400,
            "INVALID_INPUT",
        ),
        (
            "a query of another type",
            key(Ask::get("/v1/runs?limit=many")),
            400,
            "INVALID_INPUT",
        ),
        (
            "a query twice",
            key(Ask::get("/v1/runs?limit=1&limit=2")),
            400,
            "INVALID_INPUT",
        ),
        (
            "another method",
            key(Ask::new("DELETE", "/v1/runs")),
            405,
            "INVALID_INPUT",
        ),
        (
            "a method nobody knows",
            key(Ask::new("BREW", "/v1/runs")),
            405,
            "INVALID_INPUT",
        ),
        (
            "looking at a call",
            key(Ask::get("/v1/runs/run_1/cancel")),
            405,
            "INVALID_INPUT",
        ),
        (
            "a body for health",
            Ask::post("/v1/health", "{}"),
            405,
            "INVALID_INPUT",
        ),
        (
            "a plain text",
            key(plain("text/plain")),
            415,
            "INVALID_INPUT",
        ),
        (
            "a form",
            key(plain("application/x-www-form-urlencoded")),
            415,
            "INVALID_INPUT",
        ),
        (
            "another character set",
            key(plain("application/json; charset=utf-16")),
            415,
            "INVALID_INPUT",
        ),
        ("a nameless type", key(plain("")), 415, "INVALID_INPUT"),
        (
            "a body of no type",
            key(list().without("content-type")),
            415,
            "INVALID_INPUT",
        ),
        (
            "a packed body",
            key(list()).with("content-encoding", "gzip"),
            415,
            "INVALID_INPUT",
        ),
        (
            "XML would be liked",
            key(list()).with("accept", "application/xml"),
            200,
            "",
        ),
        (
            "a body too large",
            key(Ask::post("/v1/operations/runs.list", large)),
            413,
            "PAYLOAD_TOO_LARGE",
        ),
        (
            "large headers",
            key(list()).with("x-large", "x".repeat(100_000)),
            431,
            "INVALID_INPUT",
        ),
        ("good after all", key(list()), 200, ""),
    ]);
}

/// The MCP endpoint's own headers.
#[test]
fn mcp_requests() {
    let server = Server::start();
    let ping = json!({ "jsonrpc": "2.0", "id": 1, "method": "ping" });
    let mcp = || {
        let ask = Ask::post("/mcp", ping.to_string());
        server.with_key(ask.with("accept", "application/json, text/event-stream"))
    };
    let modern = |version: &str, header: &str| {
        let body = json!({
            "jsonrpc": "2.0", "id": 1, "method": "tools/list",
            "params": { "_meta": {
                "io.modelcontextprotocol/protocolVersion": version,
                "io.modelcontextprotocol/clientCapabilities": {},
            } },
        });
        let mut ask = mcp().with("mcp-protocol-version", version);
        ask.body = body.to_string().into_bytes();
        ask.with("mcp-method", header)
    };
    let table: Vec<(&str, Ask, u16, Value)> = vec![
        ("no session", mcp(), 400, json!(-32600)),
        (
            "a session that never was",
            mcp().with("mcp-session-id", "never"),
            404,
            Value::Null,
        ),
        (
            "JSON only",
            mcp().without("accept").with("accept", "application/json"),
            406,
            Value::Null,
        ),
        (
            "HTML only",
            mcp().without("accept").with("accept", "text/html"),
            406,
            Value::Null,
        ),
        (
            "plain text",
            mcp()
                .without("content-type")
                .with("content-type", "text/plain"),
            415,
            Value::Null,
        ),
        (
            "an unknown version",
            modern("2099-01-01", "tools/list"),
            400,
            json!(-32022),
        ),
        (
            "another method in the header",
            modern("2026-07-28", "tools/call"),
            400,
            json!(-32020),
        ),
        ("good", modern("2026-07-28", "tools/list"), 200, Value::Null),
        (
            "another verb",
            server.with_key(Ask::new("PUT", "/mcp")),
            405,
            Value::Null,
        ),
    ];
    for (title, ask, status, code) in table {
        let reply = ask.send(server.daemon.address).unwrap();
        let found = reply.json()["error"]["code"].clone();
        assert_eq!(reply.status, status, "{title}: {}", reply.text());
        if !code.is_null() {
            assert_eq!(found, code, "{title}: {}", reply.text());
        }
        server.assert_up(title);
    }
}
