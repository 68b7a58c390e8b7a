//! Taking text out of a page and leaving a tidy page behind.

use windlass_launch_model::markdown::Document;

use std::ops::Range;

/// The page without some ranges. Lines of which nothing is left go, and no double blank line
/// stays where they were.
pub(super) fn cut(document: &Document, ranges: &[Range<usize>]) -> String {
    let text = document.text.as_str();
    let mut out: Vec<String> = Vec::new();
    let mut at = 0;
    let mut skip_blank = false;
    for line in text.split_inclusive('\n') {
        let span = at..at + line.len();
        at = span.end;
        let touching = |range: &&Range<usize>| range.start < span.end && range.end > span.start;
        let own: Vec<&Range<usize>> = ranges.iter().filter(touching).collect();
        if own.is_empty() {
            if std::mem::take(&mut skip_blank) && line.trim().is_empty() {
                continue;
            }
            out.push(line.to_owned());
            continue;
        }
        let mut left = String::new();
        let mut from = span.start;
        for range in own {
            if range.start > from {
                left.push_str(&text[from..range.start]);
            }
            from = from.max(range.end);
        }
        left.push_str(text.get(from..span.end).unwrap_or_default());
        let indent = line.len() - line.trim_start_matches(' ').len();
        let left = tidy(&line[..indent], &left);
        if is_hollow(&left) {
            let above_blank = out.last().is_none_or(|line| line.trim().is_empty());
            skip_blank = above_blank || span.start <= document.body;
        } else {
            out.push(left + "\n");
        }
    }
    let mut joined = out.concat();
    while joined.ends_with("\n\n") {
        joined.pop();
    }
    joined
}

/// One space between words, none at the end; the indent stays.
fn tidy(indent: &str, line: &str) -> String {
    let words = line.split_whitespace().collect::<Vec<_>>().join(" ");
    let words = words
        .replace(" .", ".")
        .replace("****", "")
        .replace("____", "");
    format!("{indent}{}", words.trim_end())
}

/// Whether a line holds nothing but the marks of a list, a quote or emphasis.
fn is_hollow(line: &str) -> bool {
    let rest = line.trim();
    let numbered = rest
        .strip_suffix(['.', ')'])
        .is_some_and(|number| !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit()));
    numbered
        || rest
            .chars()
            .all(|c| matches!(c, '-' | '*' | '+' | '>' | '_' | ' '))
}

/// A sentence's bytes with the marks of emphasis and links that belong to it.
pub(super) fn widen(document: &Document, range: Range<usize>) -> Range<usize> {
    let text = document.text.as_str();
    let line = document.line_range(document.line(range.start));
    let mut start = range.start;
    while start > line.start && text[..start].ends_with(['[', '*', '_', '!', '~', '<']) {
        // A list's own star is followed by a space and never reached here.
        start -= 1;
    }
    let mut end = range.end;
    loop {
        let rest = &text[end..];
        if let Some(tail) = rest.strip_prefix("](") {
            let Some(close) = tail.find(')') else {
                break;
            };
            end += 2 + close + 1;
        } else if rest.starts_with(['*', '_', '~', '>']) {
            end += 1;
        } else {
            break;
        }
    }
    start..end
}

#[cfg(test)]
mod tests {
    use super::*;

    fn without(text: &str, part: &str) -> String {
        let document = Document::parse(text);
        let at = text.find(part).unwrap();
        cut(&document, &[widen(&document, at..at + part.len())])
    }

    #[test]
    fn what_is_left_is_tidy() {
        let cases = [
            ("A. B. C.\n", "B.", "A. C.\n"),
            ("A.\n\nB.\n\nC.\n", "B.", "A.\n\nC.\n"),
            ("- A.\n- B.\n", "B.", "- A.\n"),
            ("1. A.\n2. B.\n", "B.", "1. A.\n"),
            ("**B.** A.\n", "B.", "A.\n"),
            ("[B](/x) A.\n", "B", "A.\n"),
            ("> B.\n\nA.\n", "B.", "A.\n"),
            ("| B. | C |\n", "B.", "| | C |\n"),
            ("A.\n\nB.\n", "B.", "A.\n"),
        ];
        for (text, part, expected) in cases {
            assert_eq!(without(text, part), expected, "{text:?}");
        }
    }
}
