//! OpenAI Responses.

use serde_json::{Value, json};

use super::chat::reaches;
use super::double::SeenRequest;
use super::script::{Ended, ModelTurn, Said};
use super::strict::{
    Checked, invalid, is_strict_schema, list, number, only, pieces, require, signature, string,
    tool_names,
};

const MODEL: &str = "gpt-double-1";

pub(super) fn check(seen: &SeenRequest) -> Checked {
    reaches(seen, "/v1/responses")?;
    let body = &seen.body;
    only(
        body,
        "body",
        &[
            "model",
            "input",
            "instructions",
            "store",
            "include",
            "tools",
            "tool_choice",
            "parallel_tool_calls",
            "reasoning",
            "text",
            "temperature",
            "top_p",
            "max_output_tokens",
            "stream",
            "prompt_cache_key",
            "metadata",
            "truncation",
        ],
    )?;
    string(&body["model"], "model")?;
    require(
        body["store"] == false,
        "store: nothing is to stay at the server",
    )?;
    number(body, "temperature", 0.0, 2.0)?;
    number(body, "top_p", 0.0, 1.0)?;
    number(body, "max_output_tokens", 16.0, 1e9)?;
    if !body["instructions"].is_null() {
        string(&body["instructions"], "instructions")?;
    }
    if !body["reasoning"].is_null() {
        only(&body["reasoning"], "reasoning", &["effort", "summary"])?;
        let effort = body["reasoning"]["effort"].as_str().unwrap_or_default();
        let known = ["none", "minimal", "low", "medium", "high", "xhigh"];
        if !known.contains(&effort) {
            return Err(invalid("Unsupported value").about("reasoning.effort"));
        }
    }
    let format = &body["text"]["format"];
    if format["type"] == "json_schema" {
        only(
            format,
            "text.format",
            &["type", "name", "schema", "strict", "description"],
        )?;
        string(&format["name"], "text.format.name")?;
        if !is_strict_schema(&format["schema"], true) {
            return Err(invalid("Invalid schema for response_format").about("text.format.schema"));
        }
    }
    tools(body)?;
    items(list(&body["input"], "input")?)
}

fn tools(body: &Value) -> Checked {
    if body["tools"].is_null() {
        return Ok(());
    }
    let tools = list(&body["tools"], "tools")?;
    for tool in tools {
        only(
            tool,
            "tools",
            &["type", "name", "description", "parameters", "strict"],
        )?;
        require(tool["type"] == "function", "tools.type: unknown")?;
        require(
            tool["parameters"]["type"] == "object",
            "tools.parameters: not an object's schema",
        )?;
    }
    tool_names(tools.iter().map(|tool| tool["name"].as_str()))
}

fn items(items: &[Value]) -> Checked {
    let mut asked: Vec<&str> = Vec::new();
    let mut answered: Vec<&str> = Vec::new();
    let mut is_thought_open = false;
    for (number, item) in items.iter().enumerate() {
        let place = format!("input[{number}]");
        let kind = item["type"].as_str().unwrap_or("message");
        let follows = kind == "function_call" || item["role"] == "assistant" || kind == "reasoning";
        require(
            !is_thought_open || follows,
            format!(
                "{place}: Item of type 'reasoning' was provided without its required following item."
            ),
        )?;
        is_thought_open = kind == "reasoning";
        match kind {
            "message" => message(item, &place)?,
            "reasoning" => {
                only(
                    item,
                    &place,
                    &["type", "id", "summary", "encrypted_content", "content"],
                )?;
                let id = string(&item["id"], &place)?;
                require(
                    id.starts_with("rs_"),
                    format!("{place}.id: Expected an ID that begins with 'rs'."),
                )?;
                let summary = item["summary"].as_array();
                let parts = summary.ok_or_else(|| invalid(format!("{place}.summary: missing")))?;
                let words: Vec<&str> = parts.iter().filter_map(|it| it["text"].as_str()).collect();
                require(
                    item["encrypted_content"] == signature(&words.concat()),
                    format!("{place}: The encrypted content could not be verified."),
                )?;
            }
            "function_call" => {
                only(
                    item,
                    &place,
                    &["type", "id", "call_id", "name", "arguments", "status"],
                )?;
                string(&item["name"], &place)?;
                string(&item["arguments"], &place)?;
                let id = string(&item["call_id"], &place)?;
                require(
                    !asked.contains(&id),
                    format!("{place}: `{id}` is there twice"),
                )?;
                asked.push(id);
            }
            "function_call_output" => {
                only(item, &place, &["type", "id", "call_id", "output", "status"])?;
                let id = string(&item["call_id"], &place)?;
                require(
                    asked.contains(&id) && !answered.contains(&id),
                    format!("No tool call found for function call output with call_id {id}."),
                )?;
                answered.push(id);
                if !item["output"].is_string() {
                    content(&item["output"], "user", &place)?;
                }
            }
            other => return Err(invalid(format!("{place}.type: `{other}` is unknown"))),
        }
    }
    require(!is_thought_open, "input: a reasoning item at the end")?;
    match asked.iter().find(|id| !answered.contains(id)) {
        Some(id) => Err(invalid(format!(
            "No tool output found for function call {id}."
        ))),
        None => Ok(()),
    }
}

fn message(item: &Value, place: &str) -> Checked {
    only(item, place, &["type", "role", "content", "id", "status"])?;
    let role = item["role"].as_str().unwrap_or_default();
    let known = ["user", "assistant", "system", "developer"];
    require(
        known.contains(&role),
        format!("{place}.role: `{role}` is unknown"),
    )?;
    content(&item["content"], role, place)
}

fn content(parts: &Value, role: &str, place: &str) -> Checked {
    for part in list(parts, place)? {
        let kind = part["type"].as_str().unwrap_or_default();
        match (role, kind) {
            ("assistant", "output_text") | ("user" | "system", "input_text") => {
                only(part, place, &["type", "text", "annotations"])?;
                string(&part["text"], place)?;
            }
            ("user", "input_image") => {
                only(part, place, &["type", "image_url", "detail"])?;
                let url = string(&part["image_url"], place)?;
                require(
                    url.starts_with("data:image/"),
                    format!("{place}: not an image"),
                )?;
            }
            ("user", "input_file") => {
                only(part, place, &["type", "filename", "file_data"])?;
                string(&part["filename"], place)?;
            }
            _ => {
                return Err(invalid(format!(
                    "{place}: Invalid value: '{kind}' for {role}"
                )));
            }
        }
    }
    Ok(())
}

fn item(said: &Said, index: usize, is_half: bool) -> Value {
    let status = match is_half {
        true => "incomplete",
        false => "completed",
    };
    match said {
        Said::Thought(text) => json!({
            "type": "reasoning", "id": format!("rs_{index}"),
            "summary": [{ "type": "summary_text", "text": text }],
            "encrypted_content": signature(text),
        }),
        Said::Sealed(_) => json!({
            "type": "reasoning", "id": format!("rs_{index}"), "summary": [],
            "encrypted_content": signature(""),
        }),
        Said::Text(text) => json!({
            "type": "message", "id": format!("msg_{index}"), "role": "assistant", "status": status,
            "content": [{ "type": "output_text", "text": text, "annotations": [] }],
        }),
        Said::Call(id, name, arguments) => json!({
            "type": "function_call", "id": format!("fc_{index}"), "call_id": id, "name": name,
            "arguments": arguments, "status": status,
        }),
    }
}

pub(super) fn whole(turn: &ModelTurn) -> Value {
    let [fresh, read, written, output] = turn.tokens;
    let input = fresh + read + written;
    let half = turn.half_said();
    let items = turn.said.iter().enumerate();
    let (status, details) = match turn.ended {
        Ended::Done | Ended::Paused => ("completed", Value::Null),
        Ended::Length => ("incomplete", json!({ "reason": "max_output_tokens" })),
        Ended::Refused => ("incomplete", json!({ "reason": "content_filter" })),
    };
    json!({
        "id": "resp_1",
        "object": "response",
        "model": MODEL,
        "status": status,
        "error": null,
        "incomplete_details": details,
        "output": items
            .map(|(index, said)| item(said, index, half == Some(index)))
            .collect::<Vec<_>>(),
        "usage": {
            "input_tokens": input,
            "input_tokens_details": { "cached_tokens": read },
            "output_tokens": output,
            "output_tokens_details": { "reasoning_tokens": 2 },
            "total_tokens": input + output,
        },
    })
}

pub(super) fn events(turn: &ModelTurn) -> Vec<String> {
    let mut events: Vec<(&str, Value)> = Vec::new();
    let mut begun = whole(turn);
    begun["output"] = json!([]);
    begun["status"] = json!("in_progress");
    begun["incomplete_details"] = Value::Null;
    begun["usage"] = Value::Null;
    events.push(("response.created", json!({ "response": begun })));
    events.push(("response.in_progress", json!({ "response": begun })));
    let half = turn.half_said();
    for (index, said) in turn.said.iter().enumerate() {
        let done = item(said, index, half == Some(index));
        let mut added = done.clone();
        for (field, empty) in [
            ("summary", json!([])),
            ("content", json!([])),
            ("arguments", json!("")),
        ] {
            if added.get(field).is_some() {
                added[field] = empty;
            }
        }
        added["status"] = json!("in_progress");
        events.push((
            "response.output_item.added",
            json!({ "output_index": index, "item": added }),
        ));
        grow(said, index, &done, &mut events);
        events.push((
            "response.output_item.done",
            json!({ "output_index": index, "item": done }),
        ));
    }
    let last = match turn.ended {
        Ended::Done | Ended::Paused => "response.completed",
        Ended::Length | Ended::Refused => "response.incomplete",
    };
    events.push((last, json!({ "response": whole(turn) })));
    let numbered = events.into_iter().enumerate();
    numbered
        .map(|(number, (name, mut data))| {
            data["type"] = json!(name);
            data["sequence_number"] = json!(number);
            format!("event: {name}\ndata: {data}\n\n")
        })
        .collect()
}

fn grow(said: &Said, index: usize, done: &Value, events: &mut Vec<(&str, Value)>) {
    let id = &done["id"];
    match said {
        Said::Thought(text) => {
            let at = |more: Value| {
                with(
                    json!({ "item_id": id, "output_index": index, "summary_index": 0 }),
                    more,
                )
            };
            let part = json!({ "part": { "type": "summary_text", "text": "" } });
            events.push(("response.reasoning_summary_part.added", at(part)));
            for piece in pieces(text) {
                let delta = at(json!({ "delta": piece }));
                events.push(("response.reasoning_summary_text.delta", delta));
            }
            events.push((
                "response.reasoning_summary_text.done",
                at(json!({ "text": text })),
            ));
        }
        Said::Sealed(_) => {}
        Said::Text(text) => {
            let at = |more: Value| {
                with(
                    json!({ "item_id": id, "output_index": index, "content_index": 0 }),
                    more,
                )
            };
            let part = json!({ "part": { "type": "output_text", "text": "", "annotations": [] } });
            events.push(("response.content_part.added", at(part)));
            for piece in pieces(text) {
                events.push(("response.output_text.delta", at(json!({ "delta": piece }))));
            }
            events.push(("response.output_text.done", at(json!({ "text": text }))));
        }
        Said::Call(_, _, arguments) => {
            let at = |more: Value| with(json!({ "item_id": id, "output_index": index }), more);
            for piece in pieces(arguments) {
                let delta = at(json!({ "delta": piece }));
                events.push(("response.function_call_arguments.delta", delta));
            }
            let whole = at(json!({ "arguments": arguments }));
            events.push(("response.function_call_arguments.done", whole));
        }
    }
}

fn with(mut base: Value, more: Value) -> Value {
    if let (Some(base), Value::Object(more)) = (base.as_object_mut(), more) {
        base.extend(more);
    }
    base
}
