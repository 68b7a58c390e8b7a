//! Requests.

use serde_json::{Value, json};
use windlass_ports::{
    Effort, Media, Message, ModelAddress, ModelRequest, OutputSchema, Part, Role, ToolSpec,
};

use crate::wire::{
    dialect::{Dialect, Form},
    shared,
};

/// The body of a request.
pub(in crate::wire) fn body(
    address: &ModelAddress,
    request: &ModelRequest,
    dialect: Dialect,
    is_streamed: bool,
) -> Value {
    let mut body = shared::Fields::default();
    body.put("model", json!(address.model));
    body.put("messages", messages(request, dialect.form));
    body.put_some("temperature", request.temperature);
    body.put_some("top_p", request.top_p);
    if let Some(limit) = request.max_tokens {
        let key = match dialect.says_max_tokens {
            true => "max_tokens",
            false => "max_completion_tokens",
        };
        body.put(key, json!(limit));
    }
    body.put_some("seed", request.seed);
    match (&request.schema, dialect.form) {
        (Some(OutputSchema { name, schema }), Form::Schema) => body.put(
            "response_format",
            json!({
                "type": "json_schema",
                "json_schema": { "name": name, "strict": true, "schema": schema },
            }),
        ),
        (Some(_), Form::Object) => body.put("response_format", json!({ "type": "json_object" })),
        (Some(_), Form::Prompt) | (None, _) => {}
    }
    if !request.tools.is_empty() {
        body.put("tools", request.tools.iter().map(tool).collect::<Value>());
    }
    if let (Some(effort @ (Effort::Low | Effort::Medium | Effort::High)), true) =
        (request.effort, dialect.takes_effort)
    {
        body.put("reasoning_effort", json!(effort.as_str()));
    }
    if let (Some(key), true) = (&request.cache_key, knows_cache_keys(address)) {
        body.put("prompt_cache_key", json!(key));
    }
    if is_streamed {
        body.put("stream", json!(true));
        if dialect.streams_usage {
            body.put("stream_options", json!({ "include_usage": true }));
        }
    }
    body.into_json()
}

/// Other servers may refuse a field that they do not know.
fn knows_cache_keys(address: &ModelAddress) -> bool {
    let base = address.shown();
    let host = base.split_once("://").map_or("", |(_, rest)| rest);
    let host = host.split(['/', ':']).next().unwrap_or_default();
    host == "api.openai.com"
}

/// The conversation, with the schema among the rules where the server does not take it itself.
fn messages(request: &ModelRequest, form: Form) -> Value {
    let mut list: Vec<Value> = request.messages.iter().flat_map(turn).collect();
    if let Some(rule) = shared::form_rule(request, form) {
        // Some chat templates take a single system message, at the start.
        match request.messages.first() {
            Some(first) if first.role == Role::System => {
                let text = first.text();
                list[0] = message("system", json!(format!("{text}\n\n{rule}")));
            }
            _ => list.insert(0, message("system", json!(rule))),
        }
    }
    Value::Array(list)
}

/// A turn. Results are messages of their own and hold words only, so pictures among them follow
/// in a message of the user.
fn turn(turn: &Message) -> Vec<Value> {
    let role = match turn.role {
        Role::System => "system",
        Role::User => "user",
        Role::Assistant => return vec![assistant(turn)],
        Role::Tool => return results(turn),
    };
    match is_plain(&turn.parts) {
        true => vec![message(role, json!(turn.text()))],
        false => vec![message(role, content(turn.parts.iter()))],
    }
}

fn results(turn: &Message) -> Vec<Value> {
    let mut list = Vec::new();
    let mut seen = Vec::new();
    for result in turn.tool_results() {
        list.push(json!({
            "role": "tool",
            "content": result.text(),
            "tool_call_id": result.call_id,
        }));
        let mut media = shared::media(&result.parts).peekable();
        if media.peek().is_some() {
            seen.push(Part::text(format!("What {} returned:", result.name)));
            seen.extend(media.cloned());
        }
    }
    if !seen.is_empty() {
        list.push(message("user", content(seen.iter())));
    }
    list
}

fn assistant(turn: &Message) -> Value {
    let text = turn.text();
    let mut json = message("assistant", json!(text));
    if turn.tool_calls().next().is_none() {
        return json;
    }
    if text.is_empty() {
        json["content"] = Value::Null;
    }
    json["tool_calls"] = turn
        .tool_calls()
        .map(|call| {
            let arguments = shared::arguments_text(&call.arguments);
            json!({
                "id": call.id,
                "type": "function",
                "function": { "name": call.name, "arguments": arguments },
            })
        })
        .collect();
    // Servers that tell thoughts want them back as long as the calls they led to are answered.
    let thoughts: String = turn.parts.iter().filter_map(plain_thought).collect();
    if !thoughts.is_empty() {
        json["reasoning_content"] = json!(thoughts);
    }
    json
}

/// A thought of a server with this interface, and of no other.
fn plain_thought(part: &Part) -> Option<&str> {
    match part {
        Part::Thinking(thought)
            if thought.signature.is_none() && thought.sealed.is_none() && thought.id.is_none() =>
        {
            Some(&thought.text)
        }
        _ => None,
    }
}

fn message(role: &str, content: Value) -> Value {
    json!({ "role": role, "content": content })
}

fn is_plain(parts: &[Part]) -> bool {
    shared::media(parts).next().is_none()
}

fn content<'a>(parts: impl Iterator<Item = &'a Part>) -> Value {
    let piece = |part: &Part| match part {
        Part::Text { text } if text.is_empty() => None,
        Part::Text { text } => Some(json!({ "type": "text", "text": text })),
        Part::Image(image) => {
            Some(json!({ "type": "image_url", "image_url": { "url": shared::data_url(image) } }))
        }
        Part::Document(document) => Some(file(document)),
        Part::Thinking(_) | Part::ToolCall(_) | Part::ToolResult(_) => None,
    };
    parts.filter_map(piece).collect()
}

fn file(document: &Media) -> Value {
    match shared::plain_text(document) {
        Some(text) => json!({ "type": "text", "text": text }),
        None => json!({ "type": "file", "file": {
            "filename": shared::file_name(document),
            "file_data": shared::data_url(document),
        } }),
    }
}

fn tool(tool: &ToolSpec) -> Value {
    json!({
        "type": "function",
        "function": {
            "name": tool.name,
            "description": tool.description,
            "parameters": tool.input_schema,
        },
    })
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use windlass_ports::{ToolCall, ToolResult, WireFormat};

    use super::*;

    fn address(base: &str) -> ModelAddress {
        ModelAddress {
            wire: WireFormat::ChatCompletions,
            api_base_url: base.to_owned(),
            model: "small".to_owned(),
            api_key: None,
            request_timeout: Duration::ZERO,
        }
    }

    #[test]
    fn a_full_request() {
        let request = ModelRequest {
            messages: vec![
                Message::system("Be brief."),
                Message::user("Look."),
                Message {
                    role: Role::Assistant,
                    parts: vec![Part::ToolCall(ToolCall::new(
                        "c1",
                        "view",
                        "{\"path\": \"a\"}",
                    ))],
                },
                Message::results([ToolResult {
                    call_id: "c1".to_owned(),
                    name: "view".to_owned(),
                    parts: vec![Part::text("text of a")],
                    is_error: false,
                }]),
            ],
            temperature: Some(0.0),
            top_p: Some(0.9),
            max_tokens: Some(100),
            seed: Some(7),
            schema: None,
            tools: vec![ToolSpec {
                name: "view".to_owned(),
                description: "Shows a file".to_owned(),
                input_schema: json!({ "type": "object" }),
            }],
            effort: None,
            cache_key: None,
            idempotency_key: Some("a header, not a part of the body".to_owned()),
        };
        let body = body(
            &address("http://127.0.0.1:8080/v1"),
            &request,
            Dialect::default(),
            true,
        );
        assert_eq!(
            body,
            json!({
                "model": "small",
                "messages": [
                    { "role": "system", "content": "Be brief." },
                    { "role": "user", "content": "Look." },
                    { "role": "assistant", "content": null, "tool_calls": [
                        { "id": "c1", "type": "function", "function": { "name": "view", "arguments": "{\"path\": \"a\"}" } },
                    ] },
                    { "role": "tool", "content": "text of a", "tool_call_id": "c1" },
                ],
                "temperature": 0.0,
                "top_p": 0.9,
                "max_tokens": 100,
                "seed": 7,
                "tools": [{ "type": "function", "function": {
                    "name": "view", "description": "Shows a file", "parameters": { "type": "object" },
                } }],
                "stream": true,
                "stream_options": { "include_usage": true },
            })
        );
    }

    #[test]
    fn a_form_in_each_dialect() {
        let with_system = |system: Option<&str>| ModelRequest {
            schema: Some(OutputSchema {
                name: "page".to_owned(),
                schema: json!({ "type": "object" }),
            }),
            max_tokens: Some(9),
            ..ModelRequest::new(
                system
                    .map(Message::system)
                    .into_iter()
                    .chain([Message::user("Write.")])
                    .collect(),
            )
        };
        let say = |form, system| {
            let dialect = Dialect {
                form,
                says_max_tokens: false,
                ..Dialect::default()
            };
            body(
                &address("http://127.0.0.1:8080/v1"),
                &with_system(system),
                dialect,
                false,
            )
        };
        let strict = say(Form::Schema, None);
        assert_eq!(
            strict["response_format"],
            json!({ "type": "json_schema", "json_schema": {
                "name": "page", "strict": true, "schema": { "type": "object" },
            } })
        );
        assert_eq!(strict["max_completion_tokens"], 9);
        assert_eq!(strict["messages"].as_array().unwrap().len(), 1);

        let loose = say(Form::Object, Some("Be brief."));
        assert_eq!(loose["response_format"], json!({ "type": "json_object" }));
        insta::assert_snapshot!(loose["messages"][0]["content"].as_str().unwrap(), @r#"
        Be brief.

        Answer with one JSON value that fits the JSON Schema below, and nothing else: no explanation, no code fence.

        JSON Schema:
        {"type":"object"}
        "#);
        let bare = say(Form::Prompt, None);
        assert!(bare.get("response_format").is_none());
        assert_eq!(bare["messages"][0]["role"], "system");
        assert_eq!(bare["messages"][1]["role"], "user");
    }

    #[test]
    fn a_cache_key_goes_where_it_is_known() {
        let request = ModelRequest {
            cache_key: Some("s1".to_owned()),
            ..ModelRequest::new(vec![Message::user("Hi")])
        };
        for (base, expected) in [
            ("https://api.openai.com/v1", true),
            ("https://user:pw@api.openai.com:443/v1", true),
            ("https://api.openai.com.example.org/v1", false),
            ("http://127.0.0.1:8080/v1", false),
        ] {
            let body = body(&address(base), &request, Dialect::default(), false);
            assert_eq!(body.get("prompt_cache_key").is_some(), expected, "{base}");
        }
    }
}
