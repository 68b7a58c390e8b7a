//! Requests.
//!
//! Roles alternate strictly, results are blocks of the user's turn, and an empty text is refused;
//! so turns of one role become one, and what is empty is left out.

use serde_json::{Value, json};
use windlass_ports::{
    Effort, Media, Message, ModelAddress, ModelError, ModelRequest, OutputSchema, Part, Role,
    Thinking, ToolResult, ToolSpec,
};

use crate::{
    provider::bundled,
    wire::{
        dialect::{Dialect, Form},
        shared,
    },
};

/// The version of the interface, which every request names.
pub(in crate::wire) const VERSION: &str = "2023-06-01";
/// The answer's limit where neither the caller nor the catalogue knows one; the field is required.
const USUAL_LIMIT: u64 = 8_192;
/// The server takes no smaller budget.
const SMALLEST_BUDGET: u64 = 1_024;

/// The address that messages are sent to. The base is written with and without its version.
pub(in crate::wire) fn endpoint(address: &ModelAddress) -> Result<String, ModelError> {
    let base = shared::base(address)?;
    let base = base.strip_suffix("/messages").unwrap_or(base);
    let base = base.strip_suffix("/v1").unwrap_or(base);
    Ok(format!("{base}/v1/messages"))
}

/// The body of a request.
pub(in crate::wire) fn body(
    model: &str,
    request: &ModelRequest,
    dialect: Dialect,
    is_streamed: bool,
) -> Value {
    let is_cached = request.cache_key.is_some();
    let limit = request.max_tokens.unwrap_or_else(|| {
        let known = bundled().by_name(model);
        known.map_or(USUAL_LIMIT, |known| known.max_output)
    });
    let mut turns = turns(request);
    if is_cached {
        for turn in turns.iter_mut().rev().take(2) {
            mark_last(&mut turn.blocks, &json!({ "type": "ephemeral" }));
        }
    }
    let thinking = thinking(request, &turns, dialect, limit);
    let mut body = shared::Fields::default();
    body.put("model", json!(model));
    body.put("max_tokens", json!(limit));
    body.put(
        "messages",
        turns.into_iter().map(Turn::json).collect::<Value>(),
    );
    // A mark that lives longer may not follow one that lives shorter: tools, rules, conversation.
    let long = json!({ "type": "ephemeral", "ttl": "1h" });
    let mut rules: Vec<Value> = shared::rules(request)
        .chain(shared::form_rule(request, dialect.form))
        .map(|text| json!({ "type": "text", "text": text }))
        .collect();
    let mut tools: Vec<Value> = request.tools.iter().map(tool).collect();
    for list in [&mut rules, &mut tools] {
        if is_cached && let Some(last) = list.last_mut() {
            last["cache_control"] = long.clone();
        }
    }
    if !rules.is_empty() {
        body.put("system", Value::Array(rules));
    }
    if !tools.is_empty() {
        body.put("tools", Value::Array(tools));
    }
    let mut output = shared::Fields::default();
    if let (Some(OutputSchema { schema, .. }), Form::Schema) = (&request.schema, dialect.form) {
        let format = json!({ "type": "json_schema", "schema": schema });
        output.put("format", format);
    }
    match thinking {
        // A thinking model chooses as it is used to, and refuses another way.
        Some(HowToThink::Budget(budget)) => body.put(
            "thinking",
            json!({ "type": "enabled", "budget_tokens": budget }),
        ),
        Some(HowToThink::Freely(effort)) => {
            body.put("thinking", json!({ "type": "adaptive" }));
            output.put("effort", effort.as_str());
        }
        None => match (request.temperature, request.top_p) {
            // Only one of the two is taken.
            (Some(temperature), _) => body.put("temperature", json!(temperature)),
            (None, Some(top_p)) => body.put("top_p", json!(top_p)),
            (None, None) => {}
        },
    }
    if !output.is_empty() {
        body.put("output_config", output.into_json());
    }
    if is_streamed {
        body.put("stream", json!(true));
    }
    body.into_json()
}

enum HowToThink {
    /// For up to so many tokens.
    Budget(u64),
    /// As long as the model finds right.
    Freely(Effort),
}

fn thinking(
    request: &ModelRequest,
    turns: &[Turn],
    dialect: Dialect,
    limit: u64,
) -> Option<HowToThink> {
    let effort = request.effort.filter(|_| dialect.takes_effort)?;
    let wanted = match effort {
        Effort::Off => return None,
        Effort::Low => 2_048,
        Effort::Medium => 8_192,
        Effort::High => 24_576,
    };
    if dialect.thinks_adaptively {
        return Some(HowToThink::Freely(effort));
    }
    // The budget is part of the limit and has to be smaller; the rest is for the answer.
    let budget = wanted
        .min(limit.saturating_sub(limit / 4))
        .max(SMALLEST_BUDGET);
    let fits = budget < limit;
    (fits && may_think(turns)).then_some(HowToThink::Budget(budget))
}

/// Whether the server lets the model think: not where calls that it made without a thought are
/// being answered.
fn may_think(turns: &[Turn]) -> bool {
    let last = turns.iter().rev().find(|turn| turn.role == "assistant");
    let is_answering = turns.last().is_some_and(|turn| {
        turn.role == "user"
            && turn
                .blocks
                .iter()
                .any(|block| block["type"] == "tool_result")
    });
    let began_with_a_thought = |turn: &Turn| {
        turn.blocks.first().is_some_and(|block| {
            block["type"] == "thinking" || block["type"] == "redacted_thinking"
        })
    };
    !is_answering || last.is_some_and(began_with_a_thought)
}

/// A turn of one role.
struct Turn {
    role: &'static str,
    blocks: Vec<Value>,
}

impl Turn {
    fn json(self) -> Value {
        json!({ "role": self.role, "content": self.blocks })
    }
}

fn turns(request: &ModelRequest) -> Vec<Turn> {
    let mut turns: Vec<Turn> = Vec::new();
    for message in &request.messages {
        let role = match message.role {
            Role::System => continue,
            Role::User | Role::Tool => "user",
            Role::Assistant => "assistant",
        };
        let blocks = blocks(message);
        if blocks.is_empty() {
            continue;
        }
        match turns.last_mut() {
            Some(turn) if turn.role == role => turn.blocks.extend(blocks),
            _ => turns.push(Turn { role, blocks }),
        }
    }
    // Results come first in their turn: nothing may stand between a call and its result.
    for turn in turns.iter_mut().filter(|turn| turn.role == "user") {
        turn.blocks
            .sort_by_key(|block| block["type"] != "tool_result");
    }
    turns
}

fn blocks(message: &Message) -> Vec<Value> {
    message.parts.iter().filter_map(block).collect()
}

fn block(part: &Part) -> Option<Value> {
    Some(match part {
        Part::Text { text } if text.trim().is_empty() => return None,
        Part::Text { text } => json!({ "type": "text", "text": text }),
        Part::Image(image) => json!({ "type": "image", "source": base64(image) }),
        Part::Document(file) => document(file),
        Part::Thinking(thinking) => return thought(thinking),
        Part::ToolCall(call) => json!({
            "type": "tool_use",
            "id": call.id,
            "name": call.name,
            "input": shared::arguments_object(&call.arguments),
        }),
        Part::ToolResult(result) => tool_result(result),
    })
}

/// A thought of this server, unchanged; it does not believe those of others.
fn thought(thinking: &Thinking) -> Option<Value> {
    match thinking {
        Thinking { id: Some(_), .. } => None,
        Thinking {
            sealed: Some(data), ..
        } => Some(json!({ "type": "redacted_thinking", "data": data })),
        Thinking {
            text,
            signature: Some(signature),
            ..
        } => Some(json!({ "type": "thinking", "thinking": text, "signature": signature })),
        _ => None,
    }
}

fn tool_result(result: &ToolResult) -> Value {
    let mut json = json!({ "type": "tool_result", "tool_use_id": result.call_id });
    let content: Vec<Value> = result.parts.iter().filter_map(block).collect();
    if !content.is_empty() {
        json["content"] = Value::Array(content);
    }
    if result.is_error {
        json["is_error"] = json!(true);
        // An error says what is wrong, or the request is refused.
        if json.get("content").is_none() {
            json["content"] = json!(shared::result_text(result));
        }
    }
    json
}

fn base64(media: &Media) -> Value {
    json!({ "type": "base64", "media_type": media.media_type, "data": media.data })
}

fn document(document: &Media) -> Value {
    let source = match shared::plain_text(document) {
        Some(text) => json!({ "type": "text", "media_type": "text/plain", "data": text }),
        None => base64(document),
    };
    let mut json = json!({ "type": "document", "source": source });
    if let Some(name) = &document.name {
        json["title"] = json!(name);
    }
    json
}

fn tool(tool: &ToolSpec) -> Value {
    json!({
        "name": tool.name,
        "description": tool.description,
        "input_schema": tool.input_schema,
    })
}

/// Marks the last block that may be marked: thoughts may not.
fn mark_last(blocks: &mut [Value], mark: &Value) {
    let is_thought =
        |block: &Value| block["type"] == "thinking" || block["type"] == "redacted_thinking";
    if let Some(last) = blocks.iter_mut().rev().find(|block| !is_thought(block)) {
        last["cache_control"] = mark.clone();
    }
}
