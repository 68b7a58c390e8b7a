//! What the checks of requests have in common.

use serde_json::Value;
use sha2::{Digest as _, Sha256};

/// Why a request is refused: the status, the server's kind of error, its words, the field.
#[derive(Debug)]
pub(super) struct Refusal {
    pub status: u16,
    pub kind: &'static str,
    pub said: String,
    pub param: Option<String>,
}

pub(super) type Checked = Result<(), Refusal>;

impl Refusal {
    pub fn new(status: u16, kind: &'static str, said: impl Into<String>) -> Self {
        Self {
            status,
            kind,
            said: said.into(),
            param: None,
        }
    }

    pub fn about(mut self, param: impl Into<String>) -> Self {
        self.param = Some(param.into());
        self
    }
}

/// A refusal of the request's content, which every wire format has.
pub(super) fn invalid(said: impl Into<String>) -> Refusal {
    Refusal::new(400, "invalid_request_error", said)
}

pub(super) fn require(holds: bool, said: impl Into<String>) -> Checked {
    match holds {
        true => Ok(()),
        false => Err(invalid(said)),
    }
}

/// Refuses fields that the server does not know.
pub(super) fn only(value: &Value, place: &str, known: &[&str]) -> Checked {
    let Some(fields) = value.as_object() else {
        return Err(invalid(format!("{place}: expected an object")));
    };
    match fields.keys().find(|key| !known.contains(&key.as_str())) {
        Some(key) => Err(invalid(format!(
            "{place}.{key}: Extra inputs are not permitted"
        ))),
        None => Ok(()),
    }
}

pub(super) fn list<'a>(value: &'a Value, place: &str) -> Result<&'a [Value], Refusal> {
    let list = value.as_array().map(Vec::as_slice);
    let list = list.filter(|list| !list.is_empty());
    list.ok_or_else(|| invalid(format!("{place}: expected a list with at least one item")))
}

pub(super) fn string<'a>(value: &'a Value, place: &str) -> Result<&'a str, Refusal> {
    let text = value.as_str().filter(|text| !text.is_empty());
    text.ok_or_else(|| invalid(format!("{place}: expected a text that is not empty")))
}

/// A number within limits, where there is one.
pub(super) fn number(body: &Value, field: &str, least: f64, most: f64) -> Checked {
    match &body[field] {
        Value::Null => Ok(()),
        value => {
            let number = value.as_f64();
            let is_within = number.is_some_and(|number| (least..=most).contains(&number));
            require(
                is_within,
                format!("{field}: expected a number from {least} to {most}"),
            )
        }
    }
}

/// Tools have names that calls can use, each its own.
pub(super) fn tool_names<'a>(names: impl Iterator<Item = Option<&'a str>>) -> Checked {
    let mut seen = Vec::new();
    for name in names {
        let is_sound = |name: &str| {
            let is_plain = |it: char| it.is_ascii_alphanumeric() || it == '_' || it == '-';
            (1..=64).contains(&name.len()) && name.chars().all(is_plain)
        };
        let Some(name) = name.filter(|name| is_sound(name)) else {
            return Err(invalid("tools: a name must match ^[a-zA-Z0-9_-]{1,64}$"));
        };
        require(
            !seen.contains(&name),
            format!("tools: `{name}` is there twice"),
        )?;
        seen.push(name);
    }
    Ok(())
}

/// Whether every object of a schema forbids other properties, and, where asked, requires all.
pub(super) fn is_strict_schema(schema: &Value, requires_all: bool) -> bool {
    let Some(object) = schema.as_object() else {
        return schema
            .as_array()
            .is_none_or(|list| list.iter().all(|it| is_strict_schema(it, requires_all)));
    };
    if object.get("type").is_some_and(|kind| kind == "object") {
        let required = object.get("required").and_then(Value::as_array);
        let properties = object.get("properties").and_then(Value::as_object);
        let is_required = |name: &String| {
            required.is_some_and(|required| required.iter().any(|it| it == name.as_str()))
        };
        let has_all = properties.is_none_or(|it| it.keys().all(is_required));
        if object.get("additionalProperties") != Some(&Value::Bool(false))
            || (requires_all && !has_all)
        {
            return false;
        }
    }
    object
        .values()
        .all(|value| is_strict_schema(value, requires_all))
}

/// What a server signs a thought with. A thought that comes back changed has another.
pub(super) fn signature(of: &str) -> String {
    let hash = Sha256::digest(of.as_bytes());
    let words: Vec<String> = hash
        .iter()
        .take(8)
        .map(|byte| format!("{byte:02x}"))
        .collect();
    format!("signed-{}", words.concat())
}

/// A text in pieces of a few letters, as models write.
pub(super) fn pieces(text: &str) -> Vec<String> {
    let letters: Vec<char> = text.chars().collect();
    letters
        .chunks(5)
        .map(|piece| piece.iter().collect())
        .collect()
}
