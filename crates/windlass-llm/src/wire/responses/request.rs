//! Requests: the conversation as a list of items, calls and results among them.

use serde_json::{Value, json};
use windlass_ports::{
    Effort, Message, ModelRequest, OutputSchema, Part, Role, Thinking, ToolResult, ToolSpec,
};

use crate::{
    provider::{Thinks, bundled},
    wire::{
        dialect::{Dialect, Form},
        shared,
    },
};

/// The server takes no smaller limit.
const SMALLEST_LIMIT: u64 = 16;

/// The body of a request.
pub(in crate::wire) fn body(
    model: &str,
    request: &ModelRequest,
    dialect: Dialect,
    is_streamed: bool,
) -> Value {
    let mut body = shared::Fields::default();
    body.put("model", json!(model));
    body.put("store", json!(false));
    body.put(
        "input",
        request.messages.iter().flat_map(items).collect::<Value>(),
    );
    let rules: Vec<String> = shared::rules(request)
        .chain(shared::form_rule(request, dialect.form))
        .collect();
    if !rules.is_empty() {
        body.put("instructions", json!(rules.join("\n\n")));
    }
    if !request.tools.is_empty() {
        body.put("tools", request.tools.iter().map(tool).collect::<Value>());
    }
    body.put_some("temperature", request.temperature);
    body.put_some("top_p", request.top_p);
    if let Some(limit) = request.max_tokens {
        body.put("max_output_tokens", json!(limit.max(SMALLEST_LIMIT)));
    }
    match (&request.schema, dialect.form) {
        (Some(OutputSchema { name, schema }), Form::Schema) => body.put(
            "text",
            json!({ "format": {
                "type": "json_schema", "name": name, "strict": true, "schema": schema,
            } }),
        ),
        (Some(_), Form::Object) => body.put("text", json!({ "format": { "type": "json_object" } })),
        (Some(_), Form::Prompt) | (None, _) => {}
    }
    let known = bundled().by_name(model);
    let effort = request.effort.filter(|_| dialect.takes_effort);
    let is_asked = matches!(effort, Some(Effort::Low | Effort::Medium | Effort::High));
    if is_asked || known.is_some_and(|known| known.thinking != Thinks::Never) {
        // Without being stored, a thought comes back only in this form.
        body.put("include", json!(["reasoning.encrypted_content"]));
    }
    match effort {
        Some(Effort::Off) => {
            if let Some(least) = least_effort(model) {
                body.put("reasoning", json!({ "effort": least }));
            }
        }
        Some(effort) => body.put(
            "reasoning",
            json!({ "effort": effort.as_str(), "summary": "auto" }),
        ),
        None => {}
    }
    if let Some(key) = &request.cache_key {
        body.put("prompt_cache_key", json!(key));
    }
    if is_streamed {
        body.put("stream", json!(true));
    }
    body.into_json()
}

/// The server's word for not thinking, or for thinking least where a model always does.
fn least_effort(model: &str) -> Option<&'static str> {
    match model {
        _ if model.starts_with("gpt-5.") => Some("none"),
        _ if model.starts_with("gpt-5") => Some("minimal"),
        _ if model.starts_with("o1") || model.starts_with("o3") || model.starts_with("o4") => {
            Some("low")
        }
        _ => None,
    }
}

/// The items of a turn, in order.
fn items(turn: &Message) -> Vec<Value> {
    match turn.role {
        // The rules are a field of their own.
        Role::System => Vec::new(),
        Role::User => message("user", content(&turn.parts)),
        Role::Assistant => turn.parts.iter().filter_map(said).collect(),
        Role::Tool => turn.tool_results().map(result).collect(),
    }
}

fn message(role: &str, content: Vec<Value>) -> Vec<Value> {
    match content.is_empty() {
        true => Vec::new(),
        false => vec![json!({ "type": "message", "role": role, "content": content })],
    }
}

fn said(part: &Part) -> Option<Value> {
    match part {
        Part::Text { text } if text.is_empty() => None,
        Part::Text { text } => Some(json!({
            "type": "message",
            "role": "assistant",
            "content": [{ "type": "output_text", "text": text }],
        })),
        Part::Thinking(thinking) => thought(thinking),
        Part::ToolCall(call) => Some(json!({
            "type": "function_call",
            "call_id": call.id,
            "name": call.name,
            "arguments": shared::arguments_text(&call.arguments),
        })),
        Part::Image(_) | Part::Document(_) | Part::ToolResult(_) => None,
    }
}

/// A thought of this server, unchanged. Without its sealed form the server does not know it.
fn thought(thinking: &Thinking) -> Option<Value> {
    let Thinking {
        text,
        sealed: Some(sealed),
        id: Some(id),
        signature: None,
    } = thinking
    else {
        return None;
    };
    let summary = match text.is_empty() {
        true => json!([]),
        false => json!([{ "type": "summary_text", "text": text }]),
    };
    Some(json!({
        "type": "reasoning", "id": id, "summary": summary, "encrypted_content": sealed,
    }))
}

fn result(result: &ToolResult) -> Value {
    let is_plain = shared::media(&result.parts).next().is_none();
    let output = match is_plain {
        true => json!(result.text()),
        false => Value::Array(content(&result.parts)),
    };
    json!({ "type": "function_call_output", "call_id": result.call_id, "output": output })
}

fn content(parts: &[Part]) -> Vec<Value> {
    let piece = |part: &Part| match part {
        Part::Text { text } if text.is_empty() => None,
        Part::Text { text } => Some(json!({ "type": "input_text", "text": text })),
        Part::Image(image) => {
            Some(json!({ "type": "input_image", "image_url": shared::data_url(image) }))
        }
        Part::Document(document) => Some(match shared::plain_text(document) {
            Some(text) => json!({ "type": "input_text", "text": text }),
            None => json!({
                "type": "input_file",
                "filename": shared::file_name(document),
                "file_data": shared::data_url(document),
            }),
        }),
        Part::Thinking(_) | Part::ToolCall(_) | Part::ToolResult(_) => None,
    };
    parts.iter().filter_map(piece).collect()
}

fn tool(tool: &ToolSpec) -> Value {
    json!({
        "type": "function",
        "name": tool.name,
        "description": tool.description,
        "parameters": tool.input_schema,
        "strict": false,
    })
}
