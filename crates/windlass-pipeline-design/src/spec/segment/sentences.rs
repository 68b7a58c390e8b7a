//! Where sentences end.

use std::ops::Range;

/// Words whose full stop ends no sentence.
const ABBREVIATIONS: &[&str] = &[
    "e.g", "i.e", "etc", "vs", "approx", "no", "mr", "mrs", "ms", "dr", "prof", "st", "inc", "ltd",
    "co", "fig", "incl", "max", "min", "resp", "cf", "ca", "jr", "sr", "dept", "est", "ver",
];

/// A piece longer than this is cut between two words, so that no rule ever reads more at once.
pub const LONGEST: usize = 1600;

/// The sentences of a text as byte ranges without surrounding white space.
pub fn split(text: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut start = 0;
    let mut letters = text.char_indices().peekable();
    let mut depth = 0_usize;
    while let Some((at, letter)) = letters.next() {
        match letter {
            '(' | '[' => depth += 1,
            ')' | ']' => depth = depth.saturating_sub(1),
            _ => {}
        }
        let wide = matches!(letter, '。' | '！' | '？' | '؟' | '۔' | '।');
        if !wide && !matches!(letter, '.' | '!' | '?' | '…') {
            continue;
        }
        // Closing quotes and brackets belong to the sentence they close.
        let mut end = at + letter.len_utf8();
        while let Some((next, closing)) = letters.peek().copied() {
            if !matches!(
                closing,
                '"' | '”' | '’' | '\'' | '»' | ')' | '.' | '!' | '?'
            ) {
                break;
            }
            if closing == ')' {
                depth = depth.saturating_sub(1);
            }
            end = next + closing.len_utf8();
            letters.next();
        }
        let spaced = letters.peek().is_none_or(|(_, c)| c.is_whitespace());
        let begins = text[end..]
            .trim_start()
            .chars()
            .next()
            .is_none_or(|c| !c.is_lowercase());
        let ends = wide
            || (spaced
                && begins
                && depth == 0
                && !(letter == '.' && abbreviates(&text[start..at])));
        if ends {
            push(text, start..end, &mut found);
            start = end;
        }
    }
    push(text, start..text.len(), &mut found);
    found
}

/// Whether the text before a full stop ends in an abbreviation or a list number.
fn abbreviates(before: &str) -> bool {
    let word = before
        .rsplit(|c: char| c.is_whitespace() || matches!(c, '(' | '"' | '“'))
        .next()
        .unwrap_or_default();
    let lower = word.to_lowercase();
    let initial = word.chars().count() == 1 && word.chars().all(char::is_uppercase);
    ABBREVIATIONS.contains(&lower.as_str()) || initial
}

fn push(text: &str, range: Range<usize>, found: &mut Vec<Range<usize>>) {
    let piece = &text[range.clone()];
    let trimmed = piece.trim();
    if trimmed.is_empty() {
        return;
    }
    let start = range.start + (piece.len() - piece.trim_start().len());
    let mut at = start;
    let end = start + trimmed.len();
    while end - at > LONGEST {
        let mut limit = at + LONGEST;
        while !text.is_char_boundary(limit) {
            limit -= 1;
        }
        let cut = text[at..limit]
            .rfind(char::is_whitespace)
            .filter(|cut| *cut > 0)
            .map_or(limit, |cut| at + cut);
        found.push(at..cut);
        at = cut + (text[cut..end].len() - text[cut..end].trim_start().len());
    }
    if at < end {
        found.push(at..end);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_end_where_a_reader_stops() {
        for (text, expected) in [
            ("One. Two! Three?", vec!["One.", "Two!", "Three?"]),
            (
                "It takes 1.5 seconds. Then it ends.",
                vec!["It takes 1.5 seconds.", "Then it ends."],
            ),
            (
                "Formats, e.g. CSV, work. Good.",
                vec!["Formats, e.g. CSV, work.", "Good."],
            ),
            (
                "Built with Next.js and Supabase.",
                vec!["Built with Next.js and Supabase."],
            ),
            (
                "He said \"Stop.\" She did.",
                vec!["He said \"Stop.\"", "She did."],
            ),
            (
                "A list (one. Two.) goes on. End",
                vec!["A list (one. Two.) goes on.", "End"],
            ),
            ("これは文です。次の文。", vec!["これは文です。", "次の文。"]),
            ("no end", vec!["no end"]),
            ("  ", vec![]),
        ] {
            let got: Vec<&str> = split(text).into_iter().map(|range| &text[range]).collect();
            assert_eq!(got, expected);
        }
    }

    #[test]
    fn an_endless_sentence_is_cut_between_words() {
        let text = "word ".repeat(1000);
        let parts = split(&text);
        assert!(parts.len() > 2 && parts.iter().all(|part| part.len() <= LONGEST));
        assert!(
            parts
                .iter()
                .all(|part| text[part.clone()].starts_with("word"))
        );
        let one = "é".repeat(5000);
        assert_eq!(
            split(&one).iter().map(|part| part.len()).sum::<usize>(),
            one.len()
        );
    }
}
