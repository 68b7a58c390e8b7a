//! The commands: one file each, holding the arguments (their doc comments are the help) and the
//! function below them.

mod artifact;
pub(crate) mod audit;
pub(crate) mod completions;
pub(crate) mod demo;
pub(crate) mod doctor;
pub(crate) mod errors;
pub(crate) mod internal;
pub(crate) mod keys;
pub(crate) mod launch;
pub(crate) mod man;
pub(crate) mod mcp;
pub(crate) mod ops;
pub(crate) mod pack;
pub(crate) mod pipeline;
pub(crate) mod policy;
pub(crate) mod rules;
pub(crate) mod runs;
pub(crate) mod sandbox;
pub(crate) mod serve;
pub(crate) mod stack;
pub(crate) mod store;
pub(crate) mod tour;
pub(crate) mod trust;
pub(crate) mod webhooks;

use serde::{Serialize, de::DeserializeOwned};
use serde_json::Value;
use windlass_types::Problem;

/// One field of an operation's answer, as a type.
fn field<T: DeserializeOwned>(output: &Value, name: &str) -> Result<T, Problem> {
    let value = output.get(name).cloned().unwrap_or(Value::Null);
    serde_json::from_value(value)
        .map_err(|error| Problem::internal("operation answer", format!("{name}: {error}")))
}

/// An answer as a type.
fn parse<T: DeserializeOwned>(output: &Value) -> Result<T, Problem> {
    T::deserialize(output).map_err(|error| Problem::internal("operation answer", error))
}

/// The word a value has on the wire.
fn word(value: impl Serialize) -> String {
    match serde_json::to_value(value) {
        Ok(Value::String(word)) => word,
        _ => String::new(),
    }
}

/// An input without the fields that were not given, so that the operation's defaults apply.
fn given(mut input: Value) -> Value {
    if let Some(fields) = input.as_object_mut() {
        fields.retain(|_, value| !value.is_null());
    }
    input
}
