//! Odd streams of each wire format, event by event.

use serde_json::{Value, json};
use windlass_llm::ReplyBuilder;
use windlass_ports::WireFormat;

/// The reply in one line, or the error.
fn read(wire: WireFormat, events: &[Value]) -> String {
    let mut builder = ReplyBuilder::new(wire, "asked");
    for event in events {
        if let Err(error) = builder.event(&event.to_string(), &mut |_| {}) {
            return format!("error: {error}");
        }
    }
    match builder.finish() {
        Ok(reply) => serde_json::to_string(&reply).unwrap(),
        Err(error) => format!("error: {error}"),
    }
}

#[test]
fn gemini() {
    let parts = |parts: Value, end: &str| json!({ "candidates": [{ "content": { "parts": parts }, "finishReason": end }] });
    let call = json!({ "functionCall": { "name": "view" } });
    let cases = [
        vec![json!({ "promptFeedback": { "blockReason": "SAFETY" } })],
        vec![parts(json!([call]), "MALFORMED_FUNCTION_CALL")],
        vec![parts(json!([call]), "STOP")],
        vec![parts(
            json!([{ "text": "a", "thoughtSignature": "s" }, { "text": "b" }]),
            "STOP",
        )],
        vec![parts(
            json!([{ "text": "" , "thoughtSignature": "s" }]),
            "STOP",
        )],
        vec![parts(
            json!([{ "text": "x", "thought": true }, { "text": "y" }]),
            "RECITATION",
        )],
        vec![parts(json!([{ "text": "x" }]), "")],
        vec![json!({ "error": { "code": 503, "message": "busy", "status": "UNAVAILABLE" } })],
        vec![json!({ "error": { "code": 400, "message": "bad", "status": "INVALID_ARGUMENT" } })],
        vec![json!([{ "error": { "code": 403, "message": "no" } }])],
    ];
    let lines = cases.map(|events| read(WireFormat::Gemini, &events));
    insta::assert_snapshot!(lines.join("\n"), @r#"
    {"parts":[],"finish_reason":"refused","model":"asked"}
    {"parts":[],"finish_reason":"malformed_function_call","model":"asked"}
    {"parts":[{"type":"tool_call","id":"call_0","name":"view","arguments":"{}"}],"finish_reason":"tool_calls","model":"asked"}
    {"parts":[{"type":"text","text":"a"},{"type":"thinking","text":"","signature":"s","id":"gemini:words"},{"type":"text","text":"b"}],"finish_reason":"stop","model":"asked"}
    {"parts":[{"type":"thinking","text":"","signature":"s","id":"gemini:alone"}],"finish_reason":"stop","model":"asked"}
    {"parts":[{"type":"thinking","text":"x","id":"gemini:thought"},{"type":"text","text":"y"}],"finish_reason":"refused","model":"asked"}
    error: the model's answer broke off: the stream ended before the answer did
    error: the model's answer broke off: the server reported: busy
    error: the model's server rejects the request (status 400): bad
    error: the model's server does not accept the API key (status 403): no; check the variable that api_key_env names
    "#);
}

#[test]
fn messages() {
    let start = |index: u64, block: Value| json!({ "type": "content_block_start", "index": index, "content_block": block });
    let delta = |index: u64, delta: Value| json!({ "type": "content_block_delta", "index": index, "delta": delta });
    let stop = |index: u64| json!({ "type": "content_block_stop", "index": index });
    let end = |reason: &str| {
        vec![
            json!({ "type": "message_delta", "delta": { "stop_reason": reason } }),
            json!({ "type": "message_stop" }),
        ]
    };
    let tool = json!({ "type": "tool_use", "id": "a", "name": "view", "input": {} });
    let full = json!({ "type": "tool_use", "id": "a", "name": "view", "input": { "b": 1 } });
    let server = json!({ "type": "server_tool_use", "id": "s", "name": "web_search", "input": {} });
    let with = |mut events: Vec<Value>, reason: &str| {
        events.extend(end(reason));
        events
    };
    let cases = [
        with(vec![start(0, tool.clone()), stop(0)], "tool_use"),
        with(vec![start(0, full), stop(0)], "tool_use"),
        with(vec![start(0, tool.clone()), stop(0)], "max_tokens"),
        with(
            vec![start(0, tool), stop(0)],
            "model_context_window_exceeded",
        ),
        with(
            vec![
                start(0, server),
                delta(
                    0,
                    json!({ "type": "input_json_delta", "partial_json": "{" }),
                ),
                stop(0),
                json!({ "type": "ping" }),
                json!({ "type": "invented_later", "x": 1 }),
                start(1, json!({ "type": "text", "text": "" })),
                delta(1, json!({ "type": "text_delta", "text": "hi" })),
                delta(9, json!({ "type": "text_delta", "text": "nowhere" })),
                stop(1),
            ],
            "pause_turn",
        ),
        vec![json!({ "type": "content_block_start", "content_block": {} })],
        vec![
            json!({ "type": "error", "error": { "type": "overloaded_error", "message": "busy" } }),
        ],
        vec![
            json!({ "type": "error", "error": { "type": "invalid_request_error", "message": "bad" } }),
        ],
        vec![
            json!({ "type": "error", "error": { "type": "authentication_error", "message": "who" } }),
        ],
        vec![json!({ "type": "message_delta", "delta": { "stop_reason": "end_turn" } })],
    ];
    let lines = cases.map(|events| read(WireFormat::Messages, &events));
    insta::assert_snapshot!(lines.join("\n"), @r#"
    {"parts":[{"type":"tool_call","id":"a","name":"view","arguments":"{}"}],"finish_reason":"tool_calls","model":"asked"}
    {"parts":[{"type":"tool_call","id":"a","name":"view","arguments":"{\"b\":1}"}],"finish_reason":"tool_calls","model":"asked"}
    {"parts":[],"finish_reason":"length","model":"asked"}
    {"parts":[],"finish_reason":"model_context_window_exceeded","model":"asked"}
    {"parts":[{"type":"text","text":"hi"}],"finish_reason":"pause_turn","model":"asked"}
    error: the model's answer broke off: the stream ended before the answer did
    error: the model's answer broke off: the server reported: busy
    error: the model's server rejects the request (status 400): bad
    error: the model's server does not accept the API key (status 401): who; check the variable that api_key_env names
    error: the model's answer broke off: the stream ended before the answer did
    "#);
}

#[test]
fn responses() {
    let call = |status: &str| {
        json!({ "type": "function_call", "call_id": "a", "name": "view", "arguments": "",
            "status": status })
    };
    let ended = |status: &str, output: Value| {
        json!({ "type": format!("response.{status}"), "response": {
            "status": status, "output": output,
            "incomplete_details": { "reason": "max_output_tokens" } } })
    };
    let refusal = json!({ "type": "message", "content": [{ "type": "refusal", "refusal": "no" }] });
    let added = json!({ "type": "response.output_item.added", "output_index": 0, "item": call("in_progress") });
    let cases = [
        vec![ended("completed", json!([call("completed")]))],
        vec![ended("incomplete", json!([call("incomplete")]))],
        vec![ended("completed", json!([refusal]))],
        vec![added.clone(), ended("completed", json!([]))],
        vec![added, ended("completed", json!([call("completed")]))],
        vec![
            json!({ "type": "response.failed", "response": { "error": { "code": "server_error", "message": "oops" } } }),
        ],
        vec![json!({ "type": "error", "code": "invalid_prompt", "message": "bad", "param": null })],
        vec![json!({ "type": "response.cancelled" })],
        vec![json!({ "type": "response.output_text.delta", "delta": "x" })],
    ];
    let lines = cases.map(|events| read(WireFormat::Responses, &events));
    insta::assert_snapshot!(lines.join("\n"), @r#"
    {"parts":[{"type":"tool_call","id":"a","name":"view","arguments":"{}"}],"finish_reason":"tool_calls","model":"asked"}
    {"parts":[],"finish_reason":"length","model":"asked"}
    {"parts":[{"type":"text","text":"no"}],"finish_reason":"refused","model":"asked"}
    error: the model's answer broke off: the message ended within a call
    {"parts":[{"type":"tool_call","id":"a","name":"view","arguments":"{}"}],"finish_reason":"tool_calls","model":"asked"}
    error: the model's answer broke off: the server reported: oops
    error: the model's server rejects the request (status 400): bad
    error: the model's answer broke off: the server cancelled the answer
    error: the model's server answered with something other than a completion: an event without an index: {"delta":"x","type":"response.output_text.delta"}
    "#);
}
