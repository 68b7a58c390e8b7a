//! Sentences of a document, as plain text, each with the lines it stands in.

use std::sync::LazyLock;

use regex::{Captures, Regex};

use crate::markdown::{Block, BlockKind};

/// Words after which a full stop ends nothing.
const ABBREVIATIONS: &[&str] = &[
    "e.g", "i.e", "etc", "vs", "cf", "approx", "fig", "dr", "mr", "ms", "inc", "ltd", "resp",
    "incl", "max", "min", "ver", "v",
];

/// A sentence and where it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Sentence {
    /// Markup removed, except code spans.
    pub text: String,
    pub start: u64,
    pub end: u64,
    /// It stands in a list.
    pub in_item: bool,
    /// The nearest heading.
    pub heading: String,
}

/// The sentences of a block; none for a fence, and none for what only points elsewhere.
pub(crate) fn sentences(block: &Block) -> Vec<Sentence> {
    if matches!(block.kind, BlockKind::Fence(_)) || is_links_only(block) {
        return Vec::new();
    }
    let mut joined = String::new();
    // Where each line begins in the joined text.
    let mut starts = Vec::with_capacity(block.lines.len());
    for (number, line) in &block.lines {
        if !joined.is_empty() {
            joined.push(' ');
        }
        starts.push((joined.len(), *number));
        joined.push_str(line);
    }
    let line_at = |offset: usize| {
        let after = starts.partition_point(|(start, _)| *start <= offset);
        starts[after.saturating_sub(1)].1
    };
    ends(&joined)
        .into_iter()
        .scan(0, |from, end| {
            let range = *from..end;
            *from = end;
            Some(range)
        })
        .filter_map(|range| {
            let raw = &joined[range.clone()];
            let lead = raw.len() - raw.trim_start().len();
            let text = plain(raw);
            let last = range.start + raw.trim_end().len();
            (!text.is_empty()).then(|| Sentence {
                text,
                start: line_at(range.start + lead),
                end: line_at(last.saturating_sub(1).max(range.start)),
                in_item: block.kind == BlockKind::Item,
                heading: block.heading.clone(),
            })
        })
        .collect()
}

/// Whether a block says nothing but what its links are called.
fn is_links_only(block: &Block) -> bool {
    let Some(markup) = MARKUP.as_ref() else {
        return false;
    };
    let said: Vec<&str> = block.lines.iter().map(|(_, line)| line.as_str()).collect();
    let said = said.join(" ");
    let left = markup.link.replace_all(&said, "");
    left != said && !left.contains(char::is_alphanumeric)
}

/// The first sentence of a text without markup.
pub(crate) fn first_sentence(text: &str) -> &str {
    match ends(text).first() {
        Some(end) => text[..*end].trim(),
        None => text.trim(),
    }
}

/// Where sentences end, in bytes. Nothing ends within code or a link.
fn ends(text: &str) -> Vec<usize> {
    let bytes = text.as_bytes();
    let mut found = Vec::new();
    let mut in_code = false;
    let mut in_address = false;
    let mut label_end = 0;
    for (index, byte) in bytes.iter().enumerate() {
        match byte {
            b'`' => in_code = !in_code,
            b'(' if !in_code && index > 0 && bytes[index - 1] == b']' => in_address = true,
            b')' if in_address => in_address = false,
            b'[' if !in_code && !in_address => label_end = link_label(text, index),
            b'.' | b'!' | b'?'
                if !in_code && !in_address && index >= label_end && is_end(text, index) =>
            {
                // A closing quote or bracket belongs to the sentence it closes.
                let closing = text[index + 1..]
                    .bytes()
                    .take_while(|byte| matches!(byte, b'"' | b'\'' | b')' | b'*' | b'_'))
                    .count();
                found.push(index + 1 + closing);
            }
            _ => {}
        }
    }
    if found.last().is_none_or(|last| *last < text.len()) {
        found.push(text.len());
    }
    found
}

/// Where the label of a link that opens here is closed; `open` itself if it is no link.
fn link_label(text: &str, open: usize) -> usize {
    let rest = &text[open + 1..];
    match rest.find(['[', ']']) {
        Some(at) if rest[at..].starts_with("](") => open + 1 + at,
        _ => open,
    }
}

fn is_end(text: &str, index: usize) -> bool {
    let rest = text[index + 1..].trim_start_matches(['"', '\'', ')', '*', '_']);
    if rest.is_empty() {
        return true;
    }
    if !rest.starts_with(char::is_whitespace) {
        return false;
    }
    if text.as_bytes()[index] == b'.' {
        let word = text[..index]
            .rsplit(|c: char| c.is_whitespace() || c == '(')
            .next()
            .unwrap_or_default()
            .to_ascii_lowercase();
        // "No. 7" is a number; "No. It does not." is an answer.
        let numbers = word == "no" && rest.trim_start().starts_with(|c: char| c.is_ascii_digit());
        if numbers || ABBREVIATIONS.contains(&word.as_str()) {
            return false;
        }
    }
    rest.trim_start()
        .starts_with(|c: char| !c.is_lowercase() || c == '`')
}

/// The patterns of inline markup, in the order they are undone.
struct Markup {
    code: Regex,
    image: Regex,
    link: Regex,
    footnote: Regex,
    tag: Regex,
    emoji: Regex,
    strong: Regex,
    emphasis: Regex,
}

static MARKUP: LazyLock<Option<Markup>> = LazyLock::new(|| {
    let compile = |pattern: &str| Regex::new(pattern).ok();
    Some(Markup {
        code: compile(r"`+[^`]*`+")?,
        image: compile(r"!\[[^\]]*\](?:\([^)]*\)|\[[^\]]*\])")?,
        link: compile(r"\[([^\[\]]*)\](?:\([^)]*\)|\[[^\]]*\])")?,
        footnote: compile(r"\[\^[^\]]*\]")?,
        tag: compile(r"</?[A-Za-z][^<>]*>")?,
        emoji: compile(r":[a-z0-9_+-]{2,30}:")?,
        strong: compile(r"(\*\*|__)([^*_]+)(\*\*|__)")?,
        emphasis: compile(r"(^|[\s(])[*_]([^\s*_][^*_]*)[*_]([\s.,;:!?)]|$)")?,
    })
});

/// A text without markup; code spans stay as they are.
pub(crate) fn plain(text: &str) -> String {
    let Some(markup) = MARKUP.as_ref() else {
        return text.to_owned();
    };
    // Images and links may hold code, and code may look like either: links go first, by their
    // brackets, and what stands in code is left alone by everything after.
    let text = markup.image.replace_all(text, "");
    let text = markup.link.replace_all(&text, "$1");
    let mut out = String::with_capacity(text.len());
    let mut from = 0;
    for code in markup.code.find_iter(&text) {
        out.push_str(&unmark(markup, &text[from..code.start()]));
        out.push_str(code.as_str());
        from = code.end();
    }
    out.push_str(&unmark(markup, &text[from..]));
    out.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn unmark(markup: &Markup, text: &str) -> String {
    let text = markup.footnote.replace_all(text, "");
    let text = markup.tag.replace_all(&text, "");
    let text = markup.emoji.replace_all(&text, "");
    let text = markup.strong.replace_all(&text, "$2");
    let text = markup.emphasis.replace_all(&text, |found: &Captures<'_>| {
        format!("{}{}{}", &found[1], &found[2], &found[3])
    });
    text.replace("**", "")
}

/// Whether a text can stand on a page as it is: nothing in it is a template, a tag, a comment or
/// a control character.
pub(crate) fn is_safe(text: &str) -> bool {
    if text.chars().any(char::is_control) || text.matches('`').count() % 2 == 1 {
        return false;
    }
    if ["{{", "}}", "{%", "<!--", "-->", "claim_id", "javascript:"]
        .iter()
        .any(|part| text.contains(part))
    {
        return false;
    }
    let outside = text.split('`').step_by(2);
    outside.into_iter().all(|part| {
        !part.contains(['|', '\\'])
            && part.split('<').skip(1).all(|after| {
                !after.starts_with(|c: char| c.is_alphabetic() || matches!(c, '/' | '!'))
            })
    })
}

#[cfg(test)]
#[path = "sentences_tests.rs"]
mod tests;
