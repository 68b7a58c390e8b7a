//! The bodies of requests, whole.

use serde_json::json;
use windlass_ports::{
    Effort, Media, Message, ModelRequest, OutputSchema, Part, Role, Thinking, ToolCall, ToolResult,
    WireFormat,
};
use windlass_testkit::servers::models::ModelTurn;

use super::place::{Before, Hears, tools};

/// Everything a conversation can hold.
fn full(wire: WireFormat) -> ModelRequest {
    let thought = match wire {
        WireFormat::ChatCompletions => Thinking {
            text: "Plainly.".to_owned(),
            ..Thinking::default()
        },
        WireFormat::Responses => Thinking {
            text: String::new(),
            sealed: Some("signed-e3b0c44298fc1c14".to_owned()),
            id: Some("rs_1".to_owned()),
            signature: None,
        },
        WireFormat::Messages => Thinking {
            sealed: Some("c2VhbGVk".to_owned()),
            ..Thinking::default()
        },
        WireFormat::Gemini => Thinking {
            text: "Plainly.".to_owned(),
            id: Some("gemini:thought".to_owned()),
            ..Thinking::default()
        },
    };
    let result = |id: &str, parts: Vec<Part>, is_error: bool| ToolResult {
        call_id: id.to_owned(),
        name: "view".to_owned(),
        parts,
        is_error,
    };
    ModelRequest {
        messages: vec![
            Message::system("Be brief."),
            Message {
                role: Role::User,
                parts: vec![
                    Part::text("Look."),
                    Part::Image(Media {
                        media_type: "image/png".to_owned(),
                        data: "aW1n".to_owned(),
                        name: None,
                    }),
                ],
            },
            Message {
                role: Role::Assistant,
                parts: vec![
                    Part::Thinking(thought),
                    Part::text("I look."),
                    Part::ToolCall(ToolCall::new("c1", "view", "{\"path\": \"a\"}")),
                    Part::ToolCall(ToolCall::new("c2", "view", "{\"path\": ")),
                ],
            },
            Message::results([
                result("c1", vec![Part::text("text of a")], false),
                result("c2", vec![], true),
            ]),
            Message::user("Go on."),
        ],
        max_tokens: Some(4_000),
        tools: tools().into_iter().take(1).collect(),
        effort: Some(Effort::Medium),
        cache_key: Some("session-1".to_owned()),
        idempotency_key: Some("a header, not a part of the body".to_owned()),
        ..ModelRequest::default()
    }
}

async fn sent(wire: WireFormat, request: &ModelRequest) -> String {
    let place = Before::new(wire, [ModelTurn::of("Hi.")]);
    place.reply(request, Hears::Pieces).await;
    assert_eq!(place.double.refused(), [""; 0]);
    let seen = &place.double.seen()[0];
    assert_eq!(
        seen.header("idempotency-key").is_some(),
        request.idempotency_key.is_some()
    );
    serde_json::to_string_pretty(&seen.body).unwrap()
}

#[tokio::test]
async fn messages() {
    insta::assert_snapshot!(sent(WireFormat::Messages, &full(WireFormat::Messages)).await, @r#"
    {
      "max_tokens": 4000,
      "messages": [
        {
          "content": [
            {
              "text": "Look.",
              "type": "text"
            },
            {
              "source": {
                "data": "aW1n",
                "media_type": "image/png",
                "type": "base64"
              },
              "type": "image"
            }
          ],
          "role": "user"
        },
        {
          "content": [
            {
              "data": "c2VhbGVk",
              "type": "redacted_thinking"
            },
            {
              "text": "I look.",
              "type": "text"
            },
            {
              "id": "c1",
              "input": {
                "path": "a"
              },
              "name": "view",
              "type": "tool_use"
            },
            {
              "cache_control": {
                "type": "ephemeral"
              },
              "id": "c2",
              "input": {
                "raw_arguments": "{\"path\": "
              },
              "name": "view",
              "type": "tool_use"
            }
          ],
          "role": "assistant"
        },
        {
          "content": [
            {
              "content": [
                {
                  "text": "text of a",
                  "type": "text"
                }
              ],
              "tool_use_id": "c1",
              "type": "tool_result"
            },
            {
              "content": "(no output)",
              "is_error": true,
              "tool_use_id": "c2",
              "type": "tool_result"
            },
            {
              "cache_control": {
                "type": "ephemeral"
              },
              "text": "Go on.",
              "type": "text"
            }
          ],
          "role": "user"
        }
      ],
      "model": "m-1",
      "stream": true,
      "system": [
        {
          "cache_control": {
            "ttl": "1h",
            "type": "ephemeral"
          },
          "text": "Be brief.",
          "type": "text"
        }
      ],
      "thinking": {
        "budget_tokens": 3000,
        "type": "enabled"
      },
      "tools": [
        {
          "cache_control": {
            "ttl": "1h",
            "type": "ephemeral"
          },
          "description": "Does view",
          "input_schema": {
            "properties": {
              "path": {
                "type": "string"
              }
            },
            "type": "object"
          },
          "name": "view"
        }
      ]
    }
    "#);
}

#[tokio::test]
async fn responses() {
    insta::assert_snapshot!(sent(WireFormat::Responses, &full(WireFormat::Responses)).await, @r#"
    {
      "include": [
        "reasoning.encrypted_content"
      ],
      "input": [
        {
          "content": [
            {
              "text": "Look.",
              "type": "input_text"
            },
            {
              "image_url": "data:image/png;base64,aW1n",
              "type": "input_image"
            }
          ],
          "role": "user",
          "type": "message"
        },
        {
          "encrypted_content": "signed-e3b0c44298fc1c14",
          "id": "rs_1",
          "summary": [],
          "type": "reasoning"
        },
        {
          "content": [
            {
              "text": "I look.",
              "type": "output_text"
            }
          ],
          "role": "assistant",
          "type": "message"
        },
        {
          "arguments": "{\"path\": \"a\"}",
          "call_id": "c1",
          "name": "view",
          "type": "function_call"
        },
        {
          "arguments": "{\"raw_arguments\":\"{\\\"path\\\": \"}",
          "call_id": "c2",
          "name": "view",
          "type": "function_call"
        },
        {
          "call_id": "c1",
          "output": "text of a",
          "type": "function_call_output"
        },
        {
          "call_id": "c2",
          "output": "",
          "type": "function_call_output"
        },
        {
          "content": [
            {
              "text": "Go on.",
              "type": "input_text"
            }
          ],
          "role": "user",
          "type": "message"
        }
      ],
      "instructions": "Be brief.",
      "max_output_tokens": 4000,
      "model": "m-1",
      "prompt_cache_key": "session-1",
      "reasoning": {
        "effort": "medium",
        "summary": "auto"
      },
      "store": false,
      "stream": true,
      "tools": [
        {
          "description": "Does view",
          "name": "view",
          "parameters": {
            "properties": {
              "path": {
                "type": "string"
              }
            },
            "type": "object"
          },
          "strict": false,
          "type": "function"
        }
      ]
    }
    "#);
}

#[tokio::test]
async fn chat_completions() {
    let wire = WireFormat::ChatCompletions;
    insta::assert_snapshot!(sent(wire, &full(wire)).await, @r#"
    {
      "max_tokens": 4000,
      "messages": [
        {
          "content": "Be brief.",
          "role": "system"
        },
        {
          "content": [
            {
              "text": "Look.",
              "type": "text"
            },
            {
              "image_url": {
                "url": "data:image/png;base64,aW1n"
              },
              "type": "image_url"
            }
          ],
          "role": "user"
        },
        {
          "content": "I look.",
          "reasoning_content": "Plainly.",
          "role": "assistant",
          "tool_calls": [
            {
              "function": {
                "arguments": "{\"path\": \"a\"}",
                "name": "view"
              },
              "id": "c1",
              "type": "function"
            },
            {
              "function": {
                "arguments": "{\"raw_arguments\":\"{\\\"path\\\": \"}",
                "name": "view"
              },
              "id": "c2",
              "type": "function"
            }
          ]
        },
        {
          "content": "text of a",
          "role": "tool",
          "tool_call_id": "c1"
        },
        {
          "content": "",
          "role": "tool",
          "tool_call_id": "c2"
        },
        {
          "content": "Go on.",
          "role": "user"
        }
      ],
      "model": "m-1",
      "reasoning_effort": "medium",
      "stream": true,
      "stream_options": {
        "include_usage": true
      },
      "tools": [
        {
          "function": {
            "description": "Does view",
            "name": "view",
            "parameters": {
              "properties": {
                "path": {
                  "type": "string"
                }
              },
              "type": "object"
            }
          },
          "type": "function"
        }
      ]
    }
    "#);
}

#[tokio::test]
async fn gemini() {
    insta::assert_snapshot!(sent(WireFormat::Gemini, &full(WireFormat::Gemini)).await, @r#"
    {
      "contents": [
        {
          "parts": [
            {
              "text": "Look."
            },
            {
              "inlineData": {
                "data": "aW1n",
                "mimeType": "image/png"
              }
            }
          ],
          "role": "user"
        },
        {
          "parts": [
            {
              "text": "Plainly.",
              "thought": true
            },
            {
              "text": "I look."
            },
            {
              "functionCall": {
                "args": {
                  "path": "a"
                },
                "name": "view"
              }
            },
            {
              "functionCall": {
                "args": {
                  "raw_arguments": "{\"path\": "
                },
                "name": "view"
              }
            }
          ],
          "role": "model"
        },
        {
          "parts": [
            {
              "functionResponse": {
                "name": "view",
                "response": {
                  "output": "text of a"
                }
              }
            },
            {
              "functionResponse": {
                "name": "view",
                "response": {
                  "error": "(no output)"
                }
              }
            },
            {
              "text": "Go on."
            }
          ],
          "role": "user"
        }
      ],
      "generationConfig": {
        "maxOutputTokens": 4000,
        "thinkingConfig": {
          "includeThoughts": true,
          "thinkingBudget": 8192
        }
      },
      "systemInstruction": {
        "parts": [
          {
            "text": "Be brief."
          }
        ]
      },
      "tools": [
        {
          "functionDeclarations": [
            {
              "description": "Does view",
              "name": "view",
              "parametersJsonSchema": {
                "properties": {
                  "path": {
                    "type": "string"
                  }
                },
                "type": "object"
              }
            }
          ]
        }
      ]
    }
    "#);
}

/// Settings, and a form of answer.
#[tokio::test]
async fn settings() {
    let request = ModelRequest {
        temperature: Some(0.0),
        top_p: Some(0.9),
        seed: Some(7),
        max_tokens: Some(5),
        effort: Some(Effort::Off),
        schema: Some(OutputSchema {
            name: "page".to_owned(),
            schema: json!({ "type": "object", "additionalProperties": false }),
        }),
        ..ModelRequest::new(vec![Message::user("Write.")])
    };
    let mut all = Vec::new();
    for wire in super::place::WIRES {
        let place = Before::new(wire, [ModelTurn::of("{}")]);
        place.reply(&request, Hears::Nothing).await;
        all.push(format!(
            "{}\n{}",
            wire.as_str(),
            place.double.seen()[0].body
        ));
    }
    insta::assert_snapshot!(all.join("\n"), @r#"
    chat_completions
    {"max_tokens":5,"messages":[{"content":"Write.","role":"user"}],"model":"m-1","response_format":{"json_schema":{"name":"page","schema":{"additionalProperties":false,"type":"object"},"strict":true},"type":"json_schema"},"seed":7,"temperature":0.0,"top_p":0.9}
    responses
    {"input":[{"content":[{"text":"Write.","type":"input_text"}],"role":"user","type":"message"}],"max_output_tokens":16,"model":"m-1","store":false,"temperature":0.0,"text":{"format":{"name":"page","schema":{"additionalProperties":false,"type":"object"},"strict":true,"type":"json_schema"}},"top_p":0.9}
    messages
    {"max_tokens":5,"messages":[{"content":[{"text":"Write.","type":"text"}],"role":"user"}],"model":"m-1","output_config":{"format":{"schema":{"additionalProperties":false,"type":"object"},"type":"json_schema"}},"temperature":0.0}
    gemini
    {"contents":[{"parts":[{"text":"Write."}],"role":"user"}],"generationConfig":{"maxOutputTokens":5,"responseJsonSchema":{"additionalProperties":false,"type":"object"},"responseMimeType":"application/json","seed":7,"temperature":0.0,"thinkingConfig":{"includeThoughts":false,"thinkingBudget":0},"topP":0.9}}
    "#);
}
