//! Chat completions, with the thoughts that servers other than OpenAI's tell.

use serde_json::{Value, json};

use super::double::SeenRequest;
use super::script::{Ended, ModelTurn, Said};
use super::strict::{
    Checked, Refusal, invalid, is_strict_schema, list, number, only, pieces, require, string,
    tool_names,
};

const MODEL: &str = "chat-double-1";

pub(super) fn check(seen: &SeenRequest) -> Checked {
    reaches(seen, "/v1/chat/completions")?;
    let body = &seen.body;
    only(
        body,
        "body",
        &[
            "model",
            "messages",
            "temperature",
            "top_p",
            "max_tokens",
            "max_completion_tokens",
            "seed",
            "response_format",
            "tools",
            "tool_choice",
            "parallel_tool_calls",
            "stream",
            "stream_options",
            "reasoning_effort",
            "prompt_cache_key",
            "stop",
            "user",
        ],
    )?;
    string(&body["model"], "model")?;
    number(body, "temperature", 0.0, 2.0)?;
    number(body, "top_p", 0.0, 1.0)?;
    let is_streamed = body["stream"] == true;
    require(
        is_streamed || body["stream_options"].is_null(),
        "The 'stream_options' parameter is only allowed when 'stream' is enabled.",
    )?;
    let efforts = ["none", "minimal", "low", "medium", "high"];
    let effort = body["reasoning_effort"].as_str();
    require(
        effort.is_none_or(|it| efforts.contains(&it)),
        "reasoning_effort: unknown",
    )?;
    tools(body)?;
    let format = &body["response_format"];
    if format["type"] == "json_schema" {
        let schema = &format["json_schema"]["schema"];
        if !is_strict_schema(schema, true) {
            return Err(invalid("Invalid schema for response_format").about("response_format"));
        }
    }
    conversation(list(&body["messages"], "messages")?)
}

/// Whether a request has this path, and a key.
pub(super) fn reaches(seen: &SeenRequest, path: &str) -> Checked {
    if seen.path != path {
        return Err(Refusal::new(404, "not_found_error", "Not found"));
    }
    let key = seen
        .header("authorization")
        .and_then(|it| it.strip_prefix("Bearer "));
    match key.is_some_and(|key| !key.is_empty()) {
        true => Ok(()),
        false => Err(Refusal::new(
            401,
            "invalid_request_error",
            "You didn't provide an API key.",
        )),
    }
}

fn tools(body: &Value) -> Checked {
    if body["tools"].is_null() {
        return Ok(());
    }
    let tools = list(&body["tools"], "tools")?;
    for tool in tools {
        only(tool, "tools", &["type", "function"])?;
        require(tool["type"] == "function", "tools.type: unknown")?;
        only(
            &tool["function"],
            "tools.function",
            &["name", "description", "parameters", "strict"],
        )?;
        let kind = &tool["function"]["parameters"]["type"];
        require(
            kind == "object",
            "tools.function.parameters: not an object's schema",
        )?;
    }
    tool_names(tools.iter().map(|tool| tool["function"]["name"].as_str()))
}

fn conversation(messages: &[Value]) -> Checked {
    let mut open: Vec<&str> = Vec::new();
    for (number, message) in messages.iter().enumerate() {
        let place = format!("messages.[{number}]");
        let role = message["role"].as_str().unwrap_or_default();
        require(
            open.is_empty() || role == "tool",
            format!(
                "{place}: an assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id': {open:?}"
            ),
        )?;
        match role {
            "system" => {
                only(message, &place, &["role", "content"])?;
                string(&message["content"], &place)?;
            }
            "user" => {
                only(message, &place, &["role", "content"])?;
                user(&message["content"], &place)?;
            }
            "assistant" => {
                only(
                    message,
                    &place,
                    &["role", "content", "tool_calls", "reasoning_content"],
                )?;
                open = calls(message, &place)?;
            }
            "tool" => {
                only(message, &place, &["role", "content", "tool_call_id"])?;
                require(
                    message["content"].is_string(),
                    format!("{place}.content: not a text"),
                )?;
                let id = string(&message["tool_call_id"], &place)?;
                let Some(found) = open.iter().position(|it| *it == id) else {
                    return Err(invalid(format!(
                        "{place}: messages with role 'tool' must be a response to a preceding message with 'tool_calls'"
                    )));
                };
                open.remove(found);
            }
            other => return Err(invalid(format!("{place}.role: `{other}` is unknown"))),
        }
    }
    require(
        open.is_empty(),
        "messages: calls without results at the end",
    )
}

fn user(content: &Value, place: &str) -> Checked {
    if content.is_string() {
        return string(content, place).map(drop);
    }
    for part in list(content, place)? {
        match part["type"].as_str().unwrap_or_default() {
            "text" => {
                only(part, place, &["type", "text"])?;
                string(&part["text"], place)?;
            }
            "image_url" => {
                only(part, place, &["type", "image_url"])?;
                let url = string(&part["image_url"]["url"], place)?;
                require(
                    url.starts_with("data:image/"),
                    format!("{place}: not an image"),
                )?;
            }
            "file" => {
                only(part, place, &["type", "file"])?;
                only(&part["file"], place, &["filename", "file_data"])?;
                string(&part["file"]["filename"], place)?;
            }
            other => return Err(invalid(format!("{place}: `{other}` is not a known type"))),
        }
    }
    Ok(())
}

fn calls<'a>(message: &'a Value, place: &str) -> Result<Vec<&'a str>, Refusal> {
    if message["tool_calls"].is_null() {
        let has_content = message["content"].is_string();
        require(has_content, format!("{place}.content: expected a text"))?;
        return Ok(Vec::new());
    }
    let mut ids = Vec::new();
    for call in list(&message["tool_calls"], place)? {
        only(call, place, &["id", "type", "function"])?;
        only(&call["function"], place, &["name", "arguments"])?;
        string(&call["function"]["name"], place)?;
        let arguments = string(&call["function"]["arguments"], place)?;
        // Chat templates of local servers read them.
        let is_object = serde_json::from_str::<Value>(arguments).is_ok_and(|it| it.is_object());
        require(
            is_object,
            format!("{place}: arguments are not an object: {arguments}"),
        )?;
        let id = string(&call["id"], place)?;
        require(
            !ids.contains(&id),
            format!("{place}: the id `{id}` is there twice"),
        )?;
        ids.push(id);
    }
    Ok(ids)
}

fn finish_reason(turn: &ModelTurn) -> &'static str {
    match turn.ended {
        Ended::Length => "length",
        Ended::Refused => "content_filter",
        Ended::Done | Ended::Paused if turn.has_calls() => "tool_calls",
        Ended::Done | Ended::Paused => "stop",
    }
}

fn usage(turn: &ModelTurn) -> Value {
    let [fresh, read, written, output] = turn.tokens;
    let input = fresh + read + written;
    json!({
        "prompt_tokens": input,
        "completion_tokens": output,
        "total_tokens": input + output,
        "prompt_tokens_details": { "cached_tokens": read },
    })
}

pub(super) fn whole(turn: &ModelTurn) -> Value {
    let mut text = String::new();
    let mut thought = String::new();
    let mut calls = Vec::new();
    for said in &turn.said {
        match said {
            Said::Text(words) => text.push_str(words),
            Said::Thought(words) => thought.push_str(words),
            Said::Sealed(_) => {}
            Said::Call(id, name, arguments) => calls.push(json!({
                "id": id, "type": "function",
                "function": { "name": name, "arguments": arguments },
            })),
        }
    }
    let mut message = json!({ "role": "assistant", "content": text });
    if !thought.is_empty() {
        message["reasoning_content"] = json!(thought);
    }
    if !calls.is_empty() {
        message["tool_calls"] = Value::Array(calls);
    }
    json!({
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "model": MODEL,
        "choices": [{ "index": 0, "message": message, "finish_reason": finish_reason(turn) }],
        "usage": usage(turn),
    })
}

fn chunk(choices: Value, usage: Value) -> String {
    let chunk = json!({
        "id": "chatcmpl-1", "object": "chat.completion.chunk", "model": MODEL,
        "choices": choices, "usage": usage,
    });
    format!("data: {chunk}\n\n")
}

fn delta(delta: Value) -> String {
    chunk(
        json!([{ "index": 0, "delta": delta, "finish_reason": null }]),
        Value::Null,
    )
}

pub(super) fn events(turn: &ModelTurn) -> Vec<String> {
    let mut events = vec![delta(json!({ "role": "assistant", "content": "" }))];
    let mut number = 0;
    for said in &turn.said {
        match said {
            Said::Text(text) => {
                events.extend(
                    pieces(text)
                        .iter()
                        .map(|it| delta(json!({ "content": it }))),
                );
            }
            Said::Thought(text) => {
                let thought = |it: &String| delta(json!({ "reasoning_content": it }));
                events.extend(pieces(text).iter().map(thought));
            }
            Said::Sealed(_) => {}
            Said::Call(id, name, arguments) => {
                let function = json!({ "name": name, "arguments": "" });
                events.push(delta(json!({ "tool_calls": [
                    { "index": number, "id": id, "type": "function", "function": function },
                ] })));
                for piece in pieces(arguments) {
                    events.push(delta(json!({ "tool_calls": [
                        { "index": number, "function": { "arguments": piece } },
                    ] })));
                }
                number += 1;
            }
        }
    }
    let end = json!([{ "index": 0, "delta": {}, "finish_reason": finish_reason(turn) }]);
    events.push(chunk(end, Value::Null));
    events.push(chunk(json!([]), usage(turn)));
    events.push("data: [DONE]\n\n".to_owned());
    events
}
