//! Turns that alternate: neighbours of one role become one message.

use windlass_ports::{Message, Part, Role};

/// The conversation without two neighbours of the same role, without empty messages, and with
/// the rules first.
pub fn merge(messages: Vec<Message>) -> Vec<Message> {
    let mut merged: Vec<Message> = Vec::new();
    let (rules, rest): (Vec<Message>, Vec<Message>) = messages
        .into_iter()
        .partition(|message| message.role == Role::System);
    for mut message in rules.into_iter().chain(rest) {
        message.parts.retain(|part| match part {
            Part::Text { text } => !text.trim().is_empty(),
            _ => true,
        });
        if message.parts.is_empty() {
            continue;
        }
        match merged.last_mut() {
            Some(last) if last.role == message.role => {
                last.parts.append(&mut message.parts);
            }
            _ => merged.push(message),
        }
    }
    merged
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generated::{call, result, shown};

    #[test]
    fn neighbours_become_one() {
        let messages = vec![
            Message::user("a"),
            Message::user("b"),
            Message::system("rules"),
            Message::user("  "),
            Message::assistant(""),
            call("x", &["1"]),
            result("1", "one"),
            Message::user("c"),
        ];
        assert_eq!(shown(&merge(messages)), "S:rules U:a|b A:x+1 T:1=one U:c");
    }
}
