//! What a provider would refuse, found before it is sent. A failure here is a bug of the
//! functions before it.

use std::collections::HashSet;

use windlass_ports::{Message, Part, Role};

/// Why a conversation cannot be sent.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Invalid {
    /// Nothing to answer.
    #[error("the conversation does not end with a message of the user or a result")]
    NothingToAnswer,
    /// Not rules, a question and answers in turn.
    #[error("message {at} does not fit behind the one before it")]
    OutOfTurn {
        /// Its place.
        at: usize,
    },
    /// A message without parts, or with empty text.
    #[error("message {at} has nothing in it")]
    Empty {
        /// Its place.
        at: usize,
    },
    /// Calls and results that do not match one to one.
    #[error("the calls of message {at} and the results behind it do not match")]
    Unmatched {
        /// The place of the calls.
        at: usize,
    },
    /// A part that this role does not have.
    #[error("message {at} has a part that its role cannot have")]
    Misplaced {
        /// Its place.
        at: usize,
    },
}

/// Checks a conversation as the strictest provider does: alternating turns, exactly one result
/// per call and right behind it, nothing empty.
pub fn validate(messages: &[Message]) -> Result<(), Invalid> {
    let mut before: Option<&Message> = None;
    for (at, message) in messages.iter().enumerate() {
        not_empty(at, message)?;
        fits_role(at, message)?;
        let fits = matches!(
            (before.map(|before| before.role), message.role),
            (None, Role::System | Role::User)
                | (Some(Role::System), Role::User)
                | (Some(Role::User), Role::Assistant)
                | (Some(Role::Assistant), Role::Tool | Role::User)
                | (Some(Role::Tool), Role::Assistant | Role::User)
        );
        if !fits {
            return Err(Invalid::OutOfTurn { at });
        }
        if let Some(before) = before.filter(|before| before.role == Role::Assistant) {
            matched(at - 1, before, message)?;
        }
        before = Some(message);
    }
    match before.map(|last| last.role) {
        Some(Role::User | Role::Tool) => Ok(()),
        _ => Err(Invalid::NothingToAnswer),
    }
}

fn not_empty(at: usize, message: &Message) -> Result<(), Invalid> {
    let is_blank = |part: &Part| matches!(part, Part::Text { text } if text.trim().is_empty());
    match message.parts.is_empty() || message.parts.iter().any(is_blank) {
        true => Err(Invalid::Empty { at }),
        false => Ok(()),
    }
}

fn fits_role(at: usize, message: &Message) -> Result<(), Invalid> {
    let fits = |part: &Part| match (message.role, part) {
        (Role::System, part) => matches!(part, Part::Text { .. }),
        (Role::Tool, part) => matches!(part, Part::ToolResult(_)),
        (Role::User, part) => {
            matches!(part, Part::Text { .. } | Part::Image(_) | Part::Document(_))
        }
        (Role::Assistant, part) => !matches!(part, Part::ToolResult(_)),
    };
    match message.parts.iter().all(fits) {
        true => Ok(()),
        false => Err(Invalid::Misplaced { at }),
    }
}

fn matched(at: usize, calls: &Message, behind: &Message) -> Result<(), Invalid> {
    let wanted: Vec<&str> = calls.tool_calls().map(|call| call.id.as_str()).collect();
    let given: Vec<&str> = behind
        .tool_results()
        .map(|result| result.call_id.as_str())
        .collect();
    let distinct: HashSet<&str> = wanted.iter().copied().collect();
    let is_tool = behind.role == Role::Tool;
    let matches = distinct.len() == wanted.len() && wanted == given && is_tool != wanted.is_empty();
    match matches {
        true => Ok(()),
        false => Err(Invalid::Unmatched { at }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generated::{call, result};

    #[test]
    fn what_is_refused() {
        let cases: Vec<(Vec<Message>, Result<(), Invalid>)> = vec![
            (vec![Message::user("a")], Ok(())),
            (
                vec![
                    Message::system("s"),
                    Message::user("a"),
                    call("", &["1"]),
                    result("1", "x"),
                ],
                Ok(()),
            ),
            (vec![], Err(Invalid::NothingToAnswer)),
            (
                vec![Message::user("a"), Message::assistant("b")],
                Err(Invalid::NothingToAnswer),
            ),
            (
                vec![Message::user("a"), Message::user("b")],
                Err(Invalid::OutOfTurn { at: 1 }),
            ),
            (
                vec![Message::user("a"), call("", &["1"]), Message::user("b")],
                Err(Invalid::Unmatched { at: 1 }),
            ),
            (
                vec![Message::user("a"), call("", &["1"]), result("2", "x")],
                Err(Invalid::Unmatched { at: 1 }),
            ),
            (
                vec![Message::user("a"), call("", &["1", "1"]), result("1", "x")],
                Err(Invalid::Unmatched { at: 1 }),
            ),
            (vec![Message::user("")], Err(Invalid::Empty { at: 0 })),
            (vec![result("1", "x")], Err(Invalid::OutOfTurn { at: 0 })),
        ];
        for (messages, expected) in cases {
            assert_eq!(validate(&messages), expected, "{messages:?}");
        }
    }
}
