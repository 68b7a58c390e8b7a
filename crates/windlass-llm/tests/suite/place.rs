//! The client before a double of a model's server, of each wire format.

use std::{sync::Arc, time::Duration};

use serde_json::json;
use windlass_llm::ModelClient;
use windlass_ports::{
    LanguageModel as _, Message, ModelAddress, ModelError, ModelReply, ModelRequest, Part, Piece,
    ToolResult, ToolSpec, WireFormat,
};
use windlass_testkit::servers::models::{ModelDouble, ModelTurn, Scripted};

use super::server::{KEY, QuickClock, Steady};

pub const WIRES: [WireFormat; 4] = [
    WireFormat::ChatCompletions,
    WireFormat::Responses,
    WireFormat::Messages,
    WireFormat::Gemini,
];

/// Whether pieces of the answer are listened to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hears {
    Pieces,
    Nothing,
}

pub struct Before {
    pub client: ModelClient,
    pub address: ModelAddress,
    pub double: ModelDouble,
    pub clock: QuickClock,
}

impl Before {
    pub fn new<S: Into<Scripted>>(wire: WireFormat, script: impl IntoIterator<Item = S>) -> Self {
        let double = ModelDouble::new(wire, script);
        let clock = QuickClock::new();
        Self {
            client: ModelClient::new(
                Arc::new(double.clone()),
                Arc::new(clock.clone()),
                Arc::new(Steady),
            ),
            address: address(wire, &base(wire)),
            double,
            clock,
        }
    }

    pub async fn ask(
        &self,
        request: &ModelRequest,
        hears: Hears,
    ) -> (Result<ModelReply, ModelError>, Vec<String>) {
        let mut heard = Vec::new();
        let hear = |piece: Piece<'_>| {
            heard.push(match piece {
                Piece::Text(text) => text.to_owned(),
                Piece::Thinking(text) => format!("({text})"),
                Piece::Call { id, name } => format!("<{name} {id}>"),
                Piece::Retry {
                    attempt, reason, ..
                } => format!("[{attempt} {reason}]"),
            });
        };
        let result = match hears {
            Hears::Pieces => {
                self.client
                    .complete(&self.address, request, Some(Box::new(hear)))
                    .await
            }
            Hears::Nothing => self.client.complete(&self.address, request, None).await,
        };
        (result, heard)
    }

    /// Asks, and expects an answer.
    pub async fn reply(&self, request: &ModelRequest, hears: Hears) -> ModelReply {
        let (result, _) = self.ask(request, hears).await;
        result.unwrap_or_else(|error| panic!("{:?}: {error}", self.address.wire))
    }

    pub fn waits(&self) -> Vec<u128> {
        let waits = self.clock.waits.lock().unwrap();
        waits.iter().map(Duration::as_millis).collect()
    }
}

pub fn base(wire: WireFormat) -> String {
    let version = match wire {
        WireFormat::ChatCompletions | WireFormat::Responses => "/v1",
        WireFormat::Messages | WireFormat::Gemini => "",
    };
    format!("https://models.example{version}")
}

pub fn address(wire: WireFormat, base: &str) -> ModelAddress {
    ModelAddress {
        wire,
        api_base_url: base.to_owned(),
        model: "m-1".to_owned(),
        api_key: Some(KEY.to_owned().into()),
        request_timeout: Duration::from_secs(1_000),
    }
}

/// A turn with a thought, words and two calls at once.
pub fn two_calls() -> ModelTurn {
    ModelTurn::default()
        .thinks("Both files, größer 🦀 first.")
        .says("I look at \"both\".\n")
        .calls(
            "toolu_1",
            "view",
            "{\"path\":\"größer/🦀.rs\",\"lines\":[1,2]}",
        )
        .calls("toolu_2", "list", "{}")
}

pub fn tools() -> Vec<ToolSpec> {
    let tool = |name: &str| ToolSpec {
        name: name.to_owned(),
        description: format!("Does {name}"),
        input_schema: json!({ "type": "object", "properties": { "path": { "type": "string" } } }),
    };
    vec![tool("view"), tool("list")]
}

pub fn question() -> ModelRequest {
    ModelRequest {
        tools: tools(),
        max_tokens: Some(4_096),
        ..ModelRequest::new(vec![
            Message::system("Be brief."),
            Message::user("Look at it."),
        ])
    }
}

/// The conversation with an answer and a result for each of its calls.
pub fn answered(mut request: ModelRequest, reply: ModelReply) -> ModelRequest {
    let result = |call: &windlass_ports::ToolCall| ToolResult {
        call_id: call.id.clone(),
        name: call.name.clone(),
        parts: vec![Part::text(format!("result of {}", call.name))],
        is_error: call.name == "list",
    };
    let results: Vec<ToolResult> = reply.tool_calls().map(result).collect();
    request.messages.push(reply.into_message());
    if !results.is_empty() {
        request.messages.push(Message::results(results));
    }
    request
}
