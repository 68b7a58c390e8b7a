//! Single messages: what each becomes. The long table of malformed input runs against
//! whole servers in `tests/suite/malformed.rs`.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::{Frame, Glance, MAX_BATCH, Message};

fn outcome(frame: &Frame) -> String {
    match frame {
        Frame::Single(message) => describe(message),
        Frame::Batch(messages) => {
            format!(
                "[{}]",
                messages.iter().map(describe).collect::<Vec<_>>().join(", ")
            )
        }
    }
}

fn describe(message: &Message) -> String {
    match message {
        Message::Request(id, request) => format!("request {id} {}", request.method()),
        Message::Notification(_) => "notification".to_owned(),
        Message::Response(id, Ok(_)) => format!("result {id}"),
        Message::Response(id, Err(_)) => format!("error {id}"),
        Message::Refused(fault) => {
            let id = serde_json::to_string(&fault.id).unwrap();
            format!("{} id={id} {}", fault.error.code.0, fault.error.message)
        }
        Message::Ignored(reason) => format!("ignored: {reason}"),
    }
}

#[test]
fn messages_are_recognised() {
    let cases = [
        (
            r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#,
            "request 1 ping",
        ),
        (
            r#"{"jsonrpc":"2.0","id":"a","method":"tools/list","params":{}}"#,
            "request a tools/list",
        ),
        (
            r#"{"jsonrpc":"2.0","id":1.0,"method":"tools/list","params":null}"#,
            "request 1 tools/list",
        ),
        (
            r#" {"id":1,"extra":{},"method":"ping","jsonrpc":"2.0"} "#,
            "request 1 ping",
        ),
        (
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x","task":{}}}"#,
            "request 1 tools/call",
        ),
        (
            r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
            "notification",
        ),
        (
            r#"{"jsonrpc":"2.0","method":"notifications/unheard_of","params":{"a":1}}"#,
            "notification",
        ),
        (r#"{"jsonrpc":"2.0","id":7,"result":{}}"#, "result 7"),
        (
            r#"{"jsonrpc":"2.0","id":7,"error":{"code":1,"message":"no"}}"#,
            "error 7",
        ),
        (
            r#"{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":"no"}}"#,
            "ignored: a response that is not valid JSON-RPC 2.0",
        ),
        (
            r#"{"jsonrpc":"2.0","id":7,"result":{},"error":{}}"#,
            "ignored: a response that is not valid JSON-RPC 2.0",
        ),
    ];
    for (text, want) in cases {
        assert_eq!(outcome(&Frame::parse(text.as_bytes())), want, "{text}");
    }
}

#[test]
fn refusals_say_what_is_wrong() {
    let refusals = [
        r#"{"jsonrpc":"2.0","id":1,"method":"tools/call"}"#,
        r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":[1]}"#,
        r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x","_meta":3}}"#,
        r#"{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}"#,
        r#"{"jsonrpc":"2.0","id":1,"method":"no/such"}"#,
        r#"{"id":1,"method":"ping"}"#,
        r#"{"jsonrpc":"2.0","id":1}"#,
        r#"{"jsonrpc":"2.0","id":{},"method":"ping"}"#,
        "[]",
        "3",
        "{",
    ]
    .map(|text| outcome(&Frame::parse(text.as_bytes())))
    .join("\n");
    insta::assert_snapshot!(refusals, @r#"
    -32602 id=1 invalid params for tools/call: missing field `name`
    -32602 id=1 invalid params for tools/call: "params" must be an object
    -32602 id=1 invalid params for tools/call: _meta must be an object
    -32600 id=null invalid request: "id" occurs twice
    -32601 id=1 method not found: no/such
    -32600 id=1 invalid request: "jsonrpc" must be "2.0"
    -32600 id=1 invalid request: "method" must be a string
    -32600 id=null invalid request: "id" must be a string or an integer
    -32600 id=null invalid request: the batch is empty
    -32600 id=null invalid request: a message must be a JSON object
    -32700 id=null parse error: EOF while parsing an object at line 1 column 1
    "#);
}

#[test]
fn legacy_methods_do_not_exist_in_the_modern_era() {
    let meta = json!({ "io.modelcontextprotocol/protocolVersion": "2026-07-28" });
    for method in [
        "initialize",
        "ping",
        "logging/setLevel",
        "resources/subscribe",
        "resources/unsubscribe",
    ] {
        let request =
            json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": { "_meta": meta } });
        let want = format!("-32601 id=1 method not found: {method}");
        assert_eq!(outcome(&Frame::parse(request.to_string().as_bytes())), want);
    }
}

#[test]
fn a_batch_has_bounds() {
    let ping = json!({ "jsonrpc": "2.0", "id": 1, "method": "ping" });
    let most = Value::Array(vec![ping.clone(); MAX_BATCH]).to_string();
    assert!(
        matches!(Frame::parse(most.as_bytes()), Frame::Batch(messages) if messages.len() == MAX_BATCH)
    );
    let more = Value::Array(vec![ping; MAX_BATCH + 1]).to_string();
    assert_eq!(
        outcome(&Frame::parse(more.as_bytes())),
        "-32600 id=null invalid request: 101 messages in one batch, at most 100 are taken"
    );
    let mixed = br#"[1,{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","method":"notifications/initialized"},[]]"#;
    insta::assert_snapshot!(outcome(&Frame::parse(mixed)), @"[-32600 id=null invalid request: a message must be a JSON object, request 1 ping, notification, -32600 id=null invalid request: a message must be a JSON object]");
}

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        "[a-z/_.]{0,12}".prop_map(Value::from),
        Just(json!("2.0")),
        Just(json!("tools/call")),
    ];
    leaf.prop_recursive(4, 32, 6, |inner| {
        let key = prop_oneof![
            Just("jsonrpc".to_owned()),
            Just("id".to_owned()),
            Just("method".to_owned()),
            Just("params".to_owned()),
            Just("result".to_owned()),
            Just("error".to_owned()),
            Just("_meta".to_owned()),
            Just("name".to_owned()),
            "[a-z]{1,4}",
        ];
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..6).prop_map(Value::Array),
            proptest::collection::hash_map(key, inner, 0..6)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn json_like_a_message_never_panics_and_glance_agrees(value in any_json()) {
        let text = value.to_string();
        let frame = Frame::parse(text.as_bytes());
        match Glance::at(text.as_bytes()) {
            Glance::Refused(fault) => {
                let Frame::Single(Message::Refused(other)) = frame else { panic!("{text}") };
                prop_assert_eq!(fault, other);
            }
            Glance::Batch => prop_assert!(value.is_array()),
            Glance::Message => prop_assert!(matches!(frame, Frame::Single(_))),
        }
    }

    #[test]
    fn a_broken_message_never_panics(cut in 0_usize..120, byte in any::<u8>()) {
        let text = br#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{"a":[1,2,"\u00e9"]}}}"#;
        let mut broken = text[..cut.min(text.len())].to_vec();
        broken.push(byte);
        broken.extend_from_slice(&text[(cut + 1).min(text.len())..]);
        let _ = Frame::parse(&broken);
    }
}
