//! Values that are known now, and values that AWS fills in when the stack is deployed.
//!
//! A runtime directive (`$Secret`, `$ResourceParam`, …) stays in the typed model as a
//! [`Runtime`]; in JSON it is an object with the one key [`RUNTIME_KEY`], which no config may
//! use. Not here: what CloudFormation makes of it.

use std::borrow::Cow;
use std::collections::BTreeMap;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use serde_json::{Number, Value, json};

/// The key of a runtime value in JSON.
pub const RUNTIME_KEY: &str = "$runtime";

/// The mark in a schema of places that take a runtime value.
pub(crate) const TAKES_RUNTIME: &str = "x-windlass-runtime";

/// A value that only AWS knows, named by a directive.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(
    tag = "directive",
    rename_all = "camelCase",
    rename_all_fields = "camelCase",
    deny_unknown_fields
)]
pub enum Runtime {
    /// `$ResourceParam(resource, param)`: a referenceable parameter of a resource of the config.
    ResourceParam {
        /// The resource's name in the config.
        resource: String,
        /// The parameter's name.
        param: String,
    },
    /// `$CfResourceParam(logicalId, attribute)`: an attribute of a CloudFormation resource.
    CfResourceParam {
        /// The logical id.
        logical_id: String,
        /// The attribute's name.
        attribute: String,
    },
    /// `$Secret(name)` or `$Secret(name.key)`: a secret, or one key of a JSON secret.
    Secret {
        /// The secret's name.
        name: String,
        /// The key inside the secret's JSON object.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        key: Option<String>,
    },
    /// `$SsmParam(name)`: a parameter of the Parameter Store.
    SsmParam {
        /// The parameter's name.
        name: String,
        /// A version; the newest one without.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        version: Option<u32>,
    },
    /// `$CfFormat("{}-{}", a, b)`, or a longer string with runtime directives in it.
    CfFormat {
        /// What is put together, in order.
        parts: Vec<Text>,
    },
    /// `$CfStackOutput(stack, output)`: an exported output of another stack.
    CfStackOutput {
        /// The other stack's name.
        stack: String,
        /// The output's name.
        output: String,
    },
}

impl Runtime {
    /// The directive's name, without the `$`.
    pub fn directive(&self) -> &'static str {
        match self {
            Self::ResourceParam { .. } => "ResourceParam",
            Self::CfResourceParam { .. } => "CfResourceParam",
            Self::Secret { .. } => "Secret",
            Self::SsmParam { .. } => "SsmParam",
            Self::CfFormat { .. } => "CfFormat",
            Self::CfStackOutput { .. } => "CfStackOutput",
        }
    }

    /// This value and those it is put together from, outermost first.
    pub fn each<'a>(&'a self, visit: &mut dyn FnMut(&'a Self)) {
        visit(self);
        if let Self::CfFormat { parts } = self {
            for part in parts {
                if let Text::Runtime(inner) = part {
                    inner.each(visit);
                }
            }
        }
    }

    /// As JSON: an object with the one key [`RUNTIME_KEY`].
    pub fn to_marked(&self) -> Value {
        json!({ RUNTIME_KEY: self })
    }
}

/// A runtime value in its JSON form.
#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct Marked<T> {
    #[serde(rename = "$runtime")]
    runtime: T,
}

/// A text that is known now or filled in by AWS.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Text {
    /// Known now.
    Literal(String),
    /// Filled in by AWS.
    Runtime(Box<Runtime>),
}

impl Text {
    /// The text, when it is known now.
    pub fn literal(&self) -> Option<&str> {
        match self {
            Self::Literal(text) => Some(text),
            Self::Runtime(_) => None,
        }
    }

    /// The runtime value, when it is one.
    pub fn runtime(&self) -> Option<&Runtime> {
        match self {
            Self::Literal(_) => None,
            Self::Runtime(runtime) => Some(runtime),
        }
    }
}

impl From<&str> for Text {
    fn from(text: &str) -> Self {
        Self::Literal(text.to_owned())
    }
}

impl From<String> for Text {
    fn from(text: String) -> Self {
        Self::Literal(text)
    }
}

impl From<Runtime> for Text {
    fn from(runtime: Runtime) -> Self {
        Self::Runtime(Box::new(runtime))
    }
}

impl Serialize for Text {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Literal(text) => serializer.serialize_str(text),
            Self::Runtime(runtime) => Marked { runtime }.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for Text {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match Scalar::deserialize(deserializer)? {
            Scalar::Text(text) => Ok(text),
            other => Err(de::Error::custom(format!(
                "expected a text, found {}",
                other.describe()
            ))),
        }
    }
}

impl JsonSchema for Text {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Text".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", TAKES_RUNTIME: true })
    }
}

/// A text, number or boolean: what an environment variable may be given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Scalar {
    /// A text, known now or not.
    Text(Text),
    /// A number.
    Number(Number),
    /// A boolean.
    Bool(bool),
}

impl Scalar {
    /// As a text: numbers and booleans as they are written in JSON.
    pub fn to_text(&self) -> Text {
        match self {
            Self::Text(text) => text.clone(),
            Self::Number(number) => Text::Literal(number.to_string()),
            Self::Bool(flag) => Text::Literal(flag.to_string()),
        }
    }

    fn describe(&self) -> &'static str {
        match self {
            Self::Text(_) => "a text",
            Self::Number(_) => "a number",
            Self::Bool(_) => "a boolean",
        }
    }
}

impl From<&str> for Scalar {
    fn from(text: &str) -> Self {
        Self::Text(text.into())
    }
}

impl Serialize for Scalar {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Text(text) => text.serialize(serializer),
            Self::Number(number) => number.serialize(serializer),
            Self::Bool(flag) => serializer.serialize_bool(*flag),
        }
    }
}

impl<'de> Deserialize<'de> for Scalar {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match Data::deserialize(deserializer)? {
            Data::String(text) => Ok(Self::Text(Text::Literal(text))),
            Data::Runtime(runtime) => Ok(Self::Text(Text::Runtime(runtime))),
            Data::Number(number) => Ok(Self::Number(number)),
            Data::Bool(flag) => Ok(Self::Bool(flag)),
            Data::Null => Err(de::Error::custom("expected a text, found nothing")),
            Data::List(_) => Err(de::Error::custom("expected a text, found a list")),
            Data::Map(_) => Err(de::Error::custom("expected a text, found a mapping")),
        }
    }
}

impl JsonSchema for Scalar {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Scalar".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": ["string", "number", "boolean"], TAKES_RUNTIME: true })
    }
}

/// A mapping of free form.
pub type DataMap = BTreeMap<String, Data>;

/// Any JSON value, with runtime values anywhere in it: IAM conditions, event patterns, state
/// machine definitions, overrides, raw CloudFormation.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Data {
    /// Nothing.
    #[default]
    Null,
    /// A boolean.
    Bool(bool),
    /// A number.
    Number(Number),
    /// A text.
    String(String),
    /// A list.
    List(Vec<Data>),
    /// A mapping.
    Map(DataMap),
    /// A value that AWS fills in.
    Runtime(Box<Runtime>),
}

impl Data {
    /// Plain JSON, with each runtime value replaced by what `fill` makes of it.
    pub fn to_json<E>(
        &self,
        fill: &mut dyn FnMut(&Runtime) -> Result<Value, E>,
    ) -> Result<Value, E> {
        Ok(match self {
            Self::Null => Value::Null,
            Self::Bool(flag) => Value::Bool(*flag),
            Self::Number(number) => Value::Number(number.clone()),
            Self::String(text) => Value::String(text.clone()),
            Self::List(items) => {
                let mut list = Vec::with_capacity(items.len());
                for item in items {
                    list.push(item.to_json(fill)?);
                }
                Value::Array(list)
            }
            Self::Map(entries) => {
                let mut object = serde_json::Map::new();
                for (key, value) in entries {
                    object.insert(key.clone(), value.to_json(fill)?);
                }
                Value::Object(object)
            }
            Self::Runtime(runtime) => fill(runtime)?,
        })
    }

    /// Every runtime value in it, in order.
    pub fn each_runtime<'a>(&'a self, visit: &mut dyn FnMut(&'a Runtime)) {
        match self {
            Self::List(items) => items.iter().for_each(|item| item.each_runtime(visit)),
            Self::Map(entries) => entries.values().for_each(|item| item.each_runtime(visit)),
            Self::Runtime(runtime) => runtime.each(visit),
            Self::Null | Self::Bool(_) | Self::Number(_) | Self::String(_) => {}
        }
    }
}

/// Reads JSON; an object with the one key [`RUNTIME_KEY`] is a runtime value.
impl TryFrom<Value> for Data {
    type Error = serde_json::Error;

    fn try_from(value: Value) -> Result<Self, Self::Error> {
        Ok(match value {
            Value::Null => Self::Null,
            Value::Bool(flag) => Self::Bool(flag),
            Value::Number(number) => Self::Number(number),
            Value::String(text) => Self::String(text),
            Value::Array(items) => Self::List(
                items
                    .into_iter()
                    .map(Self::try_from)
                    .collect::<Result<_, _>>()?,
            ),
            Value::Object(entries) if entries.contains_key(RUNTIME_KEY) => {
                let marked: Marked<Runtime> = serde_json::from_value(Value::Object(entries))?;
                Self::Runtime(Box::new(marked.runtime))
            }
            Value::Object(entries) => Self::Map(
                entries
                    .into_iter()
                    .map(|(key, value)| Ok((key, Self::try_from(value)?)))
                    .collect::<Result<_, Self::Error>>()?,
            ),
        })
    }
}

impl Serialize for Data {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Null => serializer.serialize_unit(),
            Self::Bool(flag) => serializer.serialize_bool(*flag),
            Self::Number(number) => number.serialize(serializer),
            Self::String(text) => serializer.serialize_str(text),
            Self::List(items) => items.serialize(serializer),
            Self::Map(entries) => entries.serialize(serializer),
            Self::Runtime(runtime) => Marked { runtime }.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for Data {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::try_from(Value::deserialize(deserializer)?).map_err(de::Error::custom)
    }
}

impl JsonSchema for Data {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Data".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ TAKES_RUNTIME: true })
    }
}
