//! Statuses, waits and errors within streams, of every wire format.

use serde_json::json;
use windlass_ports::{Message, ModelError, ModelRequest, WireFormat};
use windlass_testkit::servers::models::{ModelTurn, Scripted, Trouble};

use super::{
    place::{Before, Hears, WIRES, question, two_calls},
    server::KEY,
};

#[tokio::test]
async fn what_is_tried_again() {
    for wire in WIRES {
        for status in [408, 429, 500, 502, 503, 504, 529] {
            let script = [Scripted::status(status), ModelTurn::of("Hi.").into()];
            let place = Before::new(wire, script);
            let (reply, heard) = place.ask(&question(), Hears::Pieces).await;
            assert_eq!(reply.unwrap().text(), "Hi.", "{wire:?} {status}");
            let reason = if status == 429 {
                "rate_limited"
            } else {
                "unavailable"
            };
            assert_eq!(heard[0], format!("[1 {reason}]"), "{wire:?} {status}");
            let seen = place.double.seen();
            assert_eq!(seen[0].bytes, seen[1].bytes);
        }
        let place = Before::new(wire, vec![Scripted::status(503); 9]);
        let (reply, _) = place.ask(&question(), Hears::Nothing).await;
        assert_eq!(reply.unwrap_err().reason(), "unavailable");
        assert_eq!(place.double.seen().len(), 6);
        let limits = [500, 1_000, 2_000, 4_000, 8_000];
        let waits = place.waits();
        assert!(
            waits.iter().zip(limits).all(|(wait, limit)| *wait <= limit),
            "{waits:?}"
        );
        assert_eq!(waits.len(), 5);
    }
}

#[tokio::test]
async fn what_fails_at_once_says_why() {
    let mut lines = Vec::new();
    for wire in WIRES {
        for status in [400, 401, 403, 404, 413, 422] {
            let place = Before::new(wire, vec![Scripted::status(status); 2]);
            let (reply, _) = place.ask(&question(), Hears::Nothing).await;
            let error = reply.unwrap_err();
            assert_eq!(place.double.seen().len(), 1, "{wire:?} {status}");
            assert!(!error.is_retryable());
            let shown = error.to_string();
            let said = shown.contains("this") || shown.contains("not right");
            assert!(said, "{wire:?} {status} {shown}");
            lines.push((wire, status, error.is_context_exceeded()));
        }
    }
    let exceeded: Vec<_> = lines
        .iter()
        .filter(|(_, _, is_exceeded)| *is_exceeded)
        .collect();
    assert!(
        exceeded.iter().all(|(_, status, _)| *status == 413),
        "{exceeded:?}"
    );
}

#[tokio::test]
async fn a_server_says_how_long_to_wait() {
    for wire in WIRES {
        for (name, value, wait) in [
            ("retry-after", "7", 7_000),
            ("retry-after", "Sun, 01 Mar 2026 12:00:20 GMT", 20_000),
            ("retry-after-ms", "250", 250),
            ("retry-after", "300", 300_000),
        ] {
            let busy = Scripted::with_header(429, name, value);
            let place = Before::new(wire, [busy, ModelTurn::of("Hi.").into()]);
            assert_eq!(place.reply(&question(), Hears::Nothing).await.text(), "Hi.");
            assert_eq!(place.waits(), [wait], "{wire:?} {name} {value}");
        }
        // Longer than five minutes is not waited for.
        for (status, shown) in [(429, "wait 301 s"), (503, "wait 301 s")] {
            let busy = Scripted::with_header(status, "retry-after", "301");
            let place = Before::new(wire, [busy, ModelTurn::of("Hi.").into()]);
            let (reply, _) = place.ask(&question(), Hears::Nothing).await;
            let error = reply.unwrap_err().to_string();
            assert!(error.contains(shown), "{wire:?} {error}");
            assert_eq!(place.double.seen().len(), 1);
        }
    }
    // One server says it in the body.
    let body = json!({ "error": { "code": 429, "status": "RESOURCE_EXHAUSTED", "message": "quota",
        "details": [{ "@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "34.5s" }] } });
    let busy = Scripted::Status(429, Vec::new(), body.to_string());
    let place = Before::new(WireFormat::Gemini, [busy, ModelTurn::of("Hi.").into()]);
    place.reply(&question(), Hears::Nothing).await;
    assert_eq!(place.waits(), [34_500]);
}

#[tokio::test]
async fn errors_within_a_stream() {
    for wire in WIRES {
        for after in [0, 3, 8, 14] {
            let busy = Scripted::Troubled(two_calls(), Trouble::Overloaded(after));
            let place = Before::new(wire, [busy, two_calls().into()]);
            let (reply, heard) = place.ask(&question(), Hears::Pieces).await;
            assert_eq!(reply.unwrap().tool_calls().count(), 2, "{wire:?} {after}");
            assert!(heard.contains(&"[1 cut]".to_owned()), "{wire:?} {after}");

            let wrong = Scripted::Troubled(two_calls(), Trouble::Invalid(after));
            let place = Before::new(wire, [wrong, two_calls().into()]);
            let (reply, _) = place.ask(&question(), Hears::Pieces).await;
            let error = reply.unwrap_err();
            assert!(
                matches!(error, ModelError::Rejected { status: 400, .. }),
                "{wire:?} {error}"
            );
            assert_eq!(place.double.seen().len(), 1, "{wire:?}");
        }
        // The last try's words are kept, and no call.
        let busy = Scripted::Troubled(
            ModelTurn::of("Half a sentence").calls("a", "view", "{}"),
            Trouble::Overloaded(5),
        );
        let place = Before::new(wire, vec![busy; 6]);
        let (reply, _) = place.ask(&question(), Hears::Pieces).await;
        let Err(ModelError::Cut { so_far, .. }) = reply else {
            panic!("{wire:?}: {reply:?}");
        };
        assert!(
            !so_far.is_empty() && "Half a sentence".starts_with(&so_far),
            "{wire:?} {so_far}"
        );
    }
}

#[tokio::test]
async fn a_failed_response_is_an_error() {
    for (code, is_final) in [("server_error", false), ("context_length_exceeded", true)] {
        let event = json!({ "type": "response.failed", "response": {
            "status": "failed", "error": { "code": code, "message": "no" } } });
        let stream = Scripted::Status(
            200,
            vec![("content-type".to_owned(), "text/event-stream".to_owned())],
            format!("data: {event}\n\n"),
        );
        let place = Before::new(WireFormat::Responses, vec![stream; 6]);
        let (reply, _) = place.ask(&question(), Hears::Pieces).await;
        let error = reply.unwrap_err();
        assert_eq!(error.is_context_exceeded(), is_final, "{error}");
        assert_eq!(place.double.seen().len(), if is_final { 1 } else { 6 });
    }
}

#[tokio::test]
async fn a_key_is_never_told() {
    for wire in WIRES {
        for status in [400, 401, 429, 500] {
            let body = json!({ "error": { "message": format!("the key {KEY} is odd") } });
            let told = Scripted::Status(status, Vec::new(), body.to_string());
            let place = Before::new(wire, vec![told; 6]);
            let (reply, _) = place.ask(&question(), Hears::Pieces).await;
            let shown = format!("{:?}", reply.unwrap_err());
            assert!(
                !shown.contains(KEY) && shown.contains("***"),
                "{wire:?} {shown}"
            );
            assert!(
                place
                    .double
                    .seen()
                    .iter()
                    .all(|seen| !seen.path.contains(KEY))
            );
        }
    }
    let body = json!({ "error": { "code": 400, "status": "INVALID_ARGUMENT",
        "message": "API key not valid.", "details": [{ "reason": "API_KEY_INVALID" }] } });
    let told = Scripted::Status(400, Vec::new(), body.to_string());
    let (reply, _) = Before::new(WireFormat::Gemini, [told])
        .ask(&question(), Hears::Nothing)
        .await;
    assert_eq!(reply.unwrap_err().reason(), "unauthorized");
}

/// The doubles themselves: what a real server refuses, they do.
#[tokio::test]
async fn requests_that_are_wrong_are_refused() {
    let unanswered = |wire| async move {
        let place = Before::new(wire, [two_calls(), ModelTurn::of("x")]);
        let reply = place.reply(&question(), Hears::Nothing).await;
        let mut request = question();
        request.messages.push(reply.into_message());
        let (reply, _) = place.ask(&request, Hears::Nothing).await;
        reply.unwrap_err()
    };
    for wire in WIRES {
        let error = unanswered(wire).await;
        assert!(
            matches!(error, ModelError::Rejected { status: 400, .. }),
            "{wire:?} {error}"
        );

        let odd = ModelRequest {
            tools: vec![windlass_ports::ToolSpec {
                name: "not a name".to_owned(),
                description: String::new(),
                input_schema: json!({ "type": "object" }),
            }],
            ..ModelRequest::new(vec![Message::user("Hi")])
        };
        let (reply, _) = Before::new(wire, [ModelTurn::of("x")])
            .ask(&odd, Hears::Nothing)
            .await;
        assert!(reply.is_err(), "{wire:?}");

        let silent = ModelRequest::new(Vec::new());
        let (reply, _) = Before::new(wire, [ModelTurn::of("x")])
            .ask(&silent, Hears::Nothing)
            .await;
        assert!(reply.is_err(), "{wire:?}");

        let mut keyless = Before::new(wire, [ModelTurn::of("x")]);
        keyless.address.api_key = None;
        let (reply, _) = keyless.ask(&question(), Hears::Nothing).await;
        assert_eq!(reply.unwrap_err().reason(), "unauthorized", "{wire:?}");
    }
}
