//! Conversations for tests: written shortly, made at random, shown on one line.

use proptest::prelude::*;
use windlass_ports::{Message, Part, Role, ToolCall, ToolResult};

pub fn call(text: &str, ids: &[&str]) -> Message {
    let calls = ids
        .iter()
        .map(|id| Part::ToolCall(ToolCall::new(*id, "view", "{}")));
    let mut message = Message::assistant(text);
    message.parts.extend(calls);
    message
}

pub fn result(id: &str, text: &str) -> Message {
    Message::results([ToolResult {
        call_id: id.to_owned(),
        name: "view".to_owned(),
        parts: vec![Part::text(text)],
        is_error: false,
    }])
}

/// `U:a|b A:text+call T:call=result`.
pub fn shown(messages: &[Message]) -> String {
    let one = |message: &Message| {
        let role = match message.role {
            Role::System => 'S',
            Role::User => 'U',
            Role::Assistant => 'A',
            Role::Tool => 'T',
        };
        let texts: Vec<&str> = message
            .parts
            .iter()
            .filter_map(|part| match part {
                Part::Text { text } => Some(text.as_str()),
                _ => None,
            })
            .collect();
        let calls = message.tool_calls().map(|call| format!("+{}", call.id));
        let results: Vec<String> = message
            .tool_results()
            .map(|result| format!("{}={}", result.call_id, result.text()))
            .collect();
        format!(
            "{role}:{}{}{}",
            texts.join("|"),
            calls.collect::<String>(),
            results.join(",")
        )
    };
    messages.iter().map(one).collect::<Vec<_>>().join(" ")
}

/// What may happen in a session.
#[derive(Clone, Debug)]
pub enum Action {
    User(usize),
    Answer { words: usize, calls: Vec<u8> },
    Result { id: u8, bytes: usize },
    Retry(u8),
}

pub fn actions() -> impl Strategy<Value = Vec<Action>> {
    let action = prop_oneof![
        (1..400_usize).prop_map(Action::User),
        (0..200_usize, prop::collection::vec(0..6_u8, 0..4))
            .prop_map(|(words, calls)| Action::Answer { words, calls }),
        (0..6_u8, 0..600_usize).prop_map(|(id, bytes)| Action::Result { id, bytes }),
        (0..6_u8).prop_map(Action::Retry),
    ];
    prop::collection::vec(action, 0..24)
}

/// The history that a careless program would keep of it.
pub fn conversation(script: &[Action]) -> Vec<Message> {
    let history = script.iter().map(|action| match action {
        Action::User(bytes) => Message::user("u".repeat(*bytes)),
        Action::Answer { words, calls } => {
            // A provider gives no id twice in one answer.
            let mut calls = calls.clone();
            calls.sort_unstable();
            calls.dedup();
            let ids: Vec<String> = calls.iter().map(ToString::to_string).collect();
            let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
            call(&"w ".repeat(*words), &ids)
        }
        Action::Result { id, bytes } => result(&id.to_string(), &"r".repeat(*bytes)),
        Action::Retry(id) => result(&id.to_string(), "again"),
    });
    history.collect()
}
