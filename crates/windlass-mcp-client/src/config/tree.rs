//! TOML and JSON as one tree of values with places.

use serde::{
    Deserialize, Deserializer,
    de::{MapAccess, Visitor},
};
use serde_json::value::RawValue;
use toml_edit::{Document, Item, Value as TomlValue};

use super::{ConfigError, Place};

/// Deeper settings are a mistake or an attack.
const DEEPEST: usize = 32;

/// A value and where it is.
#[derive(Clone, Debug)]
pub(super) struct Node {
    pub place: Place,
    pub value: Value,
}

#[derive(Clone, Debug)]
pub(super) enum Value {
    Null,
    Boolean(bool),
    Number(f64),
    Text(String),
    List(Vec<Node>),
    Table(Vec<(String, Node)>),
}

impl Value {
    /// What it is, for messages.
    pub fn describe(&self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Boolean(_) => "true or false",
            Self::Number(_) => "a number",
            Self::Text(_) => "a text",
            Self::List(_) => "a list",
            Self::Table(_) => "a table",
        }
    }
}

impl Node {
    /// An entry of a table.
    pub fn entry(&self, key: &str) -> Option<&Self> {
        let Value::Table(entries) = &self.value else {
            return None;
        };
        entries
            .iter()
            .find(|(name, _)| name == key)
            .map(|(_, node)| node)
    }
}

/// Reads a JSON document.
pub(super) fn json(text: &str) -> Result<Node, ConfigError> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let raw: &RawValue = serde_json::from_str(text).map_err(|error| ConfigError {
        place: Place {
            line: error.line().max(1),
            column: error.column().max(1),
        },
        message: format!("not valid JSON: {}", without_place(&error)),
    })?;
    from_raw(text, raw, 0)
}

fn without_place(error: &serde_json::Error) -> String {
    let text = error.to_string();
    match text.rsplit_once(" at line ") {
        Some((front, _)) => front.to_owned(),
        None => text,
    }
}

/// The parts of a raw value are slices of the document, which says where they are.
fn from_raw(text: &str, raw: &RawValue, depth: usize) -> Result<Node, ConfigError> {
    let slice = raw.get();
    let offset = (slice.as_ptr() as usize).saturating_sub(text.as_ptr() as usize);
    let place = place(text, offset);
    let error = |message: String| ConfigError { place, message };
    if depth > DEEPEST {
        return Err(error(format!("nested deeper than {DEEPEST} levels")));
    }
    let broken = |cause: serde_json::Error| error(without_place(&cause));
    let value = match slice.as_bytes().first() {
        Some(b'{') => {
            let fields: Fields<'_> = serde_json::from_str(slice).map_err(broken)?;
            let mut entries: Vec<(String, Node)> = Vec::with_capacity(fields.0.len());
            for (key, raw) in fields.0 {
                if entries.iter().any(|(known, _)| *known == key) {
                    return Err(error(format!("`{key}` is there twice")));
                }
                entries.push((key, from_raw(text, raw, depth + 1)?));
            }
            Value::Table(entries)
        }
        Some(b'[') => {
            let items: Vec<&RawValue> = serde_json::from_str(slice).map_err(broken)?;
            let items = items.into_iter().map(|raw| from_raw(text, raw, depth + 1));
            Value::List(items.collect::<Result<_, _>>()?)
        }
        Some(b'"') => Value::Text(serde_json::from_str(slice).map_err(broken)?),
        Some(b't' | b'f') => Value::Boolean(slice == "true"),
        Some(b'n') => Value::Null,
        _ => Value::Number(slice.parse().unwrap_or(f64::NAN)),
    };
    Ok(Node { place, value })
}

/// The entries of an object in order, repeated ones included.
struct Fields<'a>(Vec<(String, &'a RawValue)>);

impl<'de: 'a, 'a> Deserialize<'de> for Fields<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Entries;
        impl<'de> Visitor<'de> for Entries {
            type Value = Vec<(String, &'de RawValue)>;
            fn expecting(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                formatter.write_str("an object")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut entries = Vec::new();
                while let Some(entry) = map.next_entry()? {
                    entries.push(entry);
                }
                Ok(entries)
            }
        }
        deserializer.deserialize_map(Entries).map(Fields)
    }
}

/// Reads a TOML document.
pub(super) fn toml(text: &str) -> Result<Node, ConfigError> {
    let document = Document::parse(text).map_err(|error| ConfigError {
        place: place(text, error.span().map_or(0, |span| span.start)),
        message: format!("not valid TOML: {}", error.message().trim_end()),
    })?;
    Ok(from_item(text, document.as_item(), 0))
}

fn from_item(text: &str, item: &Item, start: usize) -> Node {
    let start = item.span().map_or(start, |span| span.start);
    let value = match item {
        Item::None => Value::Null,
        Item::Value(value) => return from_value(text, value, start),
        Item::Table(table) => Value::Table(
            table
                .iter()
                .map(|(key, item)| {
                    let at = table.key(key).and_then(toml_edit::Key::span);
                    let at = at.map_or(start, |span| span.start);
                    (key.to_owned(), from_item(text, item, at))
                })
                .collect(),
        ),
        Item::ArrayOfTables(tables) => Value::List(
            tables
                .iter()
                .map(|table| from_item(text, &Item::Table(table.clone()), start))
                .collect(),
        ),
    };
    Node {
        place: place(text, start),
        value,
    }
}

fn from_value(text: &str, value: &TomlValue, start: usize) -> Node {
    let start = value.span().map_or(start, |span| span.start);
    let found = match value {
        TomlValue::String(word) => Value::Text(word.value().clone()),
        TomlValue::Integer(number) => Value::Number(*number.value() as f64),
        TomlValue::Float(number) => Value::Number(*number.value()),
        TomlValue::Boolean(truth) => Value::Boolean(*truth.value()),
        TomlValue::Datetime(time) => Value::Text(time.value().to_string()),
        TomlValue::Array(items) => Value::List(
            items
                .iter()
                .map(|item| from_value(text, item, start))
                .collect(),
        ),
        TomlValue::InlineTable(table) => Value::Table(
            table
                .iter()
                .map(|(key, value)| (key.to_owned(), from_value(text, value, start)))
                .collect(),
        ),
    };
    Node {
        place: place(text, start),
        value: found,
    }
}

fn place(text: &str, offset: usize) -> Place {
    let before = text.get(..offset).unwrap_or_default();
    let line = before.rsplit('\n').next().unwrap_or_default();
    Place {
        line: before.matches('\n').count() + 1,
        column: line.chars().count() + 1,
    }
}
