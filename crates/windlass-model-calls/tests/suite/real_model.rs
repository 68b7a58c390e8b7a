//! A real small model on this machine: real tokens over a real socket, streamed and held to a
//! schema. Asserts on mechanics; what such a model says is no measure of anything.
//!
//! `cargo xtask test --only local-model` serves one and runs these; without it they skip
//! themselves and say so.

use std::{sync::Arc, time::Duration};

use serde::Deserialize;
use serde_json::json;
use windlass_llm::ModelClient;
use windlass_model_calls::{Guarded, structured};
use windlass_net::{HttpOutbound, OutboundPolicy};
use windlass_ports::{
    FinishReason, LanguageModel, Message, ModelAddress, ModelRequest, OutputSchema, Piece,
    WireFormat,
};
use windlass_system::{OsEntropy, SystemClock};

/// Names the base address of the model's server.
const SERVER: &str = "WINDLASS_TEST_MODEL";

fn place() -> Option<(impl LanguageModel, ModelAddress)> {
    let Some(server) = std::env::var_os(SERVER).and_then(|url| url.into_string().ok()) else {
        eprintln!(
            "SKIPPED, NO REAL MODEL WAS TESTED: {SERVER} does not name a server; `cargo xtask \
             test --only local-model` starts one"
        );
        return None;
    };
    let outbound = HttpOutbound::new(OutboundPolicy {
        allow_private: true,
        allow_http: true,
        allowed_hosts: None,
    });
    let clock = Arc::new(SystemClock);
    let chat = ModelClient::new(Arc::new(outbound), clock.clone(), Arc::new(OsEntropy));
    let address = ModelAddress {
        wire: WireFormat::ChatCompletions,
        api_base_url: server,
        model: "small".to_owned(),
        api_key: None,
        request_timeout: Duration::from_secs(60),
    };
    Some((Guarded::new(Arc::new(chat), clock), address))
}

fn question(text: &str, max_tokens: u64) -> ModelRequest {
    ModelRequest {
        temperature: Some(0.0),
        max_tokens: Some(max_tokens),
        seed: Some(7),
        ..ModelRequest::new(vec![Message::user(text)])
    }
}

#[tokio::test]
async fn an_answer_arrives_in_pieces_and_with_its_cost() {
    let Some((model, address)) = place() else {
        return;
    };
    let request = question("Count from one to ten in words.", 24);
    let mut pieces: Vec<String> = Vec::new();
    let reply = model
        .complete(
            &address,
            &request,
            Some(Box::new(|piece| {
                if let Piece::Text(text) = piece {
                    pieces.push(text.to_owned());
                }
            })),
        )
        .await
        .unwrap();
    assert!(pieces.len() >= 4, "{pieces:?}");
    assert_eq!(pieces.concat(), reply.text());
    let usage = reply.usage.unwrap();
    assert!(
        usage.prompt_tokens > 0 && usage.completion_tokens > 0,
        "{usage:?}"
    );
    assert!(usage.completion_tokens <= 24, "{usage:?}");

    let whole = model.complete(&address, &request, None).await.unwrap();
    assert!(!whole.text().is_empty(), "the same question, not streamed");
    assert_eq!(whole.model, reply.model);
}

#[tokio::test]
async fn an_answer_is_cut_at_its_longest() {
    let Some((model, address)) = place() else {
        return;
    };
    let request = question("Tell me everything about knots.", 5);
    let reply = model.complete(&address, &request, None).await.unwrap();
    assert_eq!(reply.finish_reason, FinishReason::Length);
    assert_eq!(reply.usage.unwrap().completion_tokens, 5);
}

#[tokio::test]
async fn an_exchange_that_nobody_waits_for_ends() {
    let Some((model, address)) = place() else {
        return;
    };
    let request = question("Tell a very long story about the sea.", 2_000);
    let (first, heard) = tokio::sync::oneshot::channel();
    let mut first = Some(first);
    let telling = model.complete(
        &address,
        &request,
        Some(Box::new(move |_| {
            if let Some(first) = first.take() {
                let _ = first.send(());
            }
        })),
    );
    tokio::select! {
        told = telling => panic!("two thousand tokens in no time: {told:?}"),
        begun = heard => begun.unwrap(),
    }
    // The server has one place for a conversation: it answers only once the story has ended.
    let answer = model.complete(&address, &question("Hi.", 2), None).await;
    assert!(answer.is_ok(), "{answer:?}");
}

#[derive(Debug, Deserialize)]
struct Knot {
    name: String,
    strength: u8,
    use_for: Use,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Use {
    Climbing,
    Sailing,
}

#[tokio::test]
async fn an_answer_fits_the_schema_it_is_held_to() {
    let Some((model, address)) = place() else {
        return;
    };
    let schema = OutputSchema {
        name: "knot".to_owned(),
        schema: json!({
            "type": "object",
            "properties": {
                "name": { "type": "string", "maxLength": 20 },
                "strength": { "type": "integer", "minimum": 1, "maximum": 9 },
                "use_for": { "type": "string", "enum": ["climbing", "sailing"] },
            },
            "required": ["name", "strength", "use_for"],
            "additionalProperties": false,
        }),
    };
    let request = question("Describe the bowline.", 80);
    // No repair: the server itself holds the model to the schema.
    let found = structured(&model, &address, &request, &schema, |_: &Knot| Ok(()), 0)
        .await
        .unwrap();
    let Knot {
        name,
        strength,
        use_for,
    } = found.value;
    assert!(name.chars().count() <= 20 && (1..=9).contains(&strength));
    assert!(matches!(use_for, Use::Climbing | Use::Sailing));
    assert_eq!(found.calls.len(), 1);
}
