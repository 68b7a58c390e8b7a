//! Queries and bodies that are not what they should be, each with its exact status and code.

use serde_json::json;

use super::{
    refusals::{check, echo, patient},
    support::{call, get, post, server},
};

#[tokio::test]
async fn queries() {
    let server = patient().await;
    let runs = |query: &str| get(&format!("/v1/runs{query}")).key(&server.root);
    let cases = vec![
        ("numbers are read", runs("?limit=3"), 200, ""),
        ("lists are read", runs("?states=running,waiting"), 200, ""),
        (
            "lists may be repeated",
            runs("?states=running&states=waiting"),
            200,
            "",
        ),
        ("too small", runs("?limit=0"), 400, "INVALID_INPUT"),
        ("too large", runs("?limit=501"), 400, "INVALID_INPUT"),
        ("not a number", runs("?limit=many"), 400, "INVALID_INPUT"),
        (
            "a number twice",
            runs("?limit=1&limit=2"),
            400,
            "INVALID_INPUT",
        ),
        ("no such state", runs("?states=lost"), 400, "INVALID_INPUT"),
        ("no such field", runs("?colour=red"), 400, "INVALID_INPUT"),
        ("broken encoding", runs("?kind=%zz"), 400, "INVALID_INPUT"),
        (
            "encoding of no text",
            runs("?kind=%ff"),
            400,
            "INVALID_INPUT",
        ),
        ("an empty query", runs("?"), 200, ""),
    ];
    check(&server, cases).await;
}

#[tokio::test]
async fn bodies() {
    let server = patient().await;
    let door = "/v1/operations/probe.echo";
    let raw = |body: &[u8]| post(door, body.to_vec()).key(&server.probe);
    let text = |length: usize| json!({ "text": "a".repeat(length) }).to_string();
    let typed = |kind: &str| {
        post(door, text(1))
            .without("content-type")
            .with("content-type", kind)
            .key(&server.probe)
    };
    let deep = format!("{}{}", "[".repeat(200), "]".repeat(200));
    let cases = vec![
        ("a good body", raw(text(3).as_bytes()), 200, ""),
        (
            "a type with a charset",
            typed("application/json; charset=utf-8"),
            200,
            "",
        ),
        (
            "a type in capitals",
            typed("Application/JSON;Charset=\"UTF-8\""),
            200,
            "",
        ),
        (
            "a kind of JSON",
            typed("application/vnd.windlass+json"),
            200,
            "",
        ),
        (
            "no type",
            post(door, text(1))
                .without("content-type")
                .key(&server.probe),
            415,
            "INVALID_INPUT",
        ),
        ("plain text", typed("text/plain"), 415, "INVALID_INPUT"),
        (
            "a form",
            typed("application/x-www-form-urlencoded"),
            415,
            "INVALID_INPUT",
        ),
        (
            "another charset",
            typed("application/json; charset=latin1"),
            415,
            "INVALID_INPUT",
        ),
        (
            "compressed",
            raw(text(1).as_bytes()).with("content-encoding", "gzip"),
            415,
            "INVALID_INPUT",
        ),
        ("no body means no fields", raw(b""), 400, "INVALID_INPUT"),
        ("a missing field", raw(b"{}"), 400, "INVALID_INPUT"),
        (
            "an unknown field",
            raw(br#"{"text":"a","txt":1}"#),
            400,
            "INVALID_INPUT",
        ),
        ("a wrong type", raw(br#"{"text":1}"#), 400, "INVALID_INPUT"),
        ("a list", raw(b"[]"), 400, "INVALID_INPUT"),
        ("null", raw(b"null"), 400, "INVALID_INPUT"),
        ("a number", raw(b"1"), 400, "INVALID_INPUT"),
        ("half an object", raw(br#"{"text":"#), 400, "INVALID_INPUT"),
        (
            "two objects",
            raw(br#"{"text":"a"}{"text":"b"}"#),
            400,
            "INVALID_INPUT",
        ),
        (
            "a comma too many",
            raw(br#"{"text":"a",}"#),
            400,
            "INVALID_INPUT",
        ),
        ("single quotes", raw(b"{'text':'a'}"), 400, "INVALID_INPUT"),
        (
            "a comment",
            raw(br#"{"text":"a"} // x"#),
            400,
            "INVALID_INPUT",
        ),
        (
            "not a number",
            raw(br#"{"text":NaN}"#),
            400,
            "INVALID_INPUT",
        ),
        (
            "a byte order mark",
            raw(b"\xef\xbb\xbf{\"text\":\"a\"}"),
            400,
            "INVALID_INPUT",
        ),
        (
            "bytes that are not text",
            raw(b"{\"text\":\"\xff\"}"),
            400,
            "INVALID_INPUT",
        ),
        (
            "a lone surrogate",
            raw(br#"{"text":"\ud800"}"#),
            400,
            "INVALID_INPUT",
        ),
        (
            "a control character",
            raw(b"{\"text\":\"a\x01\"}"),
            400,
            "INVALID_INPUT",
        ),
        ("a NUL", raw(b"\0"), 400, "INVALID_INPUT"),
        ("too deep", raw(deep.as_bytes()), 400, "INVALID_INPUT"),
        (
            "a number too large",
            raw(br#"{"text":1e999}"#),
            400,
            "INVALID_INPUT",
        ),
        ("the largest body", raw(text(4096 - 11).as_bytes()), 200, ""),
        (
            "one byte more",
            raw(text(4096 - 10).as_bytes()),
            413,
            "PAYLOAD_TOO_LARGE",
        ),
        (
            "announced too large",
            raw(b"{}").with("content-length", "4097"),
            413,
            "PAYLOAD_TOO_LARGE",
        ),
        (
            "told to fail",
            raw(br#"{"text":"fail"}"#),
            409,
            "ILLEGAL_STATE",
        ),
        (
            "a panic",
            call("probe.panic", json!({})).key(&server.probe),
            500,
            "INTERNAL",
        ),
        (
            "a panic in a change",
            call("probe.panic_in_change", json!({})).key(&server.probe),
            500,
            "INTERNAL",
        ),
        ("still alive", echo(&server), 200, ""),
    ];
    check(&server, cases).await;
}

#[tokio::test]
async fn a_broken_body_is_located() {
    let server = server().await;
    let reply = server
        .ask(post("/v1/operations/probe.echo", "{\n  \"text\": oops\n}").key(&server.probe))
        .await;
    insta::assert_snapshot!(reply.json()["error"]["message"].as_str().unwrap(), @"the body is not JSON: expected value at line 2 column 11");
    assert_eq!(reply.json()["error"]["details"]["line"], 2);
    assert_eq!(reply.json()["error"]["details"]["column"], 11);
}
