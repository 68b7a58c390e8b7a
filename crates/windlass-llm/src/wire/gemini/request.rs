//! Requests.

use std::collections::HashSet;

use serde_json::{Value, json};
use windlass_ports::{
    Effort, Media, Message, ModelAddress, ModelError, ModelRequest, Part, Role, Thinking, ToolCall,
    ToolResult, ToolSpec,
};

use super::{ALONE, HAS_ID, OF_WORDS, SIGNATURE, THOUGHT};
use crate::wire::{
    dialect::{Dialect, Form},
    shared,
};

/// The version of the interface, where the base address names none.
const VERSION: &str = "v1beta";

/// The address of a model. The key is a header, never a part of it.
pub(in crate::wire) fn endpoint(
    address: &ModelAddress,
    is_streamed: bool,
) -> Result<String, ModelError> {
    let base = shared::base(address)?;
    let version = match base.rsplit('/').next() {
        Some("v1" | "v1beta" | "v1alpha") => String::new(),
        _ => format!("/{VERSION}"),
    };
    let model = address.model.trim();
    let model = model.strip_prefix("models/").unwrap_or(model);
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "-._".contains(letter);
    if model.is_empty() || !model.chars().all(is_plain) {
        return Err(ModelError::InvalidAddress(format!(
            "`{model}` is not the name of a model; names consist of letters, digits, `-`, `.` and `_`"
        )));
    }
    let verb = match is_streamed {
        true => "streamGenerateContent?alt=sse",
        false => "generateContent",
    };
    Ok(format!("{base}{version}/models/{model}:{verb}"))
}

/// The body of a request.
pub(in crate::wire) fn body(model: &str, request: &ModelRequest, dialect: Dialect) -> Value {
    let mut body = shared::Fields::default();
    body.put("contents", contents(request));
    let rules: Vec<Value> = shared::rules(request)
        .chain(shared::form_rule(request, dialect.form))
        .map(|text| json!({ "text": text }))
        .collect();
    if !rules.is_empty() {
        body.put("systemInstruction", json!({ "parts": rules }));
    }
    if !request.tools.is_empty() {
        let declared: Vec<Value> = request.tools.iter().map(tool).collect();
        body.put("tools", json!([{ "functionDeclarations": declared }]));
    }
    let mut settings = shared::Fields::default();
    settings.put_some("temperature", request.temperature);
    settings.put_some("topP", request.top_p);
    settings.put_some("maxOutputTokens", request.max_tokens);
    settings.put_some("seed", request.seed);
    if let (Some(wanted), Form::Schema) = (&request.schema, dialect.form) {
        settings.put("responseMimeType", json!("application/json"));
        settings.put("responseJsonSchema", wanted.schema.clone());
    }
    if let (Some(effort), true) = (request.effort, dialect.takes_effort) {
        settings.put("thinkingConfig", thinking(model, effort));
    }
    if !settings.is_empty() {
        body.put("generationConfig", settings.into_json());
    }
    body.into_json()
}

fn thinking(model: &str, effort: Effort) -> Value {
    let budget = match effort {
        // The large models cannot be kept from thinking.
        Effort::Off if model.contains("pro") => 128,
        Effort::Off => 0,
        Effort::Low => 1_024,
        Effort::Medium => 8_192,
        Effort::High => 24_576,
    };
    json!({ "includeThoughts": effort != Effort::Off, "thinkingBudget": budget })
}

fn contents(request: &ModelRequest) -> Value {
    let mut list: Vec<(&str, Vec<Value>)> = Vec::new();
    let mut with_id = HashSet::new();
    for message in &request.messages {
        let role = match message.role {
            Role::System => continue,
            Role::User | Role::Tool => "user",
            Role::Assistant => "model",
        };
        with_id.extend(
            message
                .tool_calls()
                .filter(|it| has_id(it))
                .map(|it| it.id.as_str()),
        );
        let parts = match message.role {
            Role::Tool => results(message, &with_id),
            _ => parts(message),
        };
        match list.last_mut() {
            _ if parts.is_empty() => {}
            Some((last, held)) if *last == role => held.extend(parts),
            _ => list.push((role, parts)),
        }
    }
    list.into_iter()
        .map(|(role, parts)| json!({ "role": role, "parts": parts }))
        .collect()
}

fn has_id(call: &ToolCall) -> bool {
    let metadata = call.metadata.as_ref();
    metadata.is_some_and(|metadata| metadata[HAS_ID] == true)
}

fn parts(message: &Message) -> Vec<Value> {
    let mut list: Vec<Value> = Vec::new();
    for part in &message.parts {
        match part {
            Part::Text { text } if text.is_empty() => {}
            Part::Text { text } => list.push(json!({ "text": text })),
            Part::Image(media) => list.push(inline(media)),
            Part::Document(media) => list.push(document(media)),
            Part::Thinking(thinking) => think(thinking, &mut list),
            Part::ToolCall(call) => list.push(function_call(call)),
            Part::ToolResult(_) => {}
        }
    }
    list
}

/// A thought or a signature of this server, where it was.
fn think(thinking: &Thinking, list: &mut Vec<Value>) {
    let Thinking {
        text,
        signature,
        id,
        ..
    } = thinking;
    let signed = |mut part: Value| {
        if let Some(signature) = signature {
            part[SIGNATURE] = json!(signature);
        }
        part
    };
    match (id.as_deref(), list.last_mut()) {
        (Some(THOUGHT), _) => list.push(signed(json!({ "text": text, "thought": true }))),
        (Some(OF_WORDS), Some(words)) if words.get("text").is_some() => {
            *words = signed(words.take());
        }
        (Some(ALONE), _) => list.push(signed(json!({ "text": "" }))),
        _ => {}
    }
}

fn function_call(call: &ToolCall) -> Value {
    let mut function = json!({
        "name": call.name,
        "args": shared::arguments_object(&call.arguments),
    });
    if has_id(call) {
        function["id"] = json!(call.id);
    }
    let mut part = json!({ "functionCall": function });
    let signature = call
        .metadata
        .as_ref()
        .and_then(|metadata| metadata.get(SIGNATURE));
    if let Some(signature) = signature {
        part[SIGNATURE] = signature.clone();
    }
    part
}

/// The results, then what they hold besides words.
fn results(message: &Message, with_id: &HashSet<&str>) -> Vec<Value> {
    let result = |result: &ToolResult| {
        let key = match result.is_error {
            true => "error",
            false => "output",
        };
        let mut function = json!({
            "name": result.name,
            "response": { key: shared::result_text(result) },
        });
        if with_id.contains(result.call_id.as_str()) {
            function["id"] = json!(result.call_id);
        }
        json!({ "functionResponse": function })
    };
    let media = message
        .tool_results()
        .flat_map(|result| shared::media(&result.parts));
    let media = media.filter_map(|part| match part {
        Part::Image(media) => Some(inline(media)),
        Part::Document(media) => Some(document(media)),
        _ => None,
    });
    message.tool_results().map(result).chain(media).collect()
}

fn document(document: &Media) -> Value {
    match shared::plain_text(document) {
        Some(text) => json!({ "text": text }),
        None => inline(document),
    }
}

fn inline(media: &Media) -> Value {
    json!({ "inlineData": { "mimeType": media.media_type, "data": media.data } })
}

fn tool(tool: &ToolSpec) -> Value {
    json!({
        "name": tool.name,
        "description": tool.description,
        "parametersJsonSchema": tool.input_schema,
    })
}
