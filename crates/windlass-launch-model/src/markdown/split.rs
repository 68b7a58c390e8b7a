//! Where one sentence ends and the next begins, in plain text.
//!
//! Strict on purpose: a full stop before white space ends a sentence whatever follows, so that
//! two facts never share one marker. Knows a few abbreviations; knows no grammar.

use std::ops::Range;

/// Words whose full stop ends no sentence, in lower case.
const ABBREVIATIONS: [&str; 21] = [
    "e.g", "i.e", "etc", "vs", "cf", "approx", "fig", "dr", "mr", "mrs", "ms", "st", "jr", "sr",
    "inc", "ltd", "co", "corp", "al", "resp", "incl",
];

/// The sentences of a text as byte ranges, without the white space around them.
///
/// What stands between backticks is passed over: code ends no sentence.
pub(crate) fn sentences(text: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut start = 0;
    let mut in_code = false;
    let mut characters = text.char_indices().peekable();
    while let Some((at, character)) = characters.next() {
        if character == '`' {
            in_code = !in_code;
            continue;
        }
        if in_code || !is_terminator(character) {
            continue;
        }
        let mut end = at + character.len_utf8();
        // Closing quotes and brackets, and further terminators, belong to the sentence.
        while let Some(&(next_at, next)) = characters.peek() {
            if is_terminator(next) || is_closing(next) {
                end = next_at + next.len_utf8();
                characters.next();
            } else {
                break;
            }
        }
        let wide = matches!(character, '。' | '！' | '？');
        let at_end = characters
            .peek()
            .is_none_or(|(_, next)| next.is_whitespace());
        if !(wide || at_end)
            || (character == '.' && is_abbreviation(&text[start..at], &text[end..]))
        {
            continue;
        }
        push(text, start..end, &mut found);
        start = end;
    }
    push(text, start..text.len(), &mut found);
    found
}

fn push(text: &str, range: Range<usize>, found: &mut Vec<Range<usize>>) {
    let piece = &text[range.clone()];
    let trimmed = piece.trim_start();
    let start = range.start + (piece.len() - trimmed.len());
    let end = start + trimmed.trim_end().len();
    if text[start..end].chars().any(char::is_alphanumeric) {
        found.push(start..end);
    } else if let Some(last) = found.last_mut().filter(|_| start < end) {
        last.end = end;
    }
}

const fn is_terminator(character: char) -> bool {
    matches!(character, '.' | '!' | '?' | '…' | '。' | '！' | '？')
}

const fn is_closing(character: char) -> bool {
    matches!(
        character,
        '"' | '\'' | ')' | ']' | '}' | '”' | '’' | '»' | '*' | '_' | '」'
    )
}

/// Whether the text before a full stop ends in an abbreviation or in a single initial.
fn is_abbreviation(before: &str, after: &str) -> bool {
    let word = before
        .rsplit(|character: char| character.is_whitespace() || matches!(character, '(' | '[' | '"'))
        .next()
        .unwrap_or_default();
    let mut letters = word.chars();
    if let (Some(first), None) = (letters.next(), letters.next()) {
        // "J. Smith" is one person; a lone capital that ends the text is rare.
        return first.is_uppercase() && first != 'I';
    }
    let word = word.to_lowercase();
    // "No. 7" is a number; "No. It does not." is an answer.
    let numbers = word == "no" && after.trim_start().starts_with(|c: char| c.is_ascii_digit());
    numbers || ABBREVIATIONS.contains(&word.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_are_separated() {
        for (text, expected) in [
            ("One. Two.", vec!["One.", "Two."]),
            ("It reads DOCX", vec!["It reads DOCX"]),
            (
                "Needs 3.10 or newer. runs anywhere.",
                vec!["Needs 3.10 or newer.", "runs anywhere."],
            ),
            (
                "Formats, e.g. DOCX and PDF.",
                vec!["Formats, e.g. DOCX and PDF."],
            ),
            ("Uses Node.js today!", vec!["Uses Node.js today!"]),
            (
                "Call `a. B` first. Then stop.",
                vec!["Call `a. B` first.", "Then stop."],
            ),
            (
                "(It works.) \"So it does.\"",
                vec!["(It works.)", "\"So it does.\""],
            ),
            ("Really?! Yes.", vec!["Really?!", "Yes."]),
            (
                "これは本です。読みます。",
                vec!["これは本です。", "読みます。"],
            ),
            ("  … ", vec![]),
            ("By J. Smith and others.", vec!["By J. Smith and others."]),
            ("See No. 7 there.", vec!["See No. 7 there."]),
            ("No. It does not.", vec!["No.", "It does not."]),
        ] {
            let got: Vec<&str> = sentences(text)
                .into_iter()
                .map(|range| &text[range])
                .collect();
            assert_eq!(got, expected, "{text:?}");
        }
    }
}
