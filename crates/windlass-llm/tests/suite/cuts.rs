//! A stream of several calls, cut at every byte: nothing half said becomes a call, the same bytes
//! are asked again, and what was said is kept when no try is left.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use futures::{StreamExt as _, stream};
use windlass_llm::{EventReader, ModelClient, ReplyBuilder};
use windlass_ports::{
    BoxFuture, ModelError, ModelReply, Outbound, OutboundError, OutboundRequest, OutboundResponse,
    OutboundStream, WireFormat,
};
use windlass_testkit::servers::models::{ModelDouble, ModelTurn, Scripted, Trouble};

use super::{
    place::{Before, Hears, WIRES, question},
    server::Steady,
};

/// Where the answer is complete, in bytes: what follows changes nothing but the counts.
fn complete_at(wire: WireFormat, stream: &[u8]) -> usize {
    let text = String::from_utf8(stream.to_vec()).unwrap();
    let mark = match wire {
        WireFormat::ChatCompletions => "data: [DONE]",
        WireFormat::Responses => "data: {\"response\":{",
        WireFormat::Messages => "data: {\"type\":\"message_stop\"}",
        WireFormat::Gemini => "\"finishReason\"",
    };
    let start = text.rfind(mark).unwrap();
    start + text[start..].find('\n').unwrap_or(mark.len())
}

/// Short, since every byte of it is a case.
fn small() -> ModelTurn {
    ModelTurn::default()
        .thinks("So 🦀.")
        .says("I look.\n")
        .calls("toolu_1", "view", "{\"path\":\"ö\"}")
        .calls("toolu_2", "list", "{}")
}

#[tokio::test]
async fn chat_completions_at_every_byte() {
    at_every_byte(WireFormat::ChatCompletions).await;
}

#[tokio::test]
async fn responses_at_every_byte() {
    at_every_byte(WireFormat::Responses).await;
}

#[tokio::test]
async fn messages_at_every_byte() {
    at_every_byte(WireFormat::Messages).await;
}

#[tokio::test]
async fn gemini_at_every_byte() {
    at_every_byte(WireFormat::Gemini).await;
}

async fn at_every_byte(wire: WireFormat) {
    let turn = small();
    let stream = ModelDouble::stream_of(wire, &turn);
    let whole = Before::new(wire, [turn.clone()])
        .reply(&question(), Hears::Pieces)
        .await;
    let complete = complete_at(wire, &stream);
    for after in 0..=stream.len() {
        let at = format!("{wire:?} {after}");
        let is_early = after + 1 < complete && is_before_the_end(wire, &stream, after);

        // The stream ends there as if all were well.
        match read(wire, &stream[..after]) {
            Ok(reply) => assert!(!is_early && reply.parts == whole.parts, "{at}"),
            Err(error) => assert!(matches!(error, ModelError::Cut { .. }), "{at} {error}"),
        }

        // The connection breaks there.
        let cut = Scripted::Troubled(turn.clone(), Trouble::Broken(after));
        let place = Before::new(wire, [cut, turn.clone().into()]);
        let (reply, heard) = place.ask(&question(), Hears::Pieces).await;
        let reply = reply.unwrap();
        assert_eq!(reply.parts, whole.parts, "{at}");
        assert_eq!(reply.finish_reason, whole.finish_reason, "{at}");
        let seen = place.double.seen();
        let is_repeated = heard.iter().any(|piece| piece == "[1 cut]");
        assert_eq!(is_repeated, seen.len() == 2, "{at}");
        assert!(is_repeated || !is_early, "{at}");
        if let [first, second] = seen.as_slice() {
            assert_eq!(first.bytes, second.bytes, "{at}");
        }
    }
}

fn read(wire: WireFormat, stream: &[u8]) -> Result<ModelReply, ModelError> {
    let mut builder = ReplyBuilder::new(wire, "m-1");
    let mut reader = EventReader::new(1 << 20);
    let mut events = Vec::new();
    reader.push(stream, &mut events).unwrap();
    for event in &events {
        builder.event(event, &mut |_| {})?;
    }
    if let Some(open) = reader.finish() {
        builder.last_event(&open, &mut |_| {})?;
    }
    builder.finish()
}

#[tokio::test]
async fn a_stream_that_ends_early_is_asked_for_again() {
    for wire in WIRES {
        let stream = ModelDouble::stream_of(wire, &small());
        for after in (0..stream.len() / 2).step_by(97) {
            let early = Scripted::Troubled(small(), Trouble::EndsEarly(after));
            let place = Before::new(wire, [early, small().into()]);
            let reply = place.reply(&question(), Hears::Pieces).await;
            assert_eq!(reply.tool_calls().count(), 2);
            let [first, second] = &*place.double.seen() else {
                panic!("{wire:?} {after}");
            };
            assert_eq!(first.bytes, second.bytes);
        }
    }
}

/// A chat's stream may end without its mark once it has said why it ended.
fn is_before_the_end(wire: WireFormat, stream: &[u8], after: usize) -> bool {
    let read = String::from_utf8_lossy(&stream[..after]).into_owned();
    wire != WireFormat::ChatCompletions || !read.contains("\"finish_reason\":\"tool_calls\"")
}

#[tokio::test]
async fn without_another_try_the_words_are_kept_and_no_call() {
    for wire in WIRES {
        let turn = small();
        let stream = ModelDouble::stream_of(wire, &turn);
        let complete = complete_at(wire, &stream);
        for after in (0..complete - 1).step_by(11) {
            if !is_before_the_end(wire, &stream, after) {
                continue;
            }
            let cut = Scripted::Troubled(turn.clone(), Trouble::Broken(after));
            let place = Before::new(wire, vec![cut; 6]);
            let (result, heard) = place.ask(&question(), Hears::Pieces).await;
            let Err(ModelError::Cut { so_far, .. }) = result else {
                panic!("{wire:?} {after}: {result:?}");
            };
            assert!("I look.\n".starts_with(&so_far), "{so_far}");
            let last = heard.iter().rposition(|it| it == "[5 cut]").unwrap();
            let said = heard[last + 1..]
                .iter()
                .filter(|it| !it.starts_with(['(', '<']));
            assert_eq!(
                said.cloned().collect::<String>(),
                so_far,
                "{wire:?} {after}"
            );
            assert_eq!(place.double.seen().len(), 6);
        }
    }
}

#[tokio::test]
async fn a_call_whose_block_did_not_close_is_no_answer() {
    let message = [
        r#"{"type":"message_start","message":{"model":"m","usage":{"input_tokens":1}}}"#,
        r#"{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"a","name":"view","input":{}}}"#,
        r#"{"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"{}"}}"#,
        r#"{"type":"message_delta","delta":{"stop_reason":"tool_use"}}"#,
        r#"{"type":"message_stop"}"#,
    ];
    let mut builder = ReplyBuilder::new(WireFormat::Messages, "m");
    for event in message {
        builder.event(event, &mut |_| {}).unwrap();
    }
    assert!(matches!(builder.finish(), Err(ModelError::Cut { .. })));
}

#[tokio::test]
async fn a_whole_answer_that_breaks_is_asked_for_again() {
    for wire in WIRES {
        let broken = Scripted::Status(
            200,
            vec![("content-type".to_owned(), "text/event-stream".to_owned())],
            ": nothing\n\n".to_owned(),
        );
        let place = Before::new(wire, [broken, ModelTurn::of("Hi.").into()]);
        assert_eq!(place.reply(&question(), Hears::Pieces).await.text(), "Hi.");
    }
}

/// A server that begins to answer and then says nothing, so many times.
struct Falls {
    silent: Arc<AtomicUsize>,
    double: ModelDouble,
}

impl Outbound for Falls {
    fn send(
        &self,
        request: OutboundRequest,
    ) -> BoxFuture<'_, Result<OutboundResponse, OutboundError>> {
        self.double.send(request)
    }

    fn send_streaming(
        &self,
        request: OutboundRequest,
        max_body: usize,
    ) -> BoxFuture<'_, Result<OutboundStream, OutboundError>> {
        Box::pin(async move {
            let mut answer = self.double.send_streaming(request, max_body).await?;
            let left = self.silent.load(Ordering::Relaxed);
            if left > 0 {
                self.silent.store(left - 1, Ordering::Relaxed);
                let pieces: Vec<_> = answer.body.collect().await;
                let some = pieces.len() * 3 / 5;
                let begun = stream::iter(pieces.into_iter().take(some));
                answer.body = begun.chain(stream::pending()).boxed();
            }
            Ok(answer)
        })
    }

    fn check(&self, _: &str) -> Result<(), OutboundError> {
        Ok(())
    }
}

#[tokio::test]
async fn a_stream_that_brings_nothing_for_long_is_dead() {
    for wire in WIRES {
        for silent in [1, 6] {
            let mut place = Before::new(wire, vec![small(); 6]);
            place.clock.loses_patience.store(true, Ordering::Relaxed);
            place.client = ModelClient::new(
                Arc::new(Falls {
                    silent: Arc::new(AtomicUsize::new(silent)),
                    double: place.double.clone(),
                }),
                Arc::new(place.clock.clone()),
                Arc::new(Steady),
            );
            let (reply, heard) = place.ask(&question(), Hears::Pieces).await;
            assert!(heard.contains(&"[1 cut]".to_owned()), "{wire:?}");
            match (silent, reply) {
                (1, Ok(reply)) => assert_eq!(reply.tool_calls().count(), 2),
                (6, Err(ModelError::Cut { cause, .. })) => {
                    assert_eq!(cause, "nothing arrived for 90 s");
                }
                (_, other) => panic!("{wire:?} {other:?}"),
            }
        }
    }
}
