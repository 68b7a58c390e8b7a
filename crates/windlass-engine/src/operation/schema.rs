//! JSON Schemas from Rust types, in the form tools want: one object, no `$schema` noise.

use schemars::{JsonSchema, generate::SchemaSettings};
use serde_json::Value;

/// The JSON Schema (2020-12) of a type, with its definitions inlined where they are not
/// recursive, so that clients which do not follow references still understand it.
pub fn schema_of<T: JsonSchema>() -> Value {
    let mut settings = SchemaSettings::draft2020_12();
    settings.inline_subschemas = true;
    settings.meta_schema = None;
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
