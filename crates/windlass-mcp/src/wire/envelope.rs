//! The outer shape of one JSON text: an object's JSON-RPC members, or a list of texts.
//!
//! Not here: what the members mean (`frame`). Values are kept as the text they were, so
//! that a message is parsed once, into the type its method asks for.

use std::{borrow::Cow, fmt};

use rmcp::model::RequestId;
use serde::{
    Deserialize, Deserializer,
    de::{Error, MapAccess, SeqAccess, Visitor},
};
use serde_json::value::RawValue;

use super::fault::Fault;

/// Nesting beyond this is refused. Below the parser's own limit of 128 in every place, so
/// that the answer does not depend on where in a message the nesting is.
const MAX_DEPTH: usize = 100;

/// Reads the outer shape of a message.
pub fn shape(bytes: &[u8]) -> Result<Shape<'_>, Fault> {
    let text = std::str::from_utf8(bytes)
        .map_err(|_| Fault::parse("parse error: the message is not valid UTF-8"))?;
    if is_too_deep(bytes) {
        let reason = format!("parse error: the message is nested deeper than {MAX_DEPTH} levels");
        return Err(Fault::parse(reason));
    }
    serde_json::from_str(text).map_err(|error| Fault::parse(format!("parse error: {error}")))
}

fn is_too_deep(bytes: &[u8]) -> bool {
    let (mut depth, mut in_string, mut escaped) = (0_usize, false, false);
    for byte in bytes {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if in_string => escaped = true,
            b'"' => in_string = !in_string,
            _ if in_string => {}
            b'[' | b'{' => {
                depth += 1;
                if depth > MAX_DEPTH {
                    return true;
                }
            }
            b']' | b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    false
}

/// A JSON text that may be a JSON-RPC message or a batch of them.
pub enum Shape<'a> {
    /// An object.
    Object(Envelope<'a>),
    /// An array; its elements are still text.
    Array(Vec<&'a RawValue>),
    /// Any other JSON value.
    Scalar,
}

/// The members of a JSON-RPC message; anything else in the object is ignored.
#[derive(Default)]
pub struct Envelope<'a> {
    pub jsonrpc: Option<&'a RawValue>,
    pub id: Option<&'a RawValue>,
    pub method: Option<&'a RawValue>,
    pub params: Option<&'a RawValue>,
    pub result: Option<&'a RawValue>,
    pub error: Option<&'a RawValue>,
    /// A member that stood there twice; which of the two counts would be a guess.
    pub repeated: Option<&'static str>,
}

/// An id as it was found.
pub enum Id {
    Absent,
    /// Neither a string nor an integer that fits.
    Unusable,
    Usable(RequestId),
}

impl Envelope<'_> {
    /// Reads the id.
    pub fn id(&self) -> Id {
        match self.id {
            None => Id::Absent,
            Some(_) if self.repeated == Some("id") => Id::Unusable,
            Some(raw) => serde_json::from_str(raw.get()).map_or(Id::Unusable, Id::Usable),
        }
    }

    /// Whether the version member says 2.0.
    pub fn is_version_2(&self) -> bool {
        self.jsonrpc
            .is_some_and(|raw| text(raw).is_some_and(|version| version == "2.0"))
    }

    /// The method name, when it is a string.
    pub fn method_name(&self) -> Option<Cow<'_, str>> {
        self.method.and_then(text)
    }
}

/// The string behind a raw value, when it is one.
fn text(raw: &RawValue) -> Option<Cow<'_, str>> {
    serde_json::from_str::<Text<'_>>(raw.get())
        .ok()
        .map(|text| text.0)
}

/// A string borrowed from the input where it has no escapes.
#[derive(Deserialize)]
struct Text<'a>(#[serde(borrow)] Cow<'a, str>);

impl<'de: 'a, 'a> Deserialize<'de> for Shape<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ShapeVisitor)
    }
}

struct ShapeVisitor;

impl<'de> Visitor<'de> for ShapeVisitor {
    type Value = Shape<'de>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a JSON-RPC message")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut envelope = Envelope::default();
        while let Some(Text(key)) = map.next_key()? {
            let value: &RawValue = map.next_value()?;
            let (name, slot) = match key.as_ref() {
                "jsonrpc" => ("jsonrpc", &mut envelope.jsonrpc),
                "id" => ("id", &mut envelope.id),
                "method" => ("method", &mut envelope.method),
                "params" => ("params", &mut envelope.params),
                "result" => ("result", &mut envelope.result),
                "error" => ("error", &mut envelope.error),
                _ => continue,
            };
            if slot.replace(value).is_some() {
                envelope.repeated = Some(name);
            }
        }
        Ok(Shape::Object(envelope))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
        let mut elements = Vec::new();
        while let Some(element) = seq.next_element()? {
            elements.push(element);
        }
        Ok(Shape::Array(elements))
    }

    fn visit_bool<E: Error>(self, _: bool) -> Result<Self::Value, E> {
        Ok(Shape::Scalar)
    }

    fn visit_i64<E: Error>(self, _: i64) -> Result<Self::Value, E> {
        Ok(Shape::Scalar)
    }

    fn visit_u64<E: Error>(self, _: u64) -> Result<Self::Value, E> {
        Ok(Shape::Scalar)
    }

    fn visit_f64<E: Error>(self, _: f64) -> Result<Self::Value, E> {
        Ok(Shape::Scalar)
    }

    fn visit_str<E: Error>(self, _: &str) -> Result<Self::Value, E> {
        Ok(Shape::Scalar)
    }

    fn visit_unit<E: Error>(self) -> Result<Self::Value, E> {
        Ok(Shape::Scalar)
    }
}
