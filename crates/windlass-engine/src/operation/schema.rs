//! JSON Schemas from Rust types, in the form tools want: one object, no `$schema` noise.

use std::{
    fmt,
    ops::Deref,
    sync::{Arc, LazyLock},
};

use schemars::{JsonSchema, Schema, generate::SchemaSettings, transform::RecursiveTransform};
use serde::{Serialize, Serializer};
use serde_json::Value;

type MakeSchema = Box<dyn FnOnce() -> Value + Send>;

/// A JSON Schema, worked out on first use: most processes use one or none.
#[derive(Clone)]
pub struct LazySchema(Arc<LazyLock<Value, MakeSchema>>);

impl LazySchema {
    /// A schema that `make` gives when it is needed.
    pub fn new(make: impl FnOnce() -> Value + Send + 'static) -> Self {
        Self(Arc::new(LazyLock::new(Box::new(make))))
    }
}

impl From<Value> for LazySchema {
    fn from(schema: Value) -> Self {
        Self::new(|| schema)
    }
}

impl Deref for LazySchema {
    type Target = Value;

    fn deref(&self) -> &Value {
        &self.0
    }
}

impl fmt::Debug for LazySchema {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        Value::fmt(self, formatter)
    }
}

impl Serialize for LazySchema {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Value::serialize(self, serializer)
    }
}

/// The JSON Schema (2020-12) of what an operation takes.
pub fn input_schema_of<T: JsonSchema>() -> Value {
    schema_of::<T>(SchemaSettings::draft2020_12().for_deserialize())
}

/// The JSON Schema (2020-12) of what an operation gives: a field that is left out when empty is
/// not required here, although reading would supply it.
pub fn output_schema_of<T: JsonSchema>() -> Value {
    schema_of::<T>(SchemaSettings::draft2020_12().for_serialize())
}

/// Definitions are inlined where they are not recursive, so that clients which do not follow
/// references still understand the schema.
fn schema_of<T: JsonSchema>(mut settings: SchemaSettings) -> Value {
    settings.inline_subschemas = true;
    settings.meta_schema = None;
    let settings = settings.with_transform(RecursiveTransform(drop_number_formats));
    let mut schema = settings
        .into_generator()
        .into_root_schema_for::<T>()
        .to_value();
    if let Value::Object(map) = &mut schema {
        map.remove("title");
        // A tool's schema must describe an object, even where the Rust type is a unit.
        if !map.contains_key("type") {
            map.insert("type".to_owned(), Value::from("object"));
        }
    }
    schema
}

/// `uint64` and the like are names of Rust types; validators only warn about them.
fn drop_number_formats(schema: &mut Schema) {
    let names = ["int", "uint", "float", "double"];
    let is_rust = |format: &str| names.iter().any(|name| format.starts_with(name));
    if schema
        .get("format")
        .and_then(Value::as_str)
        .is_some_and(is_rust)
    {
        schema.remove("format");
    }
}
