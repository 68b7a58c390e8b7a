//! Every call gets exactly one result, in the message right behind it.

use std::collections::HashMap;

use windlass_ports::{Message, Part, Role, ToolResult};

use crate::placeholder::{CANCELLED, placeholder};

/// A call, by the place of its message and of the call in it.
type Place = (usize, usize);

/// The conversation with results where providers want them: orphans are dropped, of several
/// results of a call the last counts, missing ones are filled in, and each stands right behind
/// its call. What is no result keeps its order.
pub fn sanitise(messages: Vec<Message>) -> Vec<Message> {
    // A server may use an id again in a later turn: the newest call of that id is meant.
    let mut newest: HashMap<String, Place> = HashMap::new();
    let mut results: HashMap<Place, ToolResult> = HashMap::new();
    let mut kept: Vec<Message> = Vec::new();
    for mut message in messages {
        if message.role == Role::Assistant {
            for (index, call) in message.tool_calls().enumerate() {
                newest.insert(call.id.clone(), (kept.len(), index));
            }
            message
                .parts
                .retain(|part| !matches!(part, Part::ToolResult(_)));
            kept.push(message);
            continue;
        }
        let mut rest = Vec::new();
        for part in message.parts {
            match part {
                Part::ToolResult(result) => {
                    if let Some(place) = newest.get(&result.call_id) {
                        results.insert(*place, result);
                    }
                }
                Part::ToolCall(_) | Part::Thinking(_) => {}
                other => rest.push(other),
            }
        }
        let role = match message.role {
            Role::Tool => Role::User,
            role => role,
        };
        if !rest.is_empty() {
            kept.push(Message { role, parts: rest });
        }
    }
    let with_results = kept.into_iter().enumerate().flat_map(|(at, message)| {
        let answers: Vec<ToolResult> = message
            .tool_calls()
            .enumerate()
            .map(|(index, call)| {
                let result = results.remove(&(at, index));
                result.unwrap_or_else(|| {
                    placeholder(
                        call,
                        CANCELLED,
                        "the call has no result; nothing is known of it",
                    )
                })
            })
            .collect();
        let results = (!answers.is_empty()).then(|| Message::results(answers));
        std::iter::once(message).chain(results)
    });
    with_results.collect()
}

#[cfg(test)]
mod tests {
    use windlass_ports::ToolCall;

    use super::*;
    use crate::generated::{call, result, shown};

    #[test]
    fn results_stand_behind_their_calls() {
        let cases: &[(&str, Vec<Message>, &str)] = &[
            (
                "a result too late",
                vec![
                    Message::user("a"),
                    call("say", &["1"]),
                    Message::user("b"),
                    result("1", "one"),
                ],
                "U:a A:say+1 T:1=one U:b",
            ),
            (
                "an orphan and a duplicate",
                vec![
                    Message::user("a"),
                    result("9", "nobody asked"),
                    call("", &["1", "2"]),
                    result("1", "first"),
                    result("2", "two"),
                    result("1", "second"),
                ],
                "U:a A:+1+2 T:1=second,2=two",
            ),
            (
                "a missing one",
                vec![Message::user("a"), call("", &["1"]), Message::user("stop")],
                "U:a A:+1 T:1=TOOL_CALL_CANCELLEDthe call has no result; nothing is known of it U:stop",
            ),
            (
                "an id used again",
                vec![
                    Message::user("a"),
                    call("", &["1"]),
                    result("1", "old"),
                    call("", &["1"]),
                    result("1", "new"),
                ],
                "U:a A:+1 T:1=old A:+1 T:1=new",
            ),
        ];
        for (title, messages, expected) in cases {
            assert_eq!(shown(&sanitise(messages.clone())), *expected, "{title}");
        }
    }

    #[test]
    fn a_call_in_a_message_of_the_user_is_none() {
        let message = Message {
            role: Role::User,
            parts: vec![
                Part::text("hi"),
                Part::ToolCall(ToolCall::new("1", "view", "{}")),
            ],
        };
        assert_eq!(shown(&sanitise(vec![message])), "U:hi");
    }
}
