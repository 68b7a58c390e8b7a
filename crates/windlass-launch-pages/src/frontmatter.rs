//! Front matter in YAML, TOML or JSON: found, read, written, and changed key by key.
//!
//! A change touches the lines of its keys and no others, so comments, order and spelling of the
//! rest survive. Knows nothing of what the keys mean.

use std::{collections::BTreeMap, ops::Range};

use serde_json::{Map, Value};

/// How front matter is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Format {
    /// Between lines of `---`.
    Yaml,
    /// Between lines of `+++`.
    Toml,
    /// An object at the very start.
    Json,
}

impl Format {
    /// The format a contract names; YAML for anything unknown.
    pub fn named(name: &str) -> Self {
        match name {
            "toml" => Self::Toml,
            "json" => Self::Json,
            _ => Self::Yaml,
        }
    }

    /// The name in a contract.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Yaml => "yaml",
            Self::Toml => "toml",
            Self::Json => "json",
        }
    }
}

/// Why front matter cannot be read or changed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FrontMatterError {
    /// The page has none.
    #[error("the page has no front matter")]
    Missing,
    /// It begins and never ends.
    #[error("the front matter is not closed")]
    Unclosed,
    /// It does not parse.
    #[error("the {format} front matter does not parse: {cause}")]
    Invalid {
        /// The format.
        format: &'static str,
        /// What the parser said.
        cause: String,
    },
    /// It is a list or a single value.
    #[error("the front matter is not a set of keys")]
    NotAnObject,
}

/// The front matter of a page, found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block {
    /// How it is written.
    pub format: Format,
    /// The bytes of what is written, without the fences.
    pub inner: Range<usize>,
    /// The bytes of all of it, the closing fence's line break included.
    pub outer: Range<usize>,
}

/// Finds a page's front matter.
pub fn find(page: &str) -> Result<Option<Block>, FrontMatterError> {
    let start = if page.starts_with('\u{feff}') {
        '\u{feff}'.len_utf8()
    } else {
        0
    };
    let text = &page[start..];
    let first = text.lines().next().unwrap_or_default().trim_end();
    let (fence, format) = match first {
        "---" => ("---", Format::Yaml),
        "+++" => ("+++", Format::Toml),
        _ if text.starts_with('{') && !text.starts_with("{{") => return json_block(page, start),
        _ => return Ok(None),
    };
    let mut at = start + text.find('\n').map_or(text.len(), |at| at + 1);
    let inner_start = at;
    for line in page[at..].split_inclusive('\n') {
        if line.trim_end() == fence {
            return Ok(Some(Block {
                format,
                inner: inner_start..at,
                outer: start..at + line.len(),
            }));
        }
        at += line.len();
    }
    Err(FrontMatterError::Unclosed)
}

fn json_block(page: &str, start: usize) -> Result<Option<Block>, FrontMatterError> {
    let mut stream = serde_json::Deserializer::from_str(&page[start..]).into_iter::<Value>();
    match stream.next() {
        Some(Ok(_)) => {}
        Some(Err(error)) => return Err(invalid(Format::Json, &error)),
        None => return Err(FrontMatterError::Unclosed),
    }
    let inner = start..start + stream.byte_offset();
    let rest = &page[inner.end..];
    let line_break = if rest.starts_with("\r\n") {
        2
    } else {
        usize::from(rest.starts_with('\n'))
    };
    Ok(Some(Block {
        format: Format::Json,
        outer: start..inner.end + line_break,
        inner,
    }))
}

/// The byte a page's body begins at; the start when its front matter cannot be told.
pub fn body_start(page: &str) -> usize {
    find(page).ok().flatten().map_or(0, |block| block.outer.end)
}

/// Front matter read: how it is written, and its keys.
pub type Keys = (Format, Map<String, Value>);

/// A page's front matter with its keys; none when it has none.
pub fn read(page: &str) -> Result<Option<Keys>, FrontMatterError> {
    let Some(block) = find(page)? else {
        return Ok(None);
    };
    let keys = read_keys(block.format, &page[block.inner])?;
    Ok(Some((block.format, keys)))
}

fn read_keys(format: Format, text: &str) -> Result<Map<String, Value>, FrontMatterError> {
    let value: Value = match format {
        Format::Yaml if text.trim().is_empty() => Value::Object(Map::new()),
        // `y` and `on` are words, as they are to Hugo.
        Format::Yaml => {
            let options = serde_saphyr::options! { strict_booleans: true };
            serde_saphyr::from_str_with_options(text, options)
                .map_err(|error| invalid(format, &error))?
        }
        Format::Toml => {
            let table: toml::Table = text.parse().map_err(|error| invalid(format, &error))?;
            Value::Object(
                table
                    .into_iter()
                    .map(|(key, value)| (key, from_toml(value)))
                    .collect(),
            )
        }
        Format::Json => serde_json::from_str(text).map_err(|error| invalid(format, &error))?,
    };
    match value {
        Value::Object(keys) => Ok(keys),
        _ => Err(FrontMatterError::NotAnObject),
    }
}

fn invalid(format: Format, error: &dyn std::fmt::Display) -> FrontMatterError {
    let cause = error.to_string();
    let first = cause.lines().next().unwrap_or_default().to_owned();
    FrontMatterError::Invalid {
        format: format.as_str(),
        cause: first,
    }
}

fn from_toml(value: toml::Value) -> Value {
    match value {
        toml::Value::String(text) => Value::String(text),
        toml::Value::Integer(number) => number.into(),
        toml::Value::Float(number) => number.into(),
        toml::Value::Boolean(flag) => flag.into(),
        toml::Value::Datetime(date) => Value::String(date.to_string()),
        toml::Value::Array(items) => items.into_iter().map(from_toml).collect(),
        toml::Value::Table(table) => Value::Object(
            table
                .into_iter()
                .map(|(key, value)| (key, from_toml(value)))
                .collect(),
        ),
    }
}

/// Front matter with its fences, keys in the given order.
pub fn write(format: Format, keys: &[(String, Value)]) -> String {
    match format {
        Format::Yaml => {
            let lines: String = keys
                .iter()
                .map(|(key, value)| yaml_line(key, value))
                .collect();
            format!("---\n{lines}---\n")
        }
        Format::Toml => {
            let mut document = toml_edit::DocumentMut::new();
            for (key, value) in keys {
                if let Some(value) = to_toml(value) {
                    document.insert(key, toml_edit::Item::Value(value));
                }
            }
            format!("+++\n{document}+++\n")
        }
        Format::Json => {
            let lines: Vec<String> = keys
                .iter()
                .map(|(key, value)| format!("  {}: {value}", Value::from(key.as_str())))
                .collect();
            format!("{{\n{}\n}}\n", lines.join(",\n"))
        }
    }
}

/// The page with some keys set; all other lines stay as they are.
pub fn set_keys(page: &str, updates: &BTreeMap<String, Value>) -> Result<String, FrontMatterError> {
    let block = find(page)?.ok_or(FrontMatterError::Missing)?;
    let inner = &page[block.inner.clone()];
    let present = read_keys(block.format, inner)?;
    let mut text = inner.to_owned();
    for (key, value) in updates {
        if present.get(key) == Some(value) {
            continue;
        }
        text = match block.format {
            Format::Yaml => set_yaml(&text, key, value),
            Format::Toml => set_toml(&text, key, value)?,
            Format::Json => set_json(&text, key, value),
        };
    }
    if page[block.inner.clone()].contains("\r\n") {
        text = text.replace("\r\n", "\n").replace('\n', "\r\n");
    }
    Ok(format!(
        "{}{text}{}",
        &page[..block.inner.start],
        &page[block.inner.end..]
    ))
}

/// `key: value` as flow YAML, which is JSON with dates left bare.
fn yaml_line(key: &str, value: &Value) -> String {
    let key = if is_plain_key(key) {
        key.to_owned()
    } else {
        Value::from(key).to_string()
    };
    match value {
        Value::Array(items) if !items.is_empty() => {
            let items: String = items
                .iter()
                .map(|item| format!("  - {}\n", scalar(item)))
                .collect();
            format!("{key}:\n{items}")
        }
        other => format!("{key}: {}\n", scalar(other)),
    }
}

fn scalar(value: &Value) -> String {
    match value {
        Value::String(text) if is_date(text) => text.clone(),
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

/// Whether a text is a date, with or without a time, that TOML and YAML take as one.
pub fn is_date(text: &str) -> bool {
    text.starts_with(|first: char| first.is_ascii_digit())
        && text.get(4..5) == Some("-")
        && text.parse::<toml_edit::Datetime>().is_ok()
}

/// Replaces the lines of one top-level key, or adds it at the end.
fn set_yaml(text: &str, key: &str, value: &Value) -> String {
    let line = yaml_line(key, value);
    let (mut before, mut after, mut seen) = (String::new(), String::new(), 0);
    for current in text.split_inclusive('\n') {
        let indented = current.starts_with([' ', '\t', '-']) || current.trim().is_empty();
        if seen == 0 && yaml_key(current) == Some(key) {
            seen = 1;
        } else if seen == 1 && indented && !current.trim().is_empty() {
            // Still the old value.
        } else if seen > 0 {
            seen = 2;
            after.push_str(current);
        } else {
            before.push_str(current);
        }
    }
    if seen == 0 && !before.is_empty() && !before.ends_with('\n') {
        before.push('\n');
    }
    before + &line + &after
}

fn yaml_key(line: &str) -> Option<&str> {
    if line.starts_with([' ', '\t', '#', '-']) {
        return None;
    }
    let (key, rest) = line.split_once(':')?;
    let ends_key = rest.is_empty() || rest.starts_with([' ', '\t', '\r', '\n']);
    ends_key.then(|| key.trim().trim_matches(['"', '\'']))
}

fn set_toml(text: &str, key: &str, value: &Value) -> Result<String, FrontMatterError> {
    let mut document: toml_edit::DocumentMut = text
        .parse()
        .map_err(|error| invalid(Format::Toml, &error))?;
    if let Some(value) = to_toml(value) {
        let item = toml_edit::Item::Value(value);
        match document.get_mut(key) {
            // In place, so that the comment above the key stays.
            Some(present) => *present = item,
            None => drop(document.insert(key, item)),
        }
    }
    Ok(document.to_string())
}

/// A value as TOML; none for null, which TOML does not have.
fn to_toml(value: &Value) -> Option<toml_edit::Value> {
    Some(match value {
        Value::Null => return None,
        Value::Bool(flag) => (*flag).into(),
        Value::Number(number) => number.as_i64().map_or_else(
            || number.as_f64().unwrap_or_default().into(),
            toml_edit::Value::from,
        ),
        Value::String(text) => match text.parse::<toml_edit::Datetime>() {
            Ok(date) if is_date(text) => date.into(),
            _ => text.as_str().into(),
        },
        Value::Array(items) => items
            .iter()
            .filter_map(to_toml)
            .collect::<toml_edit::Array>()
            .into(),
        Value::Object(keys) => keys
            .iter()
            .filter_map(|(key, value)| Some((key.as_str(), to_toml(value)?)))
            .collect::<toml_edit::InlineTable>()
            .into(),
    })
}

/// Replaces the value of one top-level key, or adds the key at the end.
fn set_json(text: &str, key: &str, value: &Value) -> String {
    let members = json_members(text);
    if let Some((_, range)) = members.iter().find(|(name, _)| name == key) {
        return format!("{}{value}{}", &text[..range.start], &text[range.end..]);
    }
    let end = members.last().map_or_else(
        || text.find('{').map_or(0, |at| at + 1),
        |(_, range)| range.end,
    );
    let comma = if members.is_empty() { "" } else { "," };
    format!(
        "{}{comma}\n  {}: {value}{}",
        &text[..end],
        Value::from(key),
        &text[end..]
    )
}

/// The top-level members of a valid JSON object, each with the bytes of its value.
fn json_members(text: &str) -> Vec<(String, Range<usize>)> {
    let mut members = Vec::new();
    let Some(mut at) = text.find('{').map(|at| at + 1) else {
        return members;
    };
    while let Some(key_at) = text[at..].find('"').map(|offset| at + offset) {
        let mut keys = serde_json::Deserializer::from_str(&text[key_at..]).into_iter::<String>();
        let Some(Ok(key)) = keys.next() else {
            return members;
        };
        let after_key = key_at + keys.byte_offset();
        let Some(colon) = text[after_key..]
            .find(':')
            .map(|offset| after_key + offset + 1)
        else {
            return members;
        };
        let start = colon + (text[colon..].len() - text[colon..].trim_start().len());
        let mut values = serde_json::Deserializer::from_str(&text[start..]).into_iter::<Value>();
        let Some(Ok(_)) = values.next() else {
            return members;
        };
        at = start + values.byte_offset();
        members.push((key, start..at));
    }
    members
}

#[cfg(test)]
#[path = "frontmatter_tests.rs"]
mod tests;
