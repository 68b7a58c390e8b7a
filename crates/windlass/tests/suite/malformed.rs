//! Bad and odd messages to the real MCP server, on stdio and over HTTP: the exact code for each,
//! and the same process still answers after each.

use serde_json::{Value, json};
use windlass_testkit::malformed::{Case, Want, all};

use super::support::{
    binary::Daemon,
    home::Place,
    http::{Ask, Reply},
    mcp::{McpProcess, initialize, modern_meta},
};

const LARGEST_LINE: usize = 10 * 1024 * 1024;

/// The table, with a tool this server has in place of the one it does not.
fn cases() -> Vec<Case> {
    let mut cases = all();
    for case in &mut cases {
        if let Ok(text) = std::str::from_utf8(&case.input) {
            case.input = text.replace(r#""echo""#, r#""runs_list""#).into_bytes();
        }
    }
    cases
}

fn show(input: &[u8]) -> String {
    String::from_utf8_lossy(&input[..input.len().min(200)]).into_owned()
}

fn error_of(messages: &[Value]) -> Option<(i64, String)> {
    let [message] = messages else { return None };
    let code = message["error"]["code"].as_i64()?;
    Some((code, message["id"].to_string()))
}

fn is_result(messages: &[Value], id: &str) -> bool {
    let id: Value = serde_json::from_str(id).unwrap();
    matches!(messages, [message] if message.get("result").is_some() && message["id"] == id)
}

fn assert_none(wrong: &[String], of: usize) {
    let list = wrong.join("\n");
    assert!(wrong.is_empty(), "{} of {of} wrong:\n{list}", wrong.len());
}

#[test]
fn the_table_on_stdio() {
    let place = Place::new();
    let mut server = McpProcess::initialized(&place.home(), "2025-06-18");
    let mut wrong = Vec::new();
    let cases = cases();
    assert!(cases.len() >= 200, "{} cases", cases.len());
    for (number, case) in cases.iter().enumerate() {
        server.send(&case.input);
        let answers = usize::from(matches!(case.want, Want::Error(..) | Want::Result(_)));
        let said = server.until_up(&format!("after {number}"), "ping", answers);
        let fits = match case.want {
            Want::Error(code, id) => error_of(&said) == Some((code, id.to_owned())),
            Want::Result(id) => is_result(&said, id),
            Want::Silent | Want::Ignored => said.is_empty(),
        };
        if !fits {
            let input = show(&case.input);
            wrong.push(format!("{:?} for {input}\n   got {said:?}", case.want));
        }
    }
    assert_none(&wrong, cases.len());
    assert_eq!(server.close(), Some(0));
}

/// A client of `/mcp` in a session.
struct Session<'a> {
    daemon: &'a Daemon,
    headers: Vec<(&'static str, String)>,
}

impl<'a> Session<'a> {
    fn open(daemon: &'a Daemon, version: &str) -> Self {
        let mut session = Self {
            daemon,
            headers: Vec::new(),
        };
        let reply = session.post(initialize("init", version).to_string().as_bytes());
        assert_eq!(reply.status, 200, "{}", reply.text());
        let id = reply.header("mcp-session-id").unwrap().to_owned();
        session.headers.push(("mcp-session-id", id));
        if version != "2025-03-26" {
            let version = version.to_owned();
            session.headers.push(("mcp-protocol-version", version));
        }
        session
    }

    fn ask(&self, body: &[u8]) -> Ask {
        let ask = Ask::post("/mcp", body).with("accept", "application/json, text/event-stream");
        self.headers
            .iter()
            .fold(ask, |ask, (name, value)| ask.with(name, value))
    }

    fn post(&self, body: &[u8]) -> Reply {
        self.ask(body).send(self.daemon.address).unwrap()
    }

    fn assert_up(&self, after: &str) {
        let reply = self.post(br#"{"jsonrpc":"2.0","id":"up","method":"ping"}"#);
        assert!(is_result(&messages(&reply), r#""up""#), "after {after}");
    }
}

/// The messages of an answer, as JSON or as a stream.
fn messages(reply: &Reply) -> Vec<Value> {
    let kind = reply.header("content-type").unwrap_or_default();
    if kind.starts_with("application/json") {
        return vec![reply.json()];
    }
    let text = reply.text();
    let data = text.lines().filter_map(|line| line.strip_prefix("data:"));
    data.filter(|data| !data.trim().is_empty())
        .map(|data| serde_json::from_str(data).unwrap())
        .collect()
}

#[test]
fn the_table_over_http() {
    let place = Place::new();
    let daemon = Daemon::open(&place.home());
    let session = Session::open(&daemon, "2025-06-18");
    let mut wrong = Vec::new();
    let cases = cases();
    for case in &cases {
        let reply = session.post(&case.input);
        let (status, said) = (reply.status, messages(&reply));
        let fits = match case.want {
            Want::Error(code, id) => {
                // A message that is none is a bad request; what a method says is its answer.
                let statuses: &[u16] = if matches!(code, -32700 | -32600) {
                    &[400]
                } else {
                    &[200, 400]
                };
                error_of(&said) == Some((code, id.to_owned())) && statuses.contains(&status)
            }
            Want::Result(id) => status == 200 && is_result(&said, id),
            Want::Silent => status == 202 && reply.body.is_empty(),
            Want::Ignored => matches!(status, 202 | 400),
        };
        if !fits {
            let (input, text) = (show(&case.input), reply.text());
            wrong.push(format!(
                "{:?} for {input}\n   got {status} {text}",
                case.want
            ));
        }
        session.assert_up(&show(&case.input));
    }
    assert_none(&wrong, cases.len());
}

#[test]
fn lines_that_are_no_messages() {
    let place = Place::new();
    let mut server = McpProcess::initialized(&place.home(), "2025-11-25");
    let long = |bytes: usize| {
        let frame = r#"{"jsonrpc":"2.0","id":"long","method":"ping","params":{"x":""}}"#;
        let fill = "x".repeat(bytes - frame.len());
        frame.replace(r#""x":"""#, &format!(r#""x":"{fill}""#))
    };
    let zeros = vec![0; 100_000];
    let table: [(&str, Vec<u8>, &[i64]); 8] = [
        ("an empty line", b"".to_vec(), &[]),
        ("blanks", b"  \t \r".to_vec(), &[]),
        ("many empty lines", b"\n\n\n\r\n\n".to_vec(), &[]),
        ("NUL bytes", zeros, &[-32700]),
        ("as long as allowed", long(LARGEST_LINE).into_bytes(), &[0]),
        (
            "one byte longer",
            long(LARGEST_LINE + 1).into_bytes(),
            &[-32700],
        ),
        ("far too long", vec![b'['; 3 * LARGEST_LINE], &[-32700]),
        ("two lines at once", b"{\n}".to_vec(), &[-32700, -32700]),
    ];
    for (title, line, want) in table {
        server.send(&line);
        let said = server.until_up(title, "tools/list", want.len());
        let codes: Vec<i64> = said
            .iter()
            .map(|message| message["error"]["code"].as_i64().unwrap_or(0))
            .collect();
        assert_eq!(codes, want, "{title}: {said:?}");
    }
    assert_eq!(server.close(), Some(0));
}

#[test]
fn before_initialize() {
    let place = Place::new();
    let mut server = McpProcess::start(&place.home());
    let mut ask = |line: &str| {
        server.send(line.as_bytes());
        let message = server.receive().unwrap();
        message["error"]["code"].as_i64().unwrap_or(0)
    };
    for (line, code) in [
        (r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#, 0),
        (r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#, -32602),
        (
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"runs_list"}}"#,
            -32602,
        ),
        (r#"{"jsonrpc":"2.0","id":1,"method":"nope"}"#, -32601),
        ("{", -32700),
        ("[]", -32600),
        (
            r#"{"jsonrpc":"2.0","id":1,"method":"server/discover"}"#,
            -32602,
        ),
    ] {
        assert_eq!(ask(line), code, "{line}");
    }
    let discover = json!({
        "jsonrpc": "2.0", "id": 1, "method": "server/discover", "params": { "_meta": modern_meta() },
    });
    assert_eq!(ask(&discover.to_string()), 0);
    assert_eq!(ask(&initialize("now", "2025-06-18").to_string()), 0);
    assert!(server.until_up("up", "tools/list", 0).is_empty());
    assert_eq!(server.close(), Some(0));
}

/// One list of messages in every era: answered in 2025-03-26, refused as a whole later.
#[test]
fn batches_in_each_era() {
    let place = Place::new();
    let batch = json!([
        { "jsonrpc": "2.0", "id": 1, "method": "ping" },
        { "jsonrpc": "2.0", "method": "notifications/initialized" },
        { "jsonrpc": "2.0", "id": 2, "method": "no/such" },
        3,
    ]);
    let daemon = Daemon::open(&place.home());
    for version in ["2025-03-26", "2025-06-18", "2025-11-25"] {
        let mut server = McpProcess::initialized(&place.home(), version);
        server.send(batch.to_string().as_bytes());
        let said = server.until_up("up", "ping", 1);
        assert_eq!(server.close(), Some(0));
        let session = Session::open(&daemon, version);
        let reply = session.post(batch.to_string().as_bytes());
        session.assert_up(version);
        if version == "2025-03-26" {
            assert_eq!(reply.status, 200, "{}", reply.text());
            assert_eq!(said.len(), 1, "{said:?}");
            for answers in [said[0].as_array().unwrap(), &messages(&reply)] {
                let mut codes: Vec<_> = answers
                    .iter()
                    .map(|answer| (answer["id"].as_i64(), answer["error"]["code"].as_i64()))
                    .collect();
                codes.sort_unstable();
                let want = [
                    (None, Some(-32600)),
                    (Some(1), None),
                    (Some(2), Some(-32601)),
                ];
                assert_eq!(codes, want, "{answers:?}");
            }
        } else {
            let refused = Some((-32600, "null".to_owned()));
            assert_eq!(error_of(&said), refused, "{version}");
            assert_eq!(error_of(&messages(&reply)), refused, "{version}");
            assert_eq!(reply.status, 400, "{version}");
        }
    }
}

/// Calls of real tools with arguments they do not take: an answer the caller can learn from.
#[test]
fn wrong_arguments_are_results_that_say_so() {
    let place = Place::new();
    let mut server = McpProcess::initialized(&place.home(), "2025-06-18");
    for (tool, arguments) in [
        ("runs_show", json!({})),
        ("runs_show", json!({ "run_id": 7 })),
        ("runs_show", json!({ "run_id": null })),
        ("runs_show", json!({ "run_id": "../../etc/passwd" })),
        ("runs_show", json!({ "run_id": "" })),
        ("runs_show", json!({ "run_id": "x".repeat(10_000) })),
        ("runs_show", json!({ "run_id": "run_1", "extra": true })),
        ("runs_list", json!({ "limit": -1 })),
        ("runs_list", json!({ "limit": 1.5 })),
        ("runs_list", json!({ "limit": 1e300 })),
        ("runs_list", json!({ "limit": "10" })),
        ("runs_list", json!({ "states": "running" })),
        ("runs_list", json!({ "states": ["sleeping"] })),
        (
            "runs_watch",
            json!({ "run_id": "run_1", "wait_seconds": 61 }),
        ),
        ("demo_plan", json!({ "dir": "/no/such/place" })),
        ("demo_plan", json!({ "dir": "a\u{0}b" })),
        ("demo_plan", json!({ "dir": [] })),
        (
            "demo_plan",
            json!({ "dir": place.scratch(), "files": { "../x": "y" } }),
        ),
        (
            "demo_plan",
            json!({ "dir": place.scratch(), "files": { "x": 1 } }),
        ),
        (
            "demo_plan",
            json!({ "dir": place.scratch(), "pause_ms": 1e12 }),
        ),
        (
            "demo_apply",
            json!({ "dir": place.scratch(), "files": { "x": "y" } }),
        ),
        (
            "demo_apply",
            json!({ "dir": place.scratch(), "confirm_token": "wct1.x.y" }),
        ),
        (
            "demo_apply",
            json!({ "dir": place.scratch(), "confirm_token": 1 }),
        ),
        ("admin_keys_create", json!({ "name": "" })),
        ("admin_webhooks_replay", json!({ "delivery_id": "nope" })),
    ] {
        let request = json!({
            "jsonrpc": "2.0", "id": "call", "method": "tools/call",
            "params": { "name": tool, "arguments": arguments },
        });
        server.send(request.to_string().as_bytes());
        let said = server.until_up("up", "ping", 1);
        assert!(
            is_result(&said, r#""call""#),
            "{tool} {arguments}: {said:?}"
        );
        let result = &said[0]["result"];
        assert_eq!(result["isError"], true, "{tool} {arguments}: {said:?}");
        let text = result["content"][0]["text"].as_str().unwrap_or_default();
        assert!(text.len() > 10, "{tool} {arguments}: {said:?}");
    }
    assert_eq!(server.close(), Some(0));
}
