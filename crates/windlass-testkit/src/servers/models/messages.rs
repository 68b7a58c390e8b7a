//! Anthropic Messages.

use serde_json::{Value, json};

use super::double::SeenRequest;
use super::script::{Ended, ModelTurn, Said};
use super::strict::{
    Checked, Refusal, invalid, is_strict_schema, list, number, only, pieces, require, signature,
    string, tool_names,
};

const MODEL: &str = "claude-double-1";

pub(super) fn check(seen: &SeenRequest) -> Checked {
    if seen.path != "/v1/messages" {
        return Err(Refusal::new(404, "not_found_error", "Not found"));
    }
    if seen.header("x-api-key").is_none_or(str::is_empty) {
        return Err(Refusal::new(
            401,
            "authentication_error",
            "x-api-key header is required",
        ));
    }
    let version = seen.header("anthropic-version");
    require(
        version == Some("2023-06-01"),
        "anthropic-version: header is required",
    )?;
    let body = &seen.body;
    only(
        body,
        "body",
        &[
            "model",
            "max_tokens",
            "messages",
            "system",
            "tools",
            "tool_choice",
            "temperature",
            "top_p",
            "top_k",
            "stop_sequences",
            "stream",
            "metadata",
            "thinking",
            "output_config",
            "service_tier",
        ],
    )?;
    string(&body["model"], "model")?;
    let limit = body["max_tokens"].as_u64().filter(|limit| *limit > 0);
    let limit = limit.ok_or_else(|| invalid("max_tokens: Field required"))?;
    number(body, "temperature", 0.0, 1.0)?;
    number(body, "top_p", 0.0, 1.0)?;
    let both = body["temperature"].is_number() && body["top_p"].is_number();
    require(
        !both,
        "`temperature` and `top_p` cannot both be specified for this model",
    )?;
    tools(body)?;
    output(body)?;
    if !body["system"].is_null() {
        for (number, block) in list(&body["system"], "system")?.iter().enumerate() {
            text_block(block, &format!("system.{number}"))?;
        }
    }
    let messages = list(&body["messages"], "messages")?;
    let is_thinking = thinking(body, limit)?;
    conversation(messages)?;
    if is_thinking {
        thoughts_lead(messages)?;
    }
    marks(body)
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
            &[
                "name",
                "description",
                "input_schema",
                "cache_control",
                "type",
            ],
        )?;
        require(
            tool["input_schema"]["type"] == "object",
            "tools.0.custom.input_schema.type: Field required",
        )?;
    }
    tool_names(tools.iter().map(|tool| tool["name"].as_str()))
}

fn output(body: &Value) -> Checked {
    let output = &body["output_config"];
    if output.is_null() {
        return Ok(());
    }
    only(output, "output_config", &["format", "effort"])?;
    let format = &output["format"];
    if format.is_null() {
        return Ok(());
    }
    only(format, "output_config.format", &["type", "schema"])?;
    require(
        format["type"] == "json_schema",
        "output_config.format.type: unknown",
    )?;
    require(
        is_strict_schema(&format["schema"], false),
        "output_config.format.schema: For 'object' type, 'additionalProperties' must be explicitly set to false",
    )
}

fn thinking(body: &Value, limit: u64) -> Result<bool, Refusal> {
    let thinking = &body["thinking"];
    match thinking["type"].as_str() {
        None if thinking.is_null() => Ok(false),
        Some("disabled") => Ok(false),
        Some("adaptive") => {
            only(thinking, "thinking", &["type", "display"])?;
            Ok(false)
        }
        Some("enabled") => {
            only(thinking, "thinking", &["type", "budget_tokens"])?;
            let budget = thinking["budget_tokens"].as_u64().unwrap_or_default();
            require(
                budget >= 1024,
                "thinking.enabled.budget_tokens: should be at least 1024",
            )?;
            require(
                budget < limit,
                "`max_tokens` must be greater than `thinking.budget_tokens`",
            )?;
            let is_free = body["temperature"].is_null() && body["top_p"].is_null();
            require(
                is_free,
                "`temperature` may only be set to 1 when thinking is enabled",
            )?;
            Ok(true)
        }
        _ => Err(invalid("thinking.type: unknown")),
    }
}

fn conversation(messages: &[Value]) -> Checked {
    let mut asked: Vec<&str> = Vec::new();
    let mut known: Vec<&str> = Vec::new();
    for (number, message) in messages.iter().enumerate() {
        let place = format!("messages.{number}");
        only(message, &place, &["role", "content"])?;
        let role = match number % 2 {
            0 => "user",
            _ => "assistant",
        };
        require(
            message["role"] == role,
            format!("{place}: roles must alternate"),
        )?;
        let blocks = list(&message["content"], &format!("{place}.content"))?;
        let answered = results(blocks, &place)?;
        for id in &asked {
            let times = answered.iter().filter(|it| it == &id).count();
            require(
                times == 1,
                format!(
                    "{place}: `tool_use` ids must have exactly one `tool_result` block immediately after: {id}"
                ),
            )?;
        }
        require(
            answered.iter().all(|id| asked.contains(id)),
            format!("{place}: unexpected `tool_use_id` found in `tool_result` blocks"),
        )?;
        asked.clear();
        for (number, block) in blocks.iter().enumerate() {
            check_block(block, role, &format!("{place}.content.{number}"))?;
            if block["type"] == "tool_use" {
                let id = block["id"].as_str().unwrap_or_default();
                require(
                    !known.contains(&id),
                    "messages: `tool_use` ids must be unique",
                )?;
                known.push(id);
                asked.push(id);
            }
        }
    }
    require(
        asked.is_empty(),
        "messages: `tool_use` ids were found without `tool_result` blocks immediately after",
    )
}

fn results<'a>(blocks: &'a [Value], place: &str) -> Result<Vec<&'a str>, Refusal> {
    let is_result = |block: &&Value| block["type"] == "tool_result";
    let first: Vec<&Value> = blocks.iter().take_while(is_result).collect();
    let all = blocks.iter().filter(is_result).count();
    require(
        first.len() == all,
        format!("{place}: `tool_result` blocks must come before other content"),
    )?;
    Ok(first
        .iter()
        .filter_map(|it| it["tool_use_id"].as_str())
        .collect())
}

fn check_block(block: &Value, role: &str, place: &str) -> Checked {
    let from = |who: &str| require(role == who, format!("{place}: not in a message of {role}"));
    match block["type"].as_str().unwrap_or_default() {
        "text" => text_block(block, place),
        "image" => {
            from("user")?;
            only(block, place, &["type", "source", "cache_control"])?;
            source(
                &block["source"],
                place,
                &["image/jpeg", "image/png", "image/gif", "image/webp"],
            )
        }
        "document" => {
            from("user")?;
            only(
                block,
                place,
                &[
                    "type",
                    "source",
                    "title",
                    "context",
                    "citations",
                    "cache_control",
                ],
            )?;
            source(&block["source"], place, &["application/pdf", "text/plain"])
        }
        "thinking" => {
            from("assistant")?;
            only(block, place, &["type", "thinking", "signature"])?;
            let thought = block["thinking"].as_str().unwrap_or_default();
            require(
                block["signature"] == signature(thought),
                format!("{place}: Invalid `signature` in `thinking` block"),
            )
        }
        "redacted_thinking" => {
            from("assistant")?;
            only(block, place, &["type", "data"])?;
            string(&block["data"], place).map(drop)
        }
        "tool_use" => {
            from("assistant")?;
            only(
                block,
                place,
                &["type", "id", "name", "input", "cache_control"],
            )?;
            let id = string(&block["id"], place)?;
            let is_plain = |it: char| it.is_ascii_alphanumeric() || it == '_' || it == '-';
            require(
                id.chars().all(is_plain),
                format!("{place}.id: should match ^[a-zA-Z0-9_-]+$"),
            )?;
            string(&block["name"], place)?;
            require(
                block["input"].is_object(),
                format!("{place}.input: should be an object"),
            )
        }
        "tool_result" => {
            from("user")?;
            only(
                block,
                place,
                &[
                    "type",
                    "tool_use_id",
                    "content",
                    "is_error",
                    "cache_control",
                ],
            )?;
            let content = &block["content"];
            if block["is_error"] == true {
                require(
                    !content.is_null(),
                    format!("{place}: content cannot be empty if is_error"),
                )?;
            }
            for inner in content.as_array().map(Vec::as_slice).unwrap_or_default() {
                check_block(inner, "user", place)?;
            }
            Ok(())
        }
        other => Err(invalid(format!("{place}: `{other}` is not a known type"))),
    }
}

fn text_block(block: &Value, place: &str) -> Checked {
    only(
        block,
        place,
        &["type", "text", "cache_control", "citations"],
    )?;
    let text = block["text"].as_str().unwrap_or_default();
    require(
        !text.trim().is_empty(),
        format!("{place}: text content blocks must be non-empty"),
    )
}

fn source(source: &Value, place: &str, kinds: &[&str]) -> Checked {
    only(source, place, &["type", "media_type", "data"])?;
    let kind = source["media_type"].as_str().unwrap_or_default();
    require(
        kinds.contains(&kind),
        format!("{place}.source.media_type: `{kind}` is not supported"),
    )?;
    let expected = match kind {
        "text/plain" => "text",
        _ => "base64",
    };
    require(
        source["type"] == expected,
        format!("{place}.source.type: unknown"),
    )?;
    string(&source["data"], place).map(drop)
}

/// While the model thinks, a turn whose calls are being answered began with a thought.
fn thoughts_lead(messages: &[Value]) -> Checked {
    let is_answer = |message: &Value| message["content"][0]["type"] == "tool_result";
    let [.., before, last] = messages else {
        return Ok(());
    };
    let first = before["content"][0]["type"].as_str().unwrap_or_default();
    require(
        !is_answer(last) || first == "thinking" || first == "redacted_thinking",
        "messages: Expected `thinking` or `redacted_thinking`, but found another block, while thinking is enabled",
    )
}

/// At most four marks, and none that lives longer behind one that lives shorter.
fn marks(body: &Value) -> Checked {
    let mut found = Vec::new();
    for part in ["tools", "system", "messages"] {
        collect(&body[part], &mut found);
    }
    require(
        found.len() <= 4,
        "A maximum of 4 blocks with cache_control may be provided",
    )?;
    let mut is_short = false;
    for mark in found {
        only(mark, "cache_control", &["type", "ttl"])?;
        require(mark["type"] == "ephemeral", "cache_control.type: unknown")?;
        match mark["ttl"].as_str() {
            None | Some("5m") => is_short = true,
            Some("1h") => require(
                !is_short,
                "a ttl='1h' cache_control block must not come after a ttl='5m' cache_control block",
            )?,
            Some(_) => return Err(invalid("cache_control.ttl: unknown")),
        }
    }
    Ok(())
}

fn collect<'a>(value: &'a Value, found: &mut Vec<&'a Value>) {
    match value {
        Value::Array(list) => list.iter().for_each(|item| collect(item, found)),
        Value::Object(fields) => {
            found.extend(fields.get("cache_control"));
            for (key, value) in fields {
                if key == "content" {
                    collect(value, found);
                }
            }
        }
        _ => {}
    }
}

fn blocks(turn: &ModelTurn) -> Vec<Value> {
    let block = |said: &Said| match said {
        Said::Thought(text) => {
            json!({ "type": "thinking", "thinking": text, "signature": signature(text) })
        }
        Said::Sealed(data) => json!({ "type": "redacted_thinking", "data": data }),
        Said::Text(text) => json!({ "type": "text", "text": text, "citations": null }),
        Said::Call(id, name, arguments) => json!({
            "type": "tool_use", "id": id, "name": name,
            "input": serde_json::from_str::<Value>(arguments).unwrap_or_else(|_| json!({})),
        }),
    };
    turn.said.iter().map(block).collect()
}

fn stop_reason(turn: &ModelTurn) -> &'static str {
    match turn.ended {
        Ended::Length => "max_tokens",
        Ended::Refused => "refusal",
        Ended::Paused => "pause_turn",
        Ended::Done if turn.has_calls() => "tool_use",
        Ended::Done => "end_turn",
    }
}

fn usage(turn: &ModelTurn) -> Value {
    let [fresh, read, written, output] = turn.tokens;
    json!({
        "input_tokens": fresh,
        "cache_read_input_tokens": read,
        "cache_creation_input_tokens": written,
        "output_tokens": output,
    })
}

pub(super) fn whole(turn: &ModelTurn) -> Value {
    json!({
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": MODEL,
        "content": blocks(turn),
        "stop_reason": stop_reason(turn),
        "stop_sequence": null,
        "usage": usage(turn),
    })
}

fn event(name: &str, mut data: Value) -> String {
    data["type"] = json!(name);
    format!("event: {name}\ndata: {data}\n\n")
}

pub(super) fn events(turn: &ModelTurn) -> Vec<String> {
    let mut message = whole(turn);
    message["content"] = json!([]);
    message["stop_reason"] = Value::Null;
    message["usage"]["output_tokens"] = json!(1);
    let mut events = vec![
        event("message_start", json!({ "message": message })),
        event("ping", json!({})),
    ];
    for (index, said) in turn.said.iter().enumerate() {
        let (start, deltas) = block_events(said);
        events.push(event(
            "content_block_start",
            json!({ "index": index, "content_block": start }),
        ));
        for delta in deltas {
            events.push(event(
                "content_block_delta",
                json!({ "index": index, "delta": delta }),
            ));
        }
        events.push(event("content_block_stop", json!({ "index": index })));
    }
    events.push(event(
        "message_delta",
        json!({
            "delta": { "stop_reason": stop_reason(turn), "stop_sequence": null },
            "usage": { "output_tokens": turn.tokens[3] },
        }),
    ));
    events.push(event("message_stop", json!({})));
    events
}

fn block_events(said: &Said) -> (Value, Vec<Value>) {
    let split = |text: &str, kind: &str, field: &str| -> Vec<Value> {
        let delta = |piece: String| json!({ "type": kind, field: piece });
        pieces(text).into_iter().map(delta).collect()
    };
    match said {
        Said::Thought(text) => {
            let mut deltas = split(text, "thinking_delta", "thinking");
            deltas.push(json!({ "type": "signature_delta", "signature": signature(text) }));
            (
                json!({ "type": "thinking", "thinking": "", "signature": "" }),
                deltas,
            )
        }
        Said::Sealed(data) => (
            json!({ "type": "redacted_thinking", "data": data }),
            Vec::new(),
        ),
        Said::Text(text) => (
            json!({ "type": "text", "text": "" }),
            split(text, "text_delta", "text"),
        ),
        Said::Call(id, name, arguments) => {
            let mut deltas = vec![json!({ "type": "input_json_delta", "partial_json": "" })];
            deltas.extend(split(arguments, "input_json_delta", "partial_json"));
            (
                json!({ "type": "tool_use", "id": id, "name": name, "input": {} }),
                deltas,
            )
        }
    }
}
