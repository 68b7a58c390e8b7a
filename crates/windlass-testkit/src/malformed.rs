//! Bad and odd input, and what a server in a 2025-06-18 session owes for it.
//!
//! One table for both transports: stdio answers with a line, HTTP with a status and a
//! body, and both with the same code and id. The surface's own tests send it to a server with
//! a tool `echo` that takes anything; for a server without one, the name is replaced.

/// What the input earns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Want {
    /// An error with this code, for this id (as JSON).
    Error(i64, &'static str),
    /// A result for this id (as JSON).
    Result(&'static str),
    /// No answer; it is fine.
    Silent,
    /// No answer, because errors about answers make loops; HTTP may say 400.
    Ignored,
}

use Want::{Error, Ignored, Result, Silent};

/// One input.
pub struct Case {
    /// What is sent.
    pub input: Vec<u8>,
    /// What it earns.
    pub want: Want,
}

const PARSE: i64 = -32700;
const INVALID: i64 = -32600;
const UNKNOWN: i64 = -32601;
const PARAMS: i64 = -32602;

/// The whole table.
pub fn all() -> Vec<Case> {
    let mut cases = Vec::new();
    let mut add = |want: Want, inputs: &[&[u8]]| {
        cases.extend(inputs.iter().map(|input| Case {
            input: input.to_vec(),
            want,
        }));
    };
    not_json(&mut add);
    not_a_request(&mut add);
    odd_ids(&mut add);
    unknown_methods(&mut add);
    bad_params(&mut add);
    unanswered(&mut add);
    odd_but_fine(&mut add);
    cases
}

type Add<'a> = dyn FnMut(Want, &[&[u8]]) + 'a;

fn not_json(add: &mut Add<'_>) {
    add(
        Error(PARSE, "null"),
        &[
            b"{",
            b"}",
            b"]",
            b"{]",
            b"[}",
            b"[",
            b"[1",
            b"[1,",
            b"[1,]",
            b"[,1]",
            b"[1 2]",
            b"[\"a\"",
            br#"{"a"#,
            br#"{"a""#,
            br#"{"a":"#,
            br#"{"a":1"#,
            br#"{"a":1,"#,
            br#"{"a":1,}"#,
            b"{,}",
            b"{:1}",
            br#"{"a" 1}"#,
            br#"{"a"::1}"#,
            br#"{"a":1 "b":2}"#,
            br#"{"a":1;"b":2}"#,
            b"{a:1}",
            b"{'a':1}",
            br#"{"a":'b'}"#,
            b"{1:1}",
            b"{null:1}",
            b"nul",
            b"tru",
            b"falsee",
            b"True",
            b"undefined",
            b"NaN",
            b"Infinity",
            b"-Infinity",
            b"-",
            b"+1",
            b"01",
            b"-01",
            b"1.",
            b".5",
            b"1e",
            b"1e+",
            b"1.e1",
            b"0x10",
            b"1_000",
            b"1e400",
            b"--1",
            b"\"abc",
            b"\"\\x\"",
            b"\"\\u12\"",
            b"\"\\u12g4\"",
            b"\"\\\"",
            b"\"tab\tinside\"",
            b"\"\x01\"",
            br#""\ud800""#,
            br#""\udc00\ud800""#,
            b"'abc'",
            b"`abc`",
            b"abc",
            b"#",
            b"//",
            b"/**/{}",
            b"<xml/>",
            b"---",
            b"Content-Length: 10",
            b"GET / HTTP/1.1",
            b"{}{}",
            b"{} {}",
            b"{},",
            b"{}x",
            b"[]]",
            br#"{"jsonrpc":"2.0","id":1,"method":"ping"}{"jsonrpc":"2.0","id":2,"method":"ping"}"#,
            br#"{"jsonrpc":"2.0","id":1,"method":"ping"},"#,
            br#"{"jsonrpc":"2.0","id":1,"method":"ping" // comment"#,
            br#"{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":}}"#,
            br#"{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":NaN}}"#,
            br#"{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":-Infinity}}"#,
            br#"{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":01}}"#,
            br#"{"jsonrpc":"2.0","id":1,"method":"ping","params":{"a":"b}}"#,
            br#"{"jsonrpc":"2.0","\ud800":1,"id":1,"method":"ping"}"#,
            b"\xff",
            b"\xc0\x80",
            b"\xed\xa0\x80",
            b"\xe2\x82",
            b"\xf4\x90\x80\x80",
            b"\x80",
            b"\"\xff\"",
            b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\xff\"}",
            b"{\0}\0",
            b"\0",
            b"\xfe\xff\0{\0}",
            b"\x0b{}",
            b"\x0c{}",
            b"\xc2\xa0{}",
            b"\xe2\x80\xa8{}",
            b"\xef\xbb\xbf{}",
            b"\x1b[0m",
            b"\x7f",
            nested(
                101,
                "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\",\"params\":{\"a\":",
                "}}",
            )
            .as_bytes(),
            nested(
                128,
                "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\",\"params\":{\"a\":",
                "}}",
            )
            .as_bytes(),
            nested(
                100_000,
                "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\",\"params\":{\"a\":",
                "}}",
            )
            .as_bytes(),
            nested(
                500,
                "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\",\"x\":",
                "}",
            )
            .as_bytes(),
            nested(100_000, "", "").as_bytes(),
            "[".repeat(100_000).as_bytes(),
            "{\"a\":".repeat(100_000).as_bytes(),
        ],
    );
    // The id could be read, so the client learns which of its requests failed.
    add(
        Error(PARSE, "1"),
        &[
            br#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{"a":1e400}}}"#,
            br#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{"a":"\ud800"}}}"#,
            br#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{"\udfff":1}}}"#,
        ],
    );
}

fn not_a_request(add: &mut Add<'_>) {
    add(
        Error(INVALID, "null"),
        &[
            b"1", b"-0", b"1.5", b"1e5", b"null", b"true", b"false", b"\"\"", b"\"ping\"", br#""\u0000""#, b"[]",
            b"[1]", b"[[]]", b"[{}]", b"{}", br#"{"jsonrpc":"2.0"}"#, br#"{"method":"ping"}"#,
            br#"{"jsonrpc":"2.0","method":1}"#, br#"{"jsonrpc":"2.0","method":null}"#,
            br#"{"jsonrpc":"2.0","method":1,"params":"bar"}"#, br#"{"jsonrpc":"2.0","params":{}}"#,
            br#"{"foo":"boo"}"#, br#"{"JSONRPC":"2.0","ID":1,"METHOD":"ping"}"#,
            br#"[{"jsonrpc":"2.0","id":1,"method":"ping"}]"#,
            br#"[{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","id":2,"method":"ping"}]"#,
            br#"[{"jsonrpc":"2.0","method":"notifications/initialized"}]"#,
        ],
    );
    add(
        Error(INVALID, "1"),
        &[
            br#"{"jsonrpc":"2.0","id":1}"#, br#"{"id":1,"method":"ping"}"#, br#"{"jsonrpc":null,"id":1,"method":"ping"}"#,
            br#"{"jsonrpc":2.0,"id":1,"method":"ping"}"#, br#"{"jsonrpc":"2","id":1,"method":"ping"}"#,
            br#"{"jsonrpc":"1.0","id":1,"method":"ping"}"#, br#"{"jsonrpc":"2.0 ","id":1,"method":"ping"}"#,
            br#"{"jsonrpc":["2.0"],"id":1,"method":"ping"}"#, br#"{"jsonrpc":"2.0","id":1,"method":null}"#,
            br#"{"jsonrpc":"2.0","id":1,"method":1}"#, br#"{"jsonrpc":"2.0","id":1,"method":true}"#,
            br#"{"jsonrpc":"2.0","id":1,"method":["ping"]}"#, br#"{"jsonrpc":"2.0","id":1,"method":{}}"#,
            br#"{"jsonrpc":"2.0","id":1,"method":"\ud800"}"#, br#"{"jsonrpc":"2.0","id":1,"Method":"ping"}"#,
            br#"{"jsonrpc":"2.0","id":1,"method":"ping","result":{}}"#,
            br#"{"jsonrpc":"2.0","id":1,"method":"ping","error":{"code":1,"message":"x"}}"#,
            br#"{"jsonrpc":"2.0","id":1,"method":"ping","result":null}"#,
            br#"{"jsonrpc":"2.0","jsonrpc":"2.0","id":1,"method":"ping"}"#,
            br#"{"jsonrpc":"2.0","id":1,"method":"ping","method":"tools/list"}"#,
            br#"{"jsonrpc":"2.0","id":1,"method":"ping","\u006dethod":"ping"}"#,
            br#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo"},"params":{"name":"hang"}}"#,
        ],
    );
}

fn odd_ids(add: &mut Add<'_>) {
    add(
        Error(INVALID, "null"),
        &[
            br#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#,
            br#"{"jsonrpc":"2.0","id":true,"method":"ping"}"#,
            br#"{"jsonrpc":"2.0","id":1.5,"method":"ping"}"#,
            br#"{"jsonrpc":"2.0","id":{},"method":"ping"}"#,
            br#"{"jsonrpc":"2.0","id":[1],"method":"ping"}"#,
            br#"{"jsonrpc":"2.0","id":1e999,"method":"ping"}"#,
            br#"{"jsonrpc":"2.0","id":9223372036854775808,"method":"ping"}"#,
            br#"{"jsonrpc":"2.0","id":-9223372036854775809,"method":"ping"}"#,
            br#"{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}"#,
            br#"{"jsonrpc":"2.0","id":1,"id":1,"method":"ping"}"#,
            br#"{"jsonrpc":"2.0","id":"\ud800","method":"ping"}"#,
        ],
    );
    add(
        Result("0"),
        &[
            br#"{"jsonrpc":"2.0","id":0,"method":"ping"}"#,
            br#"{"jsonrpc":"2.0","id":-0,"method":"ping"}"#,
        ],
    );
    add(
        Result("100"),
        &[
            br#"{"jsonrpc":"2.0","id":1e2,"method":"ping"}"#,
            br#"{"jsonrpc":"2.0","id":100.0,"method":"ping"}"#,
        ],
    );
    add(
        Result("-1"),
        &[br#"{"jsonrpc":"2.0","id":-1,"method":"ping"}"#],
    );
    add(
        Result("9223372036854775807"),
        &[br#"{"jsonrpc":"2.0","id":9223372036854775807,"method":"ping"}"#],
    );
    add(
        Result("-9223372036854775808"),
        &[br#"{"jsonrpc":"2.0","id":-9223372036854775808,"method":"ping"}"#],
    );
    add(
        Result(r#""""#),
        &[br#"{"jsonrpc":"2.0","id":"","method":"ping"}"#],
    );
    add(
        Result(r#""1""#),
        &[
            br#"{"jsonrpc":"2.0","id":"1","method":"ping"}"#,
            br#"{"jsonrpc":"2.0","id":"\u0031","method":"ping"}"#,
        ],
    );
    add(
        Result("\"\u{1f680} \\\"\""),
        &["{\"jsonrpc\":\"2.0\",\"id\":\"\u{1f680} \\\"\",\"method\":\"ping\"}".as_bytes()],
    );
    add(
        Result(r#""\n\u0000""#),
        &[br#"{"jsonrpc":"2.0","id":"\n\u0000","method":"ping"}"#],
    );
}

fn unknown_methods(add: &mut Add<'_>) {
    let methods = [
        "",
        " ",
        "foo",
        "tools",
        "tools/",
        "tools/call/",
        "/tools/list",
        "TOOLS/LIST",
        "Tools/List",
        "tools/list ",
        "tools.list",
        "tools\\/lists",
        "rpc.discover",
        "constructor",
        "__proto__",
        "toString",
        "initialized",
        "notifications/initialized",
        "tasks/list",
        "tasks/result",
        "sampling/createMessage",
        "elicitation/create",
        "roots/list",
        "\\u0000",
        "ping\\u0000",
        "\\ud83d\\ude80",
        "../ping",
        "ping\\n",
    ];
    for method in methods {
        let text = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{method}"}}"#);
        add(Error(UNKNOWN, "1"), &[text.as_bytes()]);
    }
    let long = format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"{}"}}"#,
        "x".repeat(100_000)
    );
    add(Error(UNKNOWN, "1"), &[long.as_bytes()]);
    add(
        Error(UNKNOWN, "1"),
        &[br#"{"jsonrpc":"2.0","id":1,"method":"foo","params":[1,2]}"#],
    );
}

fn bad_params(add: &mut Add<'_>) {
    let params = [
        ("tools/call", "null"),
        ("tools/call", "[]"),
        ("tools/call", "\"x\""),
        ("tools/call", "1"),
        ("tools/call", "true"),
        ("tools/call", "{}"),
        ("tools/call", r#"{"name":1}"#),
        ("tools/call", r#"{"name":null}"#),
        ("tools/call", r#"{"name":["echo"]}"#),
        ("tools/call", r#"{"Name":"echo"}"#),
        ("tools/call", r#"{"name":"echo","arguments":[]}"#),
        ("tools/call", r#"{"name":"echo","arguments":"x"}"#),
        ("tools/call", r#"{"name":"echo","arguments":1}"#),
        ("tools/call", r#"{"arguments":{}}"#),
        ("tools/call", r#"{"name":"no_such_tool"}"#),
        ("tools/call", r#"{"name":""}"#),
        ("tools/call", r#"{"name":"echo","_meta":1}"#),
        ("tools/call", r#"{"name":"echo","_meta":[]}"#),
        ("tools/list", "[]"),
        ("tools/list", "\"x\""),
        ("prompts/get", "{}"),
        ("prompts/get", r#"{"name":{}}"#),
        ("resources/read", "{}"),
        ("resources/read", r#"{"uri":1}"#),
        ("resources/subscribe", "{}"),
        ("resources/unsubscribe", r#"{"uri":null}"#),
        ("completion/complete", "{}"),
        (
            "completion/complete",
            r#"{"ref":{"type":"ref/prompt","name":"x"}}"#,
        ),
        ("logging/setLevel", "{}"),
        ("logging/setLevel", r#"{"level":"loud"}"#),
        ("logging/setLevel", r#"{"level":1}"#),
        ("tasks/get", "{}"),
        ("tasks/update", r#"{"taskId":"x"}"#),
        ("tasks/cancel", r#"{"taskId":1}"#),
        ("subscriptions/listen", "{}"),
        ("initialize", "{}"),
        (
            "initialize",
            r#"{"protocolVersion":1,"capabilities":{},"clientInfo":{"name":"x","version":"1"}}"#,
        ),
        (
            "initialize",
            r#"{"protocolVersion":"2025-06-18","capabilities":{}}"#,
        ),
        ("server/discover", "{}"),
    ];
    for (method, params) in params {
        let text = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{method}","params":{params}}}"#);
        add(Error(PARAMS, "1"), &[text.as_bytes()]);
    }
    for method in [
        "tools/call",
        "prompts/get",
        "resources/read",
        "completion/complete",
        "logging/setLevel",
    ] {
        let text = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{method}"}}"#);
        add(Error(PARAMS, "1"), &[text.as_bytes()]);
    }
}

fn unanswered(add: &mut Add<'_>) {
    add(
        Silent,
        &[
            br#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
            br#"{"jsonrpc":"2.0","method":"notifications/initialized","params":{}}"#,
            br#"{"jsonrpc":"2.0","method":"notifications/no_such_thing","params":{"a":[1,2,3]}}"#,
            br#"{"jsonrpc":"2.0","method":"ping"}"#,
            br#"{"jsonrpc":"2.0","method":"tools/list"}"#,
            br#"{"jsonrpc":"2.0","method":""}"#,
            br#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"no such id"}}"#,
            br#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"x","progress":1}}"#,
            br#"{"jsonrpc":"2.0","id":12345,"result":{}}"#,
            br#"{"jsonrpc":"2.0","id":12345,"error":{"code":-1,"message":"nobody asked"}}"#,
        ],
    );
    add(
        Ignored,
        &[
            br#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":[1]}"#,
            br#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progress":"x"}}"#,
            br#"{"jsonrpc":"2.0","method":"notifications/progress"}"#,
            br#"{"jsonrpc":"2.0","method":"notifications/initialized","params":"x"}"#,
            br#"{"jsonrpc":"2.0","result":{}}"#,
            br#"{"jsonrpc":"2.0","id":null,"result":{}}"#,
            br#"{"jsonrpc":"2.0","id":null,"error":{"code":-1,"message":"x"}}"#,
            br#"{"jsonrpc":"2.0","id":1,"error":"x"}"#,
            br#"{"jsonrpc":"2.0","id":1,"error":{"code":"x"}}"#,
            br#"{"jsonrpc":"2.0","id":1,"result":{},"error":{"code":1,"message":"x"}}"#,
            br#"{"id":1,"result":{}}"#,
            br#"{"jsonrpc":"2.0","id":1,"result":{},"result":{}}"#,
            br#"{"jsonrpc":"2.0","id":{},"result":{}}"#,
        ],
    );
}

fn odd_but_fine(add: &mut Add<'_>) {
    add(
        Result("1"),
        &[
            br#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#, br#"  {"jsonrpc":"2.0","id":1,"method":"ping"}	"#,
            b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\r", br#"{"method":"ping","id":1,"jsonrpc":"2.0"}"#,
            br#"{"jsonrpc":"2.0","id":1,"method":"ping","params":{}}"#, br#"{"jsonrpc":"2.0","id":1,"method":"ping","params":null}"#,
            br#"{"jsonrpc":"2.0","id":1,"method":"ping","extra":[{}]}"#, br#"{"jsonrpc":"2.0","id":1,"method":"\u0070ing"}"#,
            br#"{"jsonrpc":"2.0","\u0069d":1,"method":"ping"}"#, br#"{"jsonrpc":"\u0032.0","id":1,"method":"ping"}"#,
            br#"{"jsonrpc":"2.0","id":1,"method":"tools/list","params":null}"#,
            br#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo"}}"#,
            br#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":null}}"#,
            br#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{"a":1,"a":2}}}"#,
            br#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{"a":123456789012345678901234567890}}}"#,
            br#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{"a":1e-400,"b":-0,"c":1E5}}}"#,
            br#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{"":"","\u0000":"\u0000\uffff\ud83d\ude80"}}}"#,
            br#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","task":{"ttl":1},"unknown":1}}"#,
            "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"echo\",\"arguments\":{\"\u{feff}\":\"\u{2028}\u{202e}\u{7f}\"}}}".as_bytes(),
            nested(90, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"echo\",\"arguments\":{\"a\":", "}}}").as_bytes(),
            format!(r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"echo","arguments":{{"a":"{}"}}}}}}"#, "[{\\\"".repeat(50_000)).as_bytes(),
        ],
    );
}

/// `depth` arrays inside each other, with something around them.
fn nested(depth: usize, before: &str, after: &str) -> String {
    format!("{before}{}{}{after}", "[".repeat(depth), "]".repeat(depth))
}
