//! Bad and odd requests to the real HTTP API: exact status and code for each, and the same
//! process still answers after each.

use serde_json::{Value, json};

use super::support::{
    binary::{Daemon, free_address, say},
    home::Place,
    http::{Ask, send_raw},
};

/// So that the table, not the limits, decides.
const SETTINGS: &str = "
[limits.tiers.standard]
per_minute = 100000
concurrency = 64
[limits.tiers.anonymous]
per_minute = 100000
concurrency = 64
";

/// A daemon that asks for keys, and two of them.
struct Server {
    daemon: Daemon,
    /// May do everything.
    root: String,
    /// May look at runs.
    runs: String,
    _place: Place,
}

impl Server {
    fn start() -> Self {
        let place = Place::new();
        let home = place.home();
        fs_err::write(home.join("config.toml"), SETTINGS).unwrap();
        let create = |scope: &str| {
            let said = say(&home, &["keys", "create", "test", "--scope", scope]).worked();
            said.stdout.trim().to_owned()
        };
        let (root, runs) = (create("*"), create("runs"));
        let mut daemon = Daemon::spawn(&home, free_address(), &[]);
        daemon.wait_until_ready();
        Self {
            daemon,
            root,
            runs,
            _place: place,
        }
    }

    fn with_key(&self, ask: Ask) -> Ask {
        ask.with("authorization", format!("Bearer {}", self.root))
    }

    fn assert_up(&self, after: &str) {
        let reply = Ask::get("/v1/health").send(self.daemon.address);
        assert!(
            reply.as_ref().is_ok_and(|reply| reply.status == 200),
            "after {after}: {reply:?}"
        );
    }

    /// Sends every request and compares status and code; the answer to each is an envelope.
    fn check(&self, table: &[(&str, Ask, u16, &str)]) {
        let mut wrong = Vec::new();
        for (title, ask, status, code) in table {
            let reply = match ask.send(self.daemon.address) {
                Ok(reply) => reply,
                Err(error) => {
                    wrong.push(format!("{title}: no answer: {error}"));
                    continue;
                }
            };
            let found = reply.json()["error"]["code"].clone();
            let found = found.as_str().unwrap_or_default();
            if (reply.status, found) != (*status, *code) {
                wrong.push(format!(
                    "{title}: {} {found:?}, not {status} {code:?}: {}",
                    reply.status,
                    reply.text()
                ));
            }
            if !found.is_empty() && reply.json()["error"]["message"].as_str().is_none_or(str::is_empty) {
                wrong.push(format!("{title}: a refusal without words: {}", reply.text()));
            }
            self.assert_up(title);
        }
        let list = wrong.join("\n");
        assert!(wrong.is_empty(), "{} of {} wrong:\n{list}", wrong.len(), table.len());
    }
}

fn nested(depth: usize) -> String {
    format!(r#"{{"cursor":{}{}}}"#, "[".repeat(depth), "]".repeat(depth))
}

#[test]
fn bodies() {
    let server = Server::start();
    let bad: Vec<(&str, Vec<u8>)> = vec![
        ("an opening brace", b"{".to_vec()),
        ("an unended string", br#"{"kind":"demo"#.to_vec()),
        ("an unended object", br#"{"limit":1"#.to_vec()),
        ("a trailing comma", br#"{"limit":1,}"#.to_vec()),
        ("a leading comma", br#"{,"limit":1}"#.to_vec()),
        ("a comment", br#"{"limit":1} // all"#.to_vec()),
        ("a comment inside", br#"{/* all */"limit":1}"#.to_vec()),
        ("bare words", b"{limit:1}".to_vec()),
        ("single quotes", b"{'limit':1}".to_vec()),
        ("NaN", br#"{"limit":NaN}"#.to_vec()),
        ("Infinity", br#"{"limit":Infinity}"#.to_vec()),
        ("a leading zero", br#"{"limit":01}"#.to_vec()),
        ("a leading plus", br#"{"limit":+1}"#.to_vec()),
        ("hexadecimal", br#"{"limit":0x10}"#.to_vec()),
        ("a bare point", br#"{"limit":1.}"#.to_vec()),
        ("a number beyond all", br#"{"limit":1e400}"#.to_vec()),
        ("a lone high surrogate", br#"{"kind":"\ud800"}"#.to_vec()),
        ("a lone low surrogate", br#"{"kind":"\udc00x"}"#.to_vec()),
        ("a short escape", br#"{"kind":"\u12"}"#.to_vec()),
        ("an unknown escape", br#"{"kind":"\x41"}"#.to_vec()),
        ("a raw control character", b"{\"kind\":\"a\x01b\"}".to_vec()),
        ("a raw line break", b"{\"kind\":\"a\nb\"}".to_vec()),
        ("a NUL byte", b"{\"kind\":\"a\0b\"}".to_vec()),
        ("only NUL bytes", vec![0; 32]),
        ("a byte order mark", b"\xef\xbb\xbf{}".to_vec()),
        ("UTF-16", b"\xff\xfe{\0}\0".to_vec()),
        ("a stray byte", b"{\"kind\":\"\xff\"}".to_vec()),
        ("an overlong encoding", b"{\"kind\":\"\xc0\x80\"}".to_vec()),
        ("an encoded surrogate", b"{\"kind\":\"\xed\xa0\x80\"}".to_vec()),
        ("two documents", b"{}{}".to_vec()),
        ("something behind", b"{} x".to_vec()),
        ("nested too deeply", nested(10_000).into_bytes()),
        ("nested far too deeply", nested(400_000).into_bytes()),
        ("opened and never closed", vec![b'['; 500_000]),
        ("a list", b"[]".to_vec()),
        ("a list of inputs", b"[{},{}]".to_vec()),
        ("null", b"null".to_vec()),
        ("a number", b"7".to_vec()),
        ("a text", br#""{}""#.to_vec()),
        ("a field that is unknown", br#"{"limits":1}"#.to_vec()),
        ("a field in another case", br#"{"Limit":1}"#.to_vec()),
        ("a text for a number", br#"{"limit":"1"}"#.to_vec()),
        ("a list for a number", br#"{"limit":[1]}"#.to_vec()),
        ("null for a number", br#"{"limit":null}"#.to_vec()),
        ("a truth for a number", br#"{"limit":true}"#.to_vec()),
        ("less than nothing", br#"{"limit":-1}"#.to_vec()),
        ("a fraction", br#"{"limit":1.5}"#.to_vec()),
        ("an exponent", br#"{"limit":1e1}"#.to_vec()),
        ("more than allowed", br#"{"limit":1000000}"#.to_vec()),
        ("more than a word holds", br#"{"limit":18446744073709551616}"#.to_vec()),
        ("an unknown state", br#"{"states":["asleep"]}"#.to_vec()),
        ("a text for a list", br#"{"states":"queued"}"#.to_vec()),
        ("a form", b"limit=1".to_vec()),
        ("XML", b"<limit>1</limit>".to_vec()),
    ];
    let mut table: Vec<(&str, Ask, u16, &str)> = bad
        .into_iter()
        .map(|(title, body)| {
            let ask = Ask::post("/v1/operations/runs.list", body);
            (title, server.with_key(ask), 400, "INVALID_INPUT")
        })
        .collect();
    let good: [(&str, &[u8]); 5] = [
        ("nothing at all", b""),
        ("an empty object", b"{}"),
        ("blanks around", b" \r\n\t{ } \n"),
        ("an escaped name", br#"{"\u006cimit":1}"#),
        ("a name twice: the last counts", br#"{"limit":0,"limit":1}"#),
    ];
    table.extend(good.into_iter().map(|(title, body)| {
        let ask = Ask::post("/v1/operations/runs.list", body);
        (title, server.with_key(ask), 200, "")
    }));
    server.check(&table);
}

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
        ("no key for mcp", Ask::post("/mcp", "{}"), 401, "UNAUTHORIZED"),
        ("no key for nothing", Ask::get("/nowhere"), 401, "UNAUTHORIZED"),
        ("a key of another place", bearer("wk_0123456789abcdef0123456789abcdef_0123"), 401, "UNAUTHORIZED"),
        ("a key of no shape", bearer("letmein"), 401, "UNAUTHORIZED"),
        ("a wrong secret", bearer(&wrong_secret), 401, "UNAUTHORIZED"),
        ("an empty key", bearer(""), 401, "UNAUTHORIZED"),
        ("a long key", bearer(&"k".repeat(4000)), 401, "UNAUTHORIZED"),
        ("a key that is no text", Ask::get("/v1/runs").with("authorization", b"Bearer \xff\xfe"), 401, "UNAUTHORIZED"),
        ("another scheme", Ask::get("/v1/runs").with("authorization", "Basic cm9vdDpyb290"), 401, "UNAUTHORIZED"),
        ("a key in the address", Ask::get(&format!("/v1/runs?key={}", server.root)), 400, "INVALID_INPUT"),
        ("a scope too small", bearer(&server.runs).with("x", "y"), 200, ""),
        ("a key for less", Ask::get("/v1/keys").with("authorization", format!("Bearer {}", server.runs)), 403, "FORBIDDEN"),
        ("a change with a key for less", Ask::post("/v1/operations/demo.plan", "{}").with("authorization", format!("Bearer {}", server.runs)), 403, "FORBIDDEN"),
        ("another host", key(list()).with("host", "evil.example"), 403, "FORBIDDEN"),
        ("a host that begins well", key(list()).with("host", "127.0.0.1.evil.example"), 403, "FORBIDDEN"),
        ("an empty host", key(list()).with("host", ""), 403, "FORBIDDEN"),
        ("two hosts", key(list()).with("host", "localhost").with("host", "localhost"), 400, "INVALID_INPUT"),
        ("another host for health", Ask::get("/v1/health").with("host", "evil.example"), 403, "FORBIDDEN"),
        ("another page", key(list()).with("origin", "https://evil.example"), 403, "FORBIDDEN"),
        ("a hidden page", key(list()).with("origin", "null"), 403, "FORBIDDEN"),
        ("another page for mcp", key(Ask::post("/mcp", "{}")).with("origin", "http://evil.example"), 403, "FORBIDDEN"),
        ("the root", key(Ask::get("/")), 404, "NOT_FOUND"),
        ("another version", key(Ask::get("/v2/runs")), 404, "NOT_FOUND"),
        ("a slash too many", key(Ask::get("/v1/runs/")), 404, "NOT_FOUND"),
        ("two slashes", key(Ask::get("//v1//runs")), 404, "NOT_FOUND"),
        ("climbing", key(Ask::get("/v1/../../etc/passwd")), 404, "NOT_FOUND"),
        ("climbing, encoded", key(Ask::get("/v1/runs/%2e%2e%2f%2e%2e%2fetc%2fpasswd")), 400, "INVALID_INPUT"),
        ("a broken escape", key(Ask::get("/v1/runs/%zz")), 400, "INVALID_INPUT"),
        ("a NUL in the path", key(Ask::get("/v1/runs/run_%00")), 400, "INVALID_INPUT"),
        ("no text in the path", key(Ask::get("/v1/runs/%ff%fe")), 400, "INVALID_INPUT"),
        ("a long path", key(Ask::get(&format!("/v1/runs/{}", "x".repeat(20_000)))), 414, "INVALID_INPUT"),
        ("a run nobody has", key(Ask::get("/v1/runs/run_0123456789abcdef0123456789abcdef")), 404, "RUN_NOT_FOUND"),
        ("events of no run", key(Ask::get("/v1/runs/run_1/events").with("accept", "text/event-stream")), 404, "RUN_NOT_FOUND"),
        ("a bad event id", key(Ask::get("/v1/runs/run_1/events").with("accept", "text/event-stream").with("last-event-id", "x")), 400, "INVALID_INPUT"),
        ("an artifact of no run", key(Ask::get("/v1/runs/run_1/artifacts/report.json")), 404, "RUN_NOT_FOUND"),
        ("an unknown operation", key(Ask::post("/v1/operations/runs.lisst", "{}")), 404, "UNKNOWN_OPERATION"),
        ("no operation", key(Ask::post("/v1/operations/", "{}")), 404, "NOT_FOUND"),
        ("a query nobody knows", key(Ask::get("/v1/runs?colour=red")), 400, "INVALID_INPUT"),
        ("a query of another type", key(Ask::get("/v1/runs?limit=many")), 400, "INVALID_INPUT"),
        ("a query twice", key(Ask::get("/v1/runs?limit=1&limit=2")), 400, "INVALID_INPUT"),
        ("another method", key(Ask::new("DELETE", "/v1/runs")), 405, "INVALID_INPUT"),
        ("a method nobody knows", key(Ask::new("BREW", "/v1/runs")), 405, "INVALID_INPUT"),
        ("looking at a call", key(Ask::get("/v1/runs/run_1/cancel")), 405, "INVALID_INPUT"),
        ("a body for health", Ask::post("/v1/health", "{}"), 405, "INVALID_INPUT"),
        ("a plain text", key(plain("text/plain")), 415, "INVALID_INPUT"),
        ("a form", key(plain("application/x-www-form-urlencoded")), 415, "INVALID_INPUT"),
        ("another character set", key(plain("application/json; charset=utf-16")), 415, "INVALID_INPUT"),
        ("a nameless type", key(plain("")), 415, "INVALID_INPUT"),
        ("a body of no type", key(list().without("content-type")), 415, "INVALID_INPUT"),
        ("a packed body", key(list()).with("content-encoding", "gzip"), 415, "INVALID_INPUT"),
        ("XML would be liked", key(list()).with("accept", "application/xml"), 200, ""),
        ("a body too large", key(Ask::post("/v1/operations/runs.list", large)), 413, "PAYLOAD_TOO_LARGE"),
        ("large headers", key(list()).with("x-large", "x".repeat(100_000)), 431, "INVALID_INPUT"),
        ("good after all", key(list()), 200, ""),
    ]);
}

/// Bytes that are hardly HTTP. Whatever the answer, it is a refusal, and others are served.
#[test]
fn bytes() {
    let server = Server::start();
    let table: [(&str, Vec<u8>, &[u16]); 17] = [
        ("nonsense", b"hello\r\n\r\n".to_vec(), &[400]),
        ("empty lines first", b"\r\n\r\nhello\r\n\r\n".to_vec(), &[400]),
        ("no version", b"GET /v1/health\r\n\r\n".to_vec(), &[400]),
        ("an old version", b"GET /v1/health HTTP/0.9\r\n\r\n".to_vec(), &[400]),
        ("a later version", b"GET /v1/health HTTP/3.0\r\n\r\n".to_vec(), &[400]),
        ("no host", b"GET /v1/health HTTP/1.1\r\n\r\n".to_vec(), &[400]),
        ("a header without a colon", b"GET /v1/health HTTP/1.1\r\nhost\r\n\r\n".to_vec(), &[400]),
        ("a header with a NUL", b"GET /v1/health HTTP/1.1\r\nhost: local\0host\r\n\r\n".to_vec(), &[400]),
        ("a folded header", b"GET /v1/health HTTP/1.1\r\nhost: localhost\r\n more\r\n\r\n".to_vec(), &[400]),
        ("a blank before the colon", b"GET /v1/health HTTP/1.1\r\nhost : localhost\r\n\r\n".to_vec(), &[400]),
        ("a path with a blank", b"GET /v1/he alth HTTP/1.1\r\nhost: localhost\r\n\r\n".to_vec(), &[400]),
        ("a length that is no number", b"POST /v1/operations/runs.list HTTP/1.1\r\nhost: localhost\r\ncontent-length: ten\r\n\r\n{}".to_vec(), &[400]),
        ("two lengths", b"POST /v1/operations/runs.list HTTP/1.1\r\nhost: localhost\r\ncontent-length: 2\r\ncontent-length: 3\r\n\r\n{}x".to_vec(), &[400]),
        ("an unknown encoding", b"POST /v1/operations/runs.list HTTP/1.1\r\nhost: localhost\r\ntransfer-encoding: cow\r\n\r\n{}".to_vec(), &[400]),
        ("too many headers", many_headers(500), &[400, 431]),
        ("a TLS greeting", b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03".repeat(20), &[400]),
        ("a path of all bytes", (0..=255_u8).collect(), &[400]),
    ];
    for (title, bytes, statuses) in table {
        let status = send_raw(server.daemon.address, &bytes).map(|reply| reply.status);
        let fits = status.as_ref().is_ok_and(|status| statuses.contains(status));
        assert!(fits, "{title}: {status:?}");
        server.assert_up(title);
    }
}

fn many_headers(count: usize) -> Vec<u8> {
    let mut bytes = b"GET /v1/health HTTP/1.1\r\nhost: localhost\r\n".to_vec();
    for number in 0..count {
        bytes.extend(format!("x-{number}: {number}\r\n").bytes());
    }
    bytes.extend(b"\r\n");
    bytes
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
        ("a session that never was", mcp().with("mcp-session-id", "never"), 404, Value::Null),
        ("JSON only", mcp().without("accept").with("accept", "application/json"), 406, Value::Null),
        ("HTML only", mcp().without("accept").with("accept", "text/html"), 406, Value::Null),
        ("plain text", mcp().without("content-type").with("content-type", "text/plain"), 415, Value::Null),
        ("an unknown version", modern("2099-01-01", "tools/list"), 400, json!(-32022)),
        ("another method in the header", modern("2026-07-28", "tools/call"), 400, json!(-32020)),
        ("good", modern("2026-07-28", "tools/list"), 200, Value::Null),
        ("another verb", server.with_key(Ask::new("PUT", "/mcp")), 405, Value::Null),
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
