//! The last lines a program printed, bounded.

use std::collections::VecDeque;

/// How many lines are kept,
const LINES: usize = 80;
/// and how many characters.
const CHARACTERS: usize = 8_000;

/// The last lines. Fed with lines that are redacted already.
#[derive(Clone, Debug, Default)]
pub struct Tail {
    lines: VecDeque<String>,
    characters: usize,
}

impl Tail {
    /// Takes one more line; the oldest go.
    pub fn push(&mut self, line: &str) {
        let line: String = match line.chars().nth(CHARACTERS) {
            Some(_) => line.chars().take(CHARACTERS - 1).chain(['…']).collect(),
            None => line.to_owned(),
        };
        self.characters += line.chars().count() + 1;
        self.lines.push_back(line);
        while self.lines.len() > LINES || self.characters > CHARACTERS + 1 {
            let Some(gone) = self.lines.pop_front() else {
                break;
            };
            self.characters -= gone.chars().count() + 1;
        }
    }

    /// The lines as one text.
    pub fn text(&self) -> String {
        let lines: Vec<&str> = self.lines.iter().map(String::as_str).collect();
        lines.join("\n")
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_last_lines_stay() {
        let mut tail = Tail::default();
        for number in 0..100 {
            tail.push(&format!("line {number}"));
        }
        let text = tail.text();
        assert_eq!(text.lines().count(), LINES);
        assert!(text.starts_with("line 20\n") && text.ends_with("\nline 99"));
        assert_eq!(Tail::default().text(), "");
    }

    proptest! {
        #[test]
        fn bounds_apply_and_the_newest_line_stays(lines in prop::collection::vec("[aé]{0,40}", 1..40), times in 1_usize..400) {
            let mut tail = Tail::default();
            for line in &lines {
                tail.push(&line.repeat(times));
            }
            let text = tail.text();
            prop_assert!(text.chars().count() <= CHARACTERS);
            prop_assert!(text.split('\n').count() <= LINES);
            let newest = lines.last().unwrap().repeat(times);
            if newest.chars().count() < CHARACTERS {
                prop_assert!(text.ends_with(&newest));
            }
        }
    }
}
