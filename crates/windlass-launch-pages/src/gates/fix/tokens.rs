//! Template tokens get their value; where there is none, the line or attribute goes.

use std::ops::Range;

use serde_json::Value;

use windlass_launch_model::markdown::{
    Document,
    frontmatter::{Format, key_of, put_key, remove_key, write_pair},
};

use super::{Fixing, Rewrite, cut, values};
use crate::gates::checks::template_tokens::tokens;

pub(super) fn rewrite(fixing: &Fixing<'_>) -> Rewrite {
    let mut notes = Vec::new();
    let text = replaced(fixing, &mut notes);
    let document = Document::parse(&text);
    let left: Vec<Range<usize>> = tokens(&document)
        .into_iter()
        .filter(|range| fixing.names(document.line(range.start)))
        .collect();
    let body: Vec<Range<usize>> = left
        .iter()
        .filter(|range| range.start >= document.body)
        .cloned()
        .collect();
    let keys: Vec<u64> = left
        .iter()
        .filter(|range| range.start < document.body)
        .map(|range| document.line(range.start))
        .collect();
    let ranges: Vec<Range<usize>> = body.iter().map(|range| holder(&document, range)).collect();
    for range in &ranges {
        notes.push(format!(
            "Dropped “{}”.",
            document.text[range.clone()].trim()
        ));
    }
    let without = if ranges.is_empty() {
        text
    } else {
        cut::cut(&document, &ranges)
    };
    Rewrite::own(
        fixing,
        drop_keys(fixing, &without, &keys, &mut notes),
        notes,
    )
}

/// The page with every token that has a value replaced by it. Lines stay where they are.
fn replaced(fixing: &Fixing<'_>, notes: &mut Vec<String>) -> String {
    let document = fixing.document;
    let mut text = document.text.clone();
    for range in tokens(document).into_iter().rev() {
        let line = document.line(range.start);
        if !fixing.names(line) {
            continue;
        }
        let token = &document.text[range.clone()];
        let Some(value) = values::for_token(fixing.input, fixing.path, token) else {
            continue;
        };
        notes.push(format!("{token} is now “{value}”."));
        text.replace_range(range, &value);
    }
    // A value in front matter may need quotes.
    let before = Document::parse(&text);
    let Some(block) = before
        .front
        .as_ref()
        .filter(|block| block.format != Format::Json)
    else {
        return text;
    };
    let mut lines: Vec<String> = text.split_inclusive('\n').map(str::to_owned).collect();
    let first = before.line(block.inner.start);
    for number in first..before.line(block.inner.end) {
        let index = usize::try_from(number - 1).unwrap_or(usize::MAX);
        let (Some(line), true) = (lines.get(index).cloned(), fixing.names(number)) else {
            continue;
        };
        let value = line.split_once(block.format.separator());
        let (Some(key), Some((_, raw))) = (key_of(block.format, &line), value) else {
            continue;
        };
        let raw = raw.trim().trim_matches(['"', '\'']);
        lines[index] = write_pair(block.format, key, &Value::String(raw.to_owned())) + "\n";
    }
    lines.concat()
}

/// The attribute a token is in, else its whole line.
fn holder(document: &Document, token: &Range<usize>) -> Range<usize> {
    let line = document.line_range(document.line(token.start));
    if !document.in_html(token.start) {
        return line;
    }
    let before = &document.text[line.start..token.start];
    let after = &document.text[token.end..line.end];
    let Some(quote) = before.rfind("=\"") else {
        return line;
    };
    let start = before[..quote]
        .rfind(' ')
        .map_or(line.start, |space| line.start + space);
    let end = after
        .find('"')
        .map_or(line.end, |close| token.end + close + 1);
    start..end
}

/// Front matter without the keys of some lines; keys the section needs get another value.
fn drop_keys(fixing: &Fixing<'_>, text: &str, lines: &[u64], notes: &mut Vec<String>) -> String {
    let mut text = text.to_owned();
    let original = fixing.document;
    let Some(format) = original.front.as_ref().map(|block| block.format) else {
        return text;
    };
    let required = fixing.input.section_contract(fixing.path).required_keys;
    for line in lines {
        let Some(key) = key_of(format, original.line_text(*line)).map(str::to_owned) else {
            continue;
        };
        let page = Document::parse(&text);
        let Some(block) = &page.front else {
            continue;
        };
        text = if required.contains(&key) {
            let value = values::for_key(fixing.input, fixing.path, &key);
            notes.push(format!("{key} is now {value}."));
            put_key(&text, block, &key, &value)
        } else {
            notes.push(format!("Dropped {key} from the front matter."));
            remove_key(&text, block, &key)
        };
    }
    text
}
