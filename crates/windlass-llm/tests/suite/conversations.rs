//! Whole conversations with every wire format: thoughts, calls at once, pictures, refusals.

use std::sync::Arc;

use proptest::prelude::*;
use serde_json::json;
use windlass_llm::ModelClient;
use windlass_net::{HttpOutbound, OutboundPolicy};
use windlass_ports::{
    Effort, FinishReason, LanguageModel as _, Media, Message, ModelRequest, OutputSchema, Part,
    Role, ToolResult, WireFormat,
};
use windlass_testkit::servers::models::{Ended, ModelDouble, ModelServer, ModelTurn};

use super::{
    place::{Before, Hears, WIRES, address, answered, question, two_calls},
    server::{QuickClock, Steady},
};

/// What counts of a reply, in words.
fn shown(parts: &[Part]) -> Vec<String> {
    let parts = parts.iter().map(|part| match part {
        Part::Text { text } => text.clone(),
        Part::Thinking(it) if it.text.is_empty() => "(sealed)".to_owned(),
        Part::Thinking(it) => format!("({})", it.text),
        Part::ToolCall(call) => {
            let arguments: serde_json::Value = serde_json::from_str(&call.arguments).unwrap();
            format!("<{} {arguments}>", call.name)
        }
        other => format!("{other:?}"),
    });
    parts.collect()
}

#[tokio::test]
async fn calls_at_once_are_answered_at_once() {
    for wire in WIRES {
        for hears in [Hears::Pieces, Hears::Nothing] {
            let again = ModelTurn::default().thinks("One more.").calls(
                "toolu_3",
                "view",
                "{\"path\":\"c\"}",
            );
            let script = [two_calls(), again, ModelTurn::of("All seen.")];
            let place = Before::new(wire, script);
            let request = ModelRequest {
                effort: Some(Effort::Medium),
                cache_key: Some("session-1".to_owned()),
                ..question()
            };
            let first = place.reply(&request, hears).await;
            assert_eq!(
                shown(&first.parts),
                [
                    "(Both files, größer 🦀 first.)",
                    "I look at \"both\".\n",
                    "<view {\"lines\":[1,2],\"path\":\"größer/🦀.rs\"}>",
                    "<list {}>",
                ],
                "{wire:?} {hears:?}"
            );
            assert_eq!(first.finish_reason, FinishReason::ToolCalls, "{wire:?}");
            let usage = first.usage.unwrap();
            assert_eq!(usage.prompt_tokens, 150, "{wire:?}");
            assert_eq!(usage.cached_prompt_tokens, Some(100), "{wire:?}");
            assert_eq!(
                usage.cache_write_tokens,
                (wire == WireFormat::Messages).then_some(30)
            );
            let request = answered(request, first);
            let second = place.reply(&request, hears).await;
            let request = answered(request, second);
            let last = place.reply(&request, hears).await;
            assert_eq!(last.text(), "All seen.");
            assert_eq!(last.finish_reason, FinishReason::Stop, "{wire:?}");
            // And on: what the user says next follows.
            place.double.then([ModelTurn::of("Yes.")]);
            let mut request = answered(request, last);
            request.messages.push(Message::user("Sure?"));
            assert_eq!(place.reply(&request, hears).await.text(), "Yes.");
            assert_eq!(place.double.refused(), [""; 0], "{wire:?}");
        }
    }
}

#[tokio::test]
async fn what_a_server_wants_back_comes_back_unchanged() {
    for wire in [
        WireFormat::Messages,
        WireFormat::Responses,
        WireFormat::Gemini,
    ] {
        let turn = ModelTurn::default()
            .thinks_sealed("c2VhbGVk")
            .thinks("Then so.")
            .says("Words.")
            .calls("toolu_1", "view", "{}");
        let place = Before::new(wire, [turn, ModelTurn::of("Done.")]);
        let request = ModelRequest {
            effort: Some(Effort::High),
            max_tokens: Some(60_000),
            ..question()
        };
        let reply = place.reply(&request, Hears::Pieces).await;
        let stored = serde_json::to_string(&reply).unwrap();
        let reply = serde_json::from_str(&stored).unwrap();
        place.reply(&answered(request, reply), Hears::Pieces).await;
        let bytes = String::from_utf8(place.double.seen()[1].bytes.clone()).unwrap();
        let wanted = match wire {
            WireFormat::Messages => vec!["\"redacted_thinking\"", "c2VhbGVk", "signed-"],
            WireFormat::Responses => vec!["encrypted_content\":\"signed-", "rs_0", "rs_1"],
            _ => vec![
                "thoughtSignature\":\"signed-",
                "\"text\":\"\"",
                "\"thought\":true",
            ],
        };
        for word in wanted {
            assert!(bytes.contains(word), "{wire:?} {word} {bytes}");
        }
        assert_eq!(place.double.refused(), [""; 0], "{wire:?}");
    }
}

#[tokio::test]
async fn thoughts_of_one_server_are_not_told_to_another() {
    for from in WIRES {
        let script = [two_calls()];
        let thinking = ModelRequest {
            effort: Some(Effort::Low),
            ..question()
        };
        let reply = Before::new(from, script)
            .reply(&thinking, Hears::Pieces)
            .await;
        for to in WIRES {
            let place = Before::new(to, [ModelTurn::of("Hello.")]);
            let request = answered(thinking.clone(), reply.clone());
            assert_eq!(place.reply(&request, Hears::Pieces).await.text(), "Hello.");
            assert_eq!(place.double.refused(), [""; 0], "{from:?} to {to:?}");
        }
    }
}

#[tokio::test]
async fn calls_without_ids_get_their_own() {
    for wire in [WireFormat::Gemini, WireFormat::ChatCompletions] {
        let turn = || {
            ModelTurn::default()
                .calls("", "view", "{\"path\":\"a\"}")
                .calls("", "view", "{\"path\":\"b\"}")
        };
        let place = Before::new(wire, [turn(), turn(), ModelTurn::of("Done.")]);
        let first = place.reply(&question(), Hears::Pieces).await;
        let request = answered(question(), first);
        let second = place.reply(&request, Hears::Pieces).await;
        let request = answered(request, second);
        place.reply(&request, Hears::Pieces).await;
        let ids: Vec<&str> = request
            .messages
            .iter()
            .flat_map(Message::tool_calls)
            .map(|call| call.id.as_str())
            .collect();
        assert_eq!(ids, ["call_0", "call_1", "call_2", "call_3"], "{wire:?}");
        assert_eq!(place.double.refused(), [""; 0], "{wire:?}");
    }
}

#[tokio::test]
async fn ids_that_a_server_repeats_are_replaced() {
    let turn = || {
        ModelTurn::default()
            .calls("0", "view", "{}")
            .calls("0", "list", "{}")
    };
    let place = Before::new(
        WireFormat::ChatCompletions,
        [turn(), turn(), ModelTurn::of("Done.")],
    );
    let first = place.reply(&question(), Hears::Pieces).await;
    let request = answered(question(), first);
    let second = place.reply(&request, Hears::Pieces).await;
    let request = answered(request, second);
    place.reply(&request, Hears::Pieces).await;
    let mut ids: Vec<String> = request
        .messages
        .iter()
        .flat_map(Message::tool_calls)
        .map(|call| call.id.clone())
        .collect();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), 4);
    assert_eq!(place.double.refused(), [""; 0]);
}

#[tokio::test]
async fn a_call_at_the_limit_is_dropped() {
    for wire in WIRES {
        for hears in [Hears::Pieces, Hears::Nothing] {
            let turn = ModelTurn::of("I write it.")
                .calls("toolu_1", "view", "{\"path\":\"a\"}")
                .calls("toolu_2", "view", "{\"path\":\"unfinis")
                .ends(Ended::Length);
            let place = Before::new(wire, [turn]);
            let reply = place.reply(&question(), hears).await;
            assert_eq!(reply.finish_reason, FinishReason::Length, "{wire:?}");
            assert_eq!(shown(&reply.parts), ["I write it."], "{wire:?} {hears:?}");
        }
    }
}

#[tokio::test]
async fn a_refusal_and_a_pause_are_answers() {
    for wire in WIRES {
        for hears in [Hears::Pieces, Hears::Nothing] {
            let refuses = ModelTurn::of("I will not.").ends(Ended::Refused);
            let reply = Before::new(wire, [refuses]).reply(&question(), hears).await;
            assert_eq!(reply.finish_reason, FinishReason::Refused, "{wire:?}");
            assert_eq!(reply.text(), "I will not.");
        }
    }
    let pauses = ModelTurn::of("A moment.").ends(Ended::Paused);
    let reply = Before::new(WireFormat::Messages, [pauses])
        .reply(&question(), Hears::Pieces)
        .await;
    assert_eq!(
        reply.finish_reason,
        FinishReason::Other("pause_turn".to_owned())
    );
}

fn media(kind: &str, data: &str) -> Media {
    Media {
        media_type: kind.to_owned(),
        data: data.to_owned(),
        name: Some("a.bin".to_owned()),
    }
}

#[tokio::test]
async fn pictures_and_documents_are_sent() {
    let parts = || {
        vec![
            Part::text("See."),
            Part::Image(media("image/png", "aW1hZ2U=")),
            Part::Document(media("application/pdf", "cGRm")),
            Part::Document(media("text/plain", "cGxhaW4gd29yZHM=")),
        ]
    };
    for wire in WIRES {
        let call = ModelTurn::default().calls("toolu_1", "view", "{}");
        let place = Before::new(wire, [call, ModelTurn::of("Seen.")]);
        let mut request = ModelRequest {
            messages: vec![Message {
                role: Role::User,
                parts: parts(),
            }],
            ..question()
        };
        let reply = place.reply(&request, Hears::Nothing).await;
        let id = reply.tool_calls().next().unwrap().id.clone();
        request.messages.push(reply.into_message());
        request.messages.push(Message::results([ToolResult {
            call_id: id,
            name: "view".to_owned(),
            parts: parts(),
            is_error: false,
        }]));
        assert_eq!(place.reply(&request, Hears::Nothing).await.text(), "Seen.");
        let last = String::from_utf8(place.double.seen()[1].bytes.clone()).unwrap();
        for word in ["aW1hZ2U=", "cGRm", "plain words"] {
            assert_eq!(last.matches(word).count(), 2, "{wire:?} {word} {last}");
        }
        assert_eq!(place.double.refused(), [""; 0], "{wire:?}");
    }
}

#[tokio::test]
async fn a_form_of_answer_is_asked_for() {
    for wire in WIRES {
        let formed = |schema: serde_json::Value, tools: bool| {
            let question = question();
            ModelRequest {
                schema: Some(OutputSchema {
                    name: "page".to_owned(),
                    schema,
                }),
                tools: if tools { question.tools } else { Vec::new() },
                messages: question.messages,
                ..ModelRequest::default()
            }
        };
        let strict = json!({
            "type": "object", "properties": { "a": { "type": "string" } },
            "required": ["a"], "additionalProperties": false,
        });
        let place = Before::new(wire, [ModelTurn::of("{\"a\":\"b\"}")]);
        place
            .reply(&formed(strict.clone(), false), Hears::Nothing)
            .await;
        let sent = String::from_utf8(place.double.seen()[0].bytes.clone()).unwrap();
        assert!(
            sent.contains("additionalProperties") && !sent.contains("fence"),
            "{sent}"
        );

        // A schema that the server does not take is asked for in words.
        let loose = json!({ "type": "object", "properties": { "a": {} } });
        let answers = [ModelTurn::of("{}"), ModelTurn::of("{}")];
        let place = Before::new(wire, answers);
        let request = match wire {
            WireFormat::Gemini => formed(strict, true),
            _ => formed(loose, false),
        };
        place.reply(&request, Hears::Nothing).await;
        assert_eq!(place.double.refused().len(), 1, "{wire:?}");
        // And what it takes is remembered.
        place.reply(&request, Hears::Nothing).await;
        assert_eq!(place.double.refused().len(), 1, "{wire:?}");
        let seen = place.double.seen();
        assert_eq!(seen[1].bytes, seen[2].bytes);
        let sent = String::from_utf8(seen[1].bytes.clone()).unwrap();
        assert!(sent.contains("no code fence"), "{wire:?} {sent}");
    }
}

#[tokio::test]
async fn over_a_socket() {
    let outbound = HttpOutbound::new(OutboundPolicy {
        allow_private: true,
        allow_http: true,
        allowed_hosts: None,
    });
    let outbound = Arc::new(outbound);
    for wire in WIRES {
        let server = ModelServer::start(wire, [two_calls(), ModelTurn::of("Done.")]);
        let client = ModelClient::new(
            outbound.clone(),
            Arc::new(QuickClock::new()),
            Arc::new(Steady),
        );
        let address = address(wire, &server.base_url());
        let mut heard = 0;
        let first = client
            .complete(&address, &question(), Some(Box::new(|_| heard += 1)))
            .await
            .unwrap();
        assert!(heard > 5);
        let request = answered(question(), first);
        let last = client.complete(&address, &request, None).await.unwrap();
        assert_eq!(last.text(), "Done.");
        assert_eq!(server.double.refused(), [""; 0], "{wire:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn pieces_do_not_matter(
        seed in any::<u64>(),
        words in "\\PC{0,60}",
        argument in "\\PC{0,60}",
        wire in prop::sample::select(WIRES.to_vec()),
    ) {
        let turn = ModelTurn::default()
            .thinks("So.")
            .says(&words)
            .calls("a", "view", &json!({ "path": argument }).to_string())
            .calls("b", "list", "{}");
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let place = Before::new(wire, [turn.clone(), turn]);
        let reply = runtime.block_on(place.reply(&question(), Hears::Pieces));
        place.double.seed(seed);
        prop_assert_eq!(&reply, &runtime.block_on(place.reply(&question(), Hears::Pieces)));
        let call = reply.tool_calls().next().unwrap();
        let found: serde_json::Value = serde_json::from_str(&call.arguments).unwrap();
        prop_assert_eq!(&found["path"], &json!(argument));
        prop_assert_eq!(reply.text(), words);
        prop_assert_eq!(ModelDouble::refused(&place.double).len(), 0);
    }
}
