//! Requests: the port's question as the JSON that a server takes.

use serde_json::{Map, Value, json};
use windlass_ports::{
    Message, ModelAddress, ModelError, ModelRequest, OutputSchema, Role, ToolResult, ToolSpec,
};

use crate::dialect::{Dialect, Form};

/// The address that completions are asked of.
pub(crate) fn endpoint(address: &ModelAddress) -> Result<String, ModelError> {
    let base = address.api_base_url.trim();
    if base.contains(['?', '#']) {
        return Err(ModelError::InvalidAddress(
            "api_base_url takes no `?` or `#`; write the part before /chat/completions".to_owned(),
        ));
    }
    let base = base.trim_end_matches('/');
    // Often pasted whole.
    let base = base.strip_suffix("/chat/completions").unwrap_or(base);
    if base.is_empty() {
        return Err(ModelError::InvalidAddress(
            "api_base_url is empty; write where the model is served, such as http://127.0.0.1:8080/v1"
                .to_owned(),
        ));
    }
    Ok(format!("{base}/chat/completions"))
}

/// The body of a request.
pub(crate) fn body(
    model: &str,
    request: &ModelRequest,
    dialect: Dialect,
    is_streamed: bool,
) -> Value {
    let mut body = Map::new();
    let mut put = |key: &str, value: Value| {
        body.insert(key.to_owned(), value);
    };
    put("model", json!(model));
    put("messages", messages(request, dialect.form));
    if let Some(temperature) = request.temperature {
        put("temperature", json!(temperature));
    }
    if let Some(top_p) = request.top_p {
        put("top_p", json!(top_p));
    }
    if let Some(limit) = request.max_tokens {
        let key = match dialect.says_max_tokens {
            true => "max_tokens",
            false => "max_completion_tokens",
        };
        put(key, json!(limit));
    }
    if let Some(seed) = request.seed {
        put("seed", json!(seed));
    }
    match (&request.schema, dialect.form) {
        (Some(OutputSchema { name, schema }), Form::Schema) => put(
            "response_format",
            json!({
                "type": "json_schema",
                "json_schema": { "name": name, "strict": true, "schema": schema },
            }),
        ),
        (Some(_), Form::Object) => put("response_format", json!({ "type": "json_object" })),
        (Some(_), Form::Prompt) | (None, _) => {}
    }
    if !request.tools.is_empty() {
        put("tools", request.tools.iter().map(tool).collect());
    }
    if is_streamed {
        put("stream", json!(true));
        if dialect.streams_usage {
            put("stream_options", json!({ "include_usage": true }));
        }
    }
    Value::Object(body)
}

/// The messages, with the schema among the rules where the server does not take it itself.
fn messages(request: &ModelRequest, form: Form) -> Value {
    let mut list: Vec<Value> = request.messages.iter().flat_map(turn).collect();
    let (Some(wanted), Form::Object | Form::Prompt) = (&request.schema, form) else {
        return Value::Array(list);
    };
    let rule = format!(
        "Answer with one JSON value that fits the JSON Schema below, and nothing else: no \
         explanation, no code fence.\n\nJSON Schema:\n{}",
        wanted.schema
    );
    // Some chat templates take a single system message, at the start.
    match request.messages.first() {
        Some(first) if first.role == Role::System => {
            let text = first.text();
            list[0] = message(&Message::system(format!("{text}\n\n{rule}")));
        }
        _ => list.insert(0, message(&Message::system(rule))),
    }
    Value::Array(list)
}

/// A turn, which is one message for each result.
fn turn(turn: &Message) -> Vec<Value> {
    let results: Vec<Value> = turn.tool_results().map(result).collect();
    match results.is_empty() {
        true => vec![message(turn)],
        false => results,
    }
}

fn result(result: &ToolResult) -> Value {
    json!({ "role": "tool", "content": result.text(), "tool_call_id": result.call_id })
}

fn message(message: &Message) -> Value {
    let role = match message.role {
        Role::System => "system",
        Role::User => "user",
        Role::Assistant => "assistant",
        Role::Tool => "tool",
    };
    let text = message.text();
    let mut json = json!({ "role": role, "content": text });
    if message.tool_calls().next().is_some() {
        if text.is_empty() {
            json["content"] = Value::Null;
        }
        json["tool_calls"] = message
            .tool_calls()
            .map(|call| {
                json!({
                    "id": call.id,
                    "type": "function",
                    "function": { "name": call.name, "arguments": call.arguments },
                })
            })
            .collect();
    }
    json
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

    use windlass_ports::{Part, ToolCall, WireFormat};

    use super::*;

    #[test]
    fn endpoints() {
        for (base, expected) in [
            (
                "http://127.0.0.1:8080/v1",
                Some("http://127.0.0.1:8080/v1/chat/completions"),
            ),
            (
                " https://example.org/v1/ ",
                Some("https://example.org/v1/chat/completions"),
            ),
            (
                "https://example.org/v1/chat/completions",
                Some("https://example.org/v1/chat/completions"),
            ),
            ("https://example.org/v1?key=x", None),
            ("https://example.org/#v1", None),
            (" / ", None),
        ] {
            let address = ModelAddress {
                wire: WireFormat::ChatCompletions,
                api_base_url: base.to_owned(),
                model: String::new(),
                api_key: None,
                request_timeout: Duration::ZERO,
            };
            assert_eq!(endpoint(&address).ok().as_deref(), expected, "{base}");
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
        let body = body("small", &request, Dialect::default(), true);
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
                streams_usage: true,
            };
            body("small", &with_system(system), dialect, false)
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
}
