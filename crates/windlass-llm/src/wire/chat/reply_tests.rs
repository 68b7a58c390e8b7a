//! Answers of different servers, and streams in all their forms.

use proptest::prelude::*;
use windlass_ports::{ModelReply, ToolCall, WireFormat};

use super::*;
use crate::reply::ReplyBuilder;

fn builder() -> ReplyBuilder {
    ReplyBuilder::new(WireFormat::ChatCompletions, "asked")
}

fn whole(body: &str) -> Result<ModelReply, ModelError> {
    builder().whole(body.as_bytes(), &mut |_| {})
}

fn streamed(events: &[&str]) -> Result<ModelReply, ModelError> {
    let mut builder = builder();
    for event in events {
        builder.event(event, &mut |_| {})?;
    }
    builder.finish()
}

#[test]
fn complete_answers() {
    let cases = [
        r#"{"model":"m","choices":[{"message":{"content":"hi"},"finish_reason":"stop"}],"usage":{"prompt_tokens":3,"completion_tokens":1,"total_tokens":4,"prompt_tokens_details":{"cached_tokens":2}}}"#,
        r#"{"choices":[{"message":{"content":"hi"}}],"usage":null}"#,
        r#"{"choices":[{"message":{"content":"hi"},"finish_reason":"eos"}],"usage":{"prompt_tokens":3,"completion_tokens":1}}"#,
        r#"{"choices":[{"message":{"content":"h"},"finish_reason":"length"}],"usage":{"prompt_tokens":3}}"#,
        r#"{"choices":[{"message":{"content":null,"refusal":"I will not."},"finish_reason":"stop"}]}"#,
        r#"{"choices":[{"message":{"content":"ab"},"finish_reason":"content_filter"}]}"#,
        r#"{"choices":[{"message":{"content":[{"type":"text","text":"a"},{"type":"image"},{"type":"text","text":"b"}]},"finish_reason":"stop"}]}"#,
        r#"{"choices":[{"message":{"content":"","reasoning_content":"hm","tool_calls":[{"id":"","function":{"name":"view","arguments":"{\"a\""}},{"id":"x","function":{"name":"list","arguments":{"b":1}}}]},"finish_reason":"tool_calls"}]}"#,
        r#"{"choices":[{"index":1,"message":{"content":"second"}},{"index":0,"message":{"content":"first"},"finish_reason":"stop"}]}"#,
        r#"{"choices":[]}"#,
        r#"{"object":"list"}"#,
        r#"{"choices":[{"message":{"content":"h"#,
        "<html>Bad gateway</html>",
        "",
        r#"{"error":{"message":"busy"}}"#,
    ];
    let texts: Vec<String> = cases
        .iter()
        .map(|body| match whole(body) {
            Ok(reply) => serde_json::to_string(&reply).unwrap(),
            Err(error) => format!("error: {error}"),
        })
        .collect();
    insta::assert_snapshot!(texts.join("\n"), @r#"
    {"parts":[{"type":"text","text":"hi"}],"finish_reason":"stop","usage":{"prompt_tokens":3,"completion_tokens":1,"total_tokens":4,"cached_prompt_tokens":2},"model":"m"}
    {"parts":[{"type":"text","text":"hi"}],"finish_reason":"unstated","model":"asked"}
    {"parts":[{"type":"text","text":"hi"}],"finish_reason":"eos","usage":{"prompt_tokens":3,"completion_tokens":1,"total_tokens":4},"model":"asked"}
    {"parts":[{"type":"text","text":"h"}],"finish_reason":"length","model":"asked"}
    {"parts":[{"type":"text","text":"I will not."}],"finish_reason":"refused","model":"asked"}
    {"parts":[{"type":"text","text":"ab"}],"finish_reason":"refused","model":"asked"}
    {"parts":[{"type":"text","text":"ab"}],"finish_reason":"stop","model":"asked"}
    {"parts":[{"type":"thinking","text":"hm"},{"type":"tool_call","id":"call_0","name":"view","arguments":"{\"a\""},{"type":"tool_call","id":"x","name":"list","arguments":"{\"b\":1}"}],"finish_reason":"tool_calls","model":"asked"}
    {"parts":[{"type":"text","text":"first"}],"finish_reason":"stop","model":"asked"}
    error: the model's server answered with something other than a completion: a body without choices: {"choices":[]}
    error: the model's server answered with something other than a completion: a body without choices: {"object":"list"}
    error: the model's server answered with something other than a completion: a body that cannot be read (EOF while parsing a string at line 1 column 36): {"choices":[{"message":{"content":"h
    error: the model's server answered with something other than a completion: a body that cannot be read (expected value at line 1 column 1): <html>Bad gateway</html>
    error: the model's server answered with something other than a completion: nothing
    error: the model's answer broke off: the server reported: busy
    "#);
}

#[test]
fn calls_in_pieces() {
    let by_index = [
        r#"{"choices":[{"delta":{"role":"assistant","content":null,"tool_calls":[{"index":0,"id":"a","function":{"name":"view","arguments":""}}]}}]}"#,
        r#"{"choices":[{"delta":{"tool_calls":[{"index":1,"id":"a","function":{"name":"list","arguments":"{}"}}]}}]}"#,
        r#"{"choices":[{"delta":{"tool_calls":[{"index":0,"function":{"name":"view","arguments":"{\"p\":"}}]}}]}"#,
        r#"{"choices":[{"delta":{"tool_calls":[{"index":0,"function":{"arguments":"\"ü\"}"}}]}}]}"#,
        r#"{"choices":[{"delta":{},"finish_reason":"tool_calls"}]}"#,
    ];
    let call = |id: &str, name: &str, arguments: &str| ToolCall::new(id, name, arguments);
    let reply = streamed(&by_index).unwrap();
    assert_eq!(reply.finish_reason, FinishReason::ToolCalls);
    assert_eq!(
        reply.tool_calls().cloned().collect::<Vec<_>>(),
        [
            call("a", "view", "{\"p\":\"ü\"}"),
            call("call_1", "list", "{}")
        ]
    );

    let by_id_or_order = [
        r#"{"choices":[{"delta":{"tool_calls":[{"id":"a","function":{"name":"view","arguments":"{"}}]}}]}"#,
        r#"{"choices":[{"delta":{"tool_calls":[{"function":{"arguments":"}"}}]}}]}"#,
        r#"{"choices":[{"delta":{"tool_calls":[{"function":{"name":"list","arguments":"{}"}}]}}]}"#,
        r#"{"choices":[{"delta":{"tool_calls":[{"id":"a","function":{"arguments":" "}}]},"finish_reason":"tool_calls"}]}"#,
    ];
    assert_eq!(
        streamed(&by_id_or_order)
            .unwrap()
            .tool_calls()
            .cloned()
            .collect::<Vec<_>>(),
        [call("a", "view", "{} "), call("call_1", "list", "{}")]
    );
}

#[test]
fn how_streams_end() {
    let piece = r#"{"model":"m","choices":[{"delta":{"content":"hi"}}]}"#;
    let end = r#"{"choices":[{"delta":{},"finish_reason":"stop"}]}"#;
    let usage = r#"{"choices":[],"usage":{"prompt_tokens":3,"completion_tokens":1}}"#;
    let error = r#"{"error":{"message":"overloaded"}}"#;
    let cases: &[(&[&str], &str)] = &[
        (&[piece, end, usage, "[DONE]"], "hi stop 4"),
        (&[piece, end, "[DONE]"], "hi stop -"),
        (&[piece, end], "hi stop -"),
        (&[piece, "[DONE]"], "hi unstated -"),
        (&[piece, end, "[DONE]", "{nonsense"], "hi stop -"),
        (
            &[piece],
            "the model's answer broke off: the stream ended before the answer did",
        ),
        (
            &[],
            "the model's answer broke off: the stream ended before the answer did",
        ),
        (
            &[piece, error],
            "the model's answer broke off: the server reported: overloaded",
        ),
    ];
    for (events, expected) in cases {
        let found = match streamed(events) {
            Ok(reply) => format!(
                "{} {} {}",
                reply.text(),
                reply.finish_reason.as_str(),
                reply
                    .usage
                    .map_or("-".to_owned(), |usage| usage.total_tokens.to_string())
            ),
            Err(error) => error.to_string(),
        };
        assert_eq!(&found, expected, "{events:?}");
    }
    assert!(matches!(
        streamed(&[piece, "{nonsense", end]),
        Err(ModelError::Malformed(_))
    ));
}

proptest! {
    #[test]
    fn any_event_is_answered(text in "\\PC{0,80}") {
        let mut builder = builder();
        let _ = builder.event(&text, &mut |_| {});
        let _ = builder.finish();
        let _ = whole(&text);
    }
}
