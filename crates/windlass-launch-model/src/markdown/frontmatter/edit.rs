//! Front matter written, and changed key by key.

use std::collections::BTreeMap;

use serde_json::Value;

use super::{
    Block, Format, FrontMatterError,
    entry::{entry, members},
    find, parse, read,
    value::{is_bare_date, to_toml},
};

/// Front matter with its fences, keys in the given order. TOML leaves out what is null.
pub fn write(format: Format, keys: &[(String, Value)]) -> String {
    let lines: Vec<String> = keys
        .iter()
        .map(|(key, value)| write_pair(format, key, value))
        .filter(|line| !line.is_empty())
        .collect();
    match format {
        Format::Yaml => format!("---\n{}---\n", closed(&lines)),
        Format::Toml => format!("+++\n{}+++\n", closed(&lines)),
        Format::Json => format!("{{\n{}\n}}\n", lines.join(",\n")),
    }
}

fn closed(lines: &[String]) -> String {
    lines.iter().map(|line| format!("{line}\n")).collect()
}

/// One key and its value, as the format's lines without the last line break (JSON: or comma).
pub fn write_pair(format: Format, key: &str, value: &Value) -> String {
    match format {
        Format::Yaml => yaml_pair(key, value),
        Format::Toml => {
            let mut document = toml_edit::DocumentMut::new();
            if let Some(value) = to_toml(value) {
                document.insert(key, toml_edit::Item::Value(value));
            }
            document.to_string().trim_end().to_owned()
        }
        Format::Json => format!("  {}: {value}", Value::from(key)),
    }
}

/// Values are flow YAML, which is JSON with dates left bare; lists have a line for each item.
fn yaml_pair(key: &str, value: &Value) -> String {
    let key = if is_plain_key(key) {
        key.to_owned()
    } else {
        Value::from(key).to_string()
    };
    match value {
        Value::Array(items) if !items.is_empty() => {
            let items: Vec<String> = items
                .iter()
                .map(|item| format!("  - {}", scalar(item)))
                .collect();
            format!("{key}:\n{}", items.join("\n"))
        }
        other => format!("{key}: {}", scalar(other)),
    }
}

fn scalar(value: &Value) -> String {
    match value {
        Value::String(text) if is_bare_date(text) => text.clone(),
        other => other.to_string(),
    }
}

fn is_plain_key(key: &str) -> bool {
    key.starts_with(|character: char| character.is_ascii_alphabetic() || character == '_')
        && key
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.'))
        && !matches!(
            key.to_ascii_lowercase().as_str(),
            "true" | "false" | "null" | "yes" | "no" | "on" | "off" | "y" | "n"
        )
}

/// The page with some keys set; all other lines stay as they are.
pub fn set_keys(page: &str, updates: &BTreeMap<String, Value>) -> Result<String, FrontMatterError> {
    let mut block = find(page).ok_or(FrontMatterError::Missing)?;
    let mut expected = parse(page, &block)?;
    let mut text = page.to_owned();
    for (key, value) in updates {
        if expected.get(key) == Some(value) {
            continue;
        }
        text = put_key(&text, &block, key, value);
        block = find(&text).ok_or(FrontMatterError::Missing)?;
        if value.is_null() && block.format == Format::Toml {
            expected.remove(key);
        } else {
            expected.insert(key.clone(), value.clone());
        }
        // Which lines belong to a key is guessed from their shape, which can be wrong.
        if read(&text)? != Some((block.format, expected.clone())) {
            return Err(FrontMatterError::Entangled(key.clone()));
        }
    }
    Ok(text)
}

/// The page with a key set, whether or not its front matter parses.
pub fn put_key(page: &str, block: &Block, key: &str, value: &Value) -> String {
    let inner = &page[block.inner.clone()];
    let new = match block.format {
        Format::Json => put_member(inner, key, value),
        Format::Toml => put_item(inner, key, value)
            .unwrap_or_else(|| put_lines(Format::Toml, inner, key, value)),
        Format::Yaml => put_lines(Format::Yaml, inner, key, value),
    };
    replaced(page, block, &new)
}

/// The page without a key; unchanged when it has none.
pub fn remove_key(page: &str, block: &Block, key: &str) -> String {
    let inner = &page[block.inner.clone()];
    let range = match block.format {
        Format::Json => {
            let members = members(inner);
            let Some(at) = members.iter().position(|member| member.name == key) else {
                return page.to_owned();
            };
            let after = members.get(at + 1).map(|next| next.start);
            let before = at.checked_sub(1).map(|at| members[at].value.end);
            match (after, before) {
                (Some(next), _) => members[at].start..next,
                (None, Some(end)) => end..members[at].value.end,
                (None, None) => members[at].start..members[at].value.end,
            }
        }
        format => match entry(format, inner, key) {
            Some(range) => range,
            None => return page.to_owned(),
        },
    };
    let new = format!("{}{}", &inner[..range.start], &inner[range.end..]);
    replaced(page, block, &new)
}

/// The page with other front matter and the line endings it had.
fn replaced(page: &str, block: &Block, inner: &str) -> String {
    let (before, after) = (&page[..block.inner.start], &page[block.inner.end..]);
    if page[block.inner.clone()].contains("\r\n") || before.ends_with("\r\n") {
        let inner = inner.replace("\r\n", "\n").replace('\n', "\r\n");
        return format!("{before}{inner}{after}");
    }
    format!("{before}{inner}{after}")
}

/// Replaces the lines of one top-level key, or adds it where it still belongs to the top.
fn put_lines(format: Format, text: &str, key: &str, value: &Value) -> String {
    let lines = write_pair(format, key, value) + "\n";
    let range = entry(format, text, key).unwrap_or_else(|| {
        let table = || text.find("\n[").map(|at| at + 1);
        let at = match format {
            Format::Toml if text.starts_with('[') => 0,
            Format::Toml => table().unwrap_or(text.len()),
            _ => text.len(),
        };
        at..at
    });
    let (before, after) = (&text[..range.start], &text[range.end..]);
    let open = if before.is_empty() || before.ends_with('\n') {
        ""
    } else {
        "\n"
    };
    format!("{before}{open}{lines}{after}")
}

/// Sets a key of TOML that parses, so that the comment above the key stays.
fn put_item(text: &str, key: &str, value: &Value) -> Option<String> {
    let mut document: toml_edit::DocumentMut = text.parse().ok()?;
    match to_toml(value).map(toml_edit::Item::Value) {
        None => drop(document.remove(key)),
        Some(item) => match document.get_mut(key) {
            Some(present) => *present = item,
            None => drop(document.insert(key, item)),
        },
    }
    Some(document.to_string())
}

/// Replaces the value of one top-level member, or adds the member at the end.
fn put_member(text: &str, key: &str, value: &Value) -> String {
    let members = members(text);
    if let Some(member) = members.iter().find(|member| member.name == key) {
        let range = member.value.clone();
        return format!("{}{value}{}", &text[..range.start], &text[range.end..]);
    }
    let end = members.last().map_or_else(
        || text.find('{').map_or(0, |at| at + 1),
        |member| member.value.end,
    );
    let comma = if members.is_empty() { "" } else { "," };
    let pair = write_pair(Format::Json, key, value);
    format!("{}{comma}\n{pair}{}", &text[..end], &text[end..])
}
