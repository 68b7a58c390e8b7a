//! Of a long question, the part that is worth weighing word by word.
//!
//! People paste logs. The messages that a page explains are found in all of it (`errors`); everything
//! else looks at a bounded part: the lines that hold those messages, else lines about a failure.

use std::{borrow::Cow, ops::Range};

const LONGEST: usize = 1_000;
const LONGEST_LINE: usize = 300;
const SIGNS_OF_FAILURE: [&str; 7] = [
    "error",
    "fail",
    "exception",
    "denied",
    "refused",
    "cannot",
    "invalid",
];

/// A question of at most a thousand characters.
pub(crate) fn focus<'q>(question: &'q str, messages: &[Range<usize>]) -> Cow<'q, str> {
    if question.len() <= LONGEST {
        return Cow::Borrowed(question);
    }
    let mut starts = messages.iter().map(|message| message.start).peekable();
    let text = if starts.peek().is_some() {
        join(starts.map(|start| line_at(question, start)))
    } else {
        join(question.lines().filter(|line| tells_of_failure(line)))
    };
    if text.is_empty() {
        Cow::Borrowed(head(question, LONGEST))
    } else {
        Cow::Owned(text)
    }
}

fn join<'a>(lines: impl Iterator<Item = &'a str>) -> String {
    let mut text = String::new();
    for line in lines {
        let line = head(line.trim(), LONGEST_LINE);
        if text.len() + line.len() >= LONGEST {
            break;
        }
        text.push_str(line);
        text.push('\n');
    }
    text
}

/// The line of a place, from shortly before the place where the line is long.
fn line_at(text: &str, place: usize) -> &str {
    let before = &text[..place];
    let start = before.rfind('\n').map_or(0, |end| end + 1);
    let from = if place - start > LONGEST_LINE / 2 {
        place
    } else {
        start
    };
    text[from..].lines().next().unwrap_or_default()
}

fn tells_of_failure(line: &str) -> bool {
    let line = head(line, LONGEST_LINE).to_ascii_lowercase();
    SIGNS_OF_FAILURE.iter().any(|sign| line.contains(sign))
}

/// The first bytes of a text, up to a whole character.
fn head(text: &str, longest: usize) -> &str {
    &text[..text.floor_char_boundary(longest)]
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_short_question_stays_and_a_long_one_is_cut_to_what_matters() {
        assert_eq!(focus("why\nthis", &[]), "why\nthis");
        let noise = "GET / 200\n".repeat(200);
        let log = format!("{noise}ERROR no such table\n{noise}odd message\n");
        assert_eq!(focus(&log, &[]), "ERROR no such table\n");
        let at = log.find("odd").unwrap();
        assert_eq!(
            focus(&log, std::slice::from_ref(&(at..at + 3))),
            "odd message\n"
        );
        assert_eq!(focus(&noise, &[]).len(), LONGEST);
        let long_line = format!("{}odd message", "x".repeat(5_000));
        assert_eq!(
            focus(&long_line, std::slice::from_ref(&(5_000..5_003))),
            "odd message\n"
        );
    }

    proptest! {
        #[test]
        fn it_is_bounded(text in "[eé\n]{0,3000}|(error é{40}\n){20,90}") {
            prop_assert!(focus(&text, &[]).len() <= LONGEST.max(text.len().min(LONGEST)));
        }
    }
}
