//! Which lines of front matter belong to which key, without parsing it: it may be broken.

use std::ops::Range;

use serde_json::Value;

use super::Format;

/// The top-level key a line of YAML or TOML begins with.
pub fn key_of(format: Format, line: &str) -> Option<&str> {
    if line.starts_with([' ', '\t', '-', '#', '[']) {
        return None;
    }
    let quote = line.chars().next().filter(|c| matches!(c, '"' | '\''));
    let (key, rest) = match quote {
        // A separator within quotes separates nothing.
        Some(quote) => {
            let (key, after) = line[1..].split_once(quote)?;
            (key, after.trim_start().strip_prefix(format.separator())?)
        }
        None => line.split_once(format.separator())?,
    };
    let ends_key =
        format != Format::Yaml || rest.is_empty() || rest.starts_with([' ', '\t', '\r', '\n']);
    let key = key.trim();
    (ends_key && !key.is_empty()).then_some(key)
}

/// The line after the last one that belongs to the entry at `at`. Blank lines and comments after
/// it do not.
pub fn entry_end(format: Format, lines: &[&str], at: usize) -> usize {
    let first = at + 1;
    if format == Format::Toml {
        return toml_entry_end(lines, at);
    }
    let goes_on =
        |line: &&&str| line.starts_with([' ', '\t', '-', ']', '}']) || line.trim().is_empty();
    let more = lines[first..].iter().take_while(goes_on).count();
    let after = &lines[first..first + more];
    let blank = after.iter().rev().take_while(|line| line.trim().is_empty());
    first + more - blank.count()
}

fn toml_entry_end(lines: &[&str], at: usize) -> usize {
    let value = lines[at]
        .split_once('=')
        .map_or("", |(_, value)| value.trim());
    let opens = |quotes: &str| value.starts_with(quotes) && value.matches(quotes).count() < 2;
    let closer = if opens("\"\"\"") {
        "\"\"\""
    } else if opens("'''") {
        "'''"
    } else if value.starts_with('[') && !value.contains(']') {
        "]"
    } else {
        return at + 1;
    };
    let inside = lines[at + 1..]
        .iter()
        .take_while(|line| !line.contains(closer));
    (at + 2 + inside.count()).min(lines.len())
}

/// The bytes of a key's lines in YAML or TOML.
pub(super) fn entry(format: Format, text: &str, key: &str) -> Option<Range<usize>> {
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let at = lines
        .iter()
        .position(|line| key_of(format, line) == Some(key))?;
    let bytes = |lines: &[&str]| lines.iter().map(|line| line.len()).sum::<usize>();
    let end = entry_end(format, &lines, at);
    Some(bytes(&lines[..at])..bytes(&lines[..end]))
}

/// A member of a JSON object.
pub(super) struct Member {
    pub name: String,
    /// Where its name begins.
    pub start: usize,
    /// The bytes of its value.
    pub value: Range<usize>,
}

/// The top-level members of a valid JSON object.
pub(super) fn members(text: &str) -> Vec<Member> {
    let mut members = Vec::new();
    let Some(mut at) = text.find('{').map(|at| at + 1) else {
        return members;
    };
    while let Some(start) = text[at..].find('"').map(|offset| at + offset) {
        let mut names = serde_json::Deserializer::from_str(&text[start..]).into_iter::<String>();
        let Some(Ok(name)) = names.next() else {
            return members;
        };
        let after_name = start + names.byte_offset();
        let Some(colon) = text[after_name..].find(':') else {
            return members;
        };
        let rest = &text[after_name + colon + 1..];
        let value_start = text.len() - rest.trim_start().len();
        let mut values = serde_json::Deserializer::from_str(rest.trim_start()).into_iter::<Value>();
        let Some(Ok(_)) = values.next() else {
            return members;
        };
        at = value_start + values.byte_offset();
        members.push(Member {
            name,
            start,
            value: value_start..at,
        });
    }
    members
}
