//! Unions written `{type: …, properties: {…}}`: one enum, its names, its reading and its schema.
//!
//! Types that users may have in their files and that are refused by name are next to the
//! supported ones, each with the reason.

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

/// The mark in a schema: names that are known and refused, with the reason.
pub(crate) const REJECTED: &str = "x-windlass-rejected";

/// The written form.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Written {
    #[serde(rename = "type")]
    pub kind: String,
    #[serde(default)]
    pub properties: Map<String, Value>,
}

/// The same, to be written.
#[derive(Serialize)]
pub(crate) struct Writing<'a, T> {
    #[serde(rename = "type")]
    pub kind: &'static str,
    pub properties: &'a T,
}

/// One alternative of a union.
pub(crate) struct Alternative {
    pub name: &'static str,
    pub description: &'static str,
    pub properties: Schema,
}

impl Alternative {
    pub fn of<T: JsonSchema>(
        name: &'static str,
        description: &'static str,
        generator: &mut SchemaGenerator,
    ) -> Self {
        Self {
            name,
            description,
            properties: generator.subschema_for::<T>(),
        }
    }
}

/// The schema of a union.
pub(crate) fn schema(
    description: &str,
    alternatives: Vec<Alternative>,
    rejected: &[(&str, &str)],
    generator: &SchemaGenerator,
) -> Schema {
    let one_of: Vec<Value> = alternatives
        .into_iter()
        .map(|alternative| {
            let mut required = vec!["type"];
            if has_required(&alternative.properties, generator) {
                required.push("properties");
            }
            json!({
                "type": "object",
                "description": alternative.description.trim(),
                "properties": {
                    "type": { "const": alternative.name, "type": "string" },
                    "properties": alternative.properties,
                },
                "required": required,
                "additionalProperties": false,
            })
        })
        .collect();
    let mut object = Map::new();
    object.insert("description".to_owned(), json!(description.trim()));
    object.insert("oneOf".to_owned(), Value::Array(one_of));
    if !rejected.is_empty() {
        let reasons: Map<String, Value> = rejected
            .iter()
            .map(|(name, reason)| ((*name).to_owned(), json!(reason)))
            .collect();
        object.insert(REJECTED.to_owned(), Value::Object(reasons));
    }
    Schema::from(object)
}

fn has_required(schema: &Schema, generator: &SchemaGenerator) -> bool {
    let target = match schema.get("$ref").and_then(Value::as_str) {
        Some(reference) => {
            let name = reference.rsplit('/').next().unwrap_or(reference);
            generator.definitions().get(name)
        }
        None => Some(schema.as_value()),
    };
    target
        .and_then(|schema| schema.get("required"))
        .and_then(Value::as_array)
        .is_some_and(|required| !required.is_empty())
}

/// Declares a union of `{type, properties}` alternatives.
macro_rules! tagged {
    (
        $(#[doc = $doc:literal])+
        pub enum $name:ident {
            $(
                $(#[doc = $variant_doc:literal])+
                $variant:ident($properties:ty) = $type:literal,
            )+
        }
        $(rejected { $($rejected:literal => $reason:literal,)+ })?
    ) => {
        $(#[doc = $doc])+
        #[derive(Clone, Debug, PartialEq)]
        pub enum $name {
            $(
                $(#[doc = $variant_doc])+
                $variant(Box<$properties>),
            )+
        }

        impl $name {
            /// The supported types, in the order of the reference.
            pub const TYPES: &'static [&'static str] = &[$($type),+];

            /// The types that are known and refused, each with the reason.
            pub const REJECTED: &'static [(&'static str, &'static str)] =
                &[$($(($rejected, $reason)),+)?];

            /// The `type` as it is written.
            pub fn type_name(&self) -> &'static str {
                match self {
                    $(Self::$variant(_) => $type,)+
                }
            }
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                match self {
                    $(
                        Self::$variant(properties) => $crate::tagged::Writing {
                            kind: $type,
                            properties: &**properties,
                        }
                        .serialize(serializer),
                    )+
                }
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let written: $crate::tagged::Written =
                    serde::Deserialize::deserialize(deserializer)?;
                let properties = serde_json::Value::Object(written.properties);
                match written.kind.as_str() {
                    $(
                        $type => serde_json::from_value(properties)
                            .map(|properties| Self::$variant(Box::new(properties)))
                            .map_err(serde::de::Error::custom),
                    )+
                    other => Err(serde::de::Error::unknown_variant(other, Self::TYPES)),
                }
            }
        }

        impl schemars::JsonSchema for $name {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($name).into()
            }

            fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
                let alternatives = vec![$(
                    $crate::tagged::Alternative::of::<$properties>(
                        $type,
                        concat!($($variant_doc),+),
                        generator,
                    ),
                )+];
                $crate::tagged::schema(concat!($($doc),+), alternatives, Self::REJECTED, generator)
            }
        }
    };
}
pub(crate) use tagged;
