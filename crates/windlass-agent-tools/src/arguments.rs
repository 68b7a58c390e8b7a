//! A call's arguments, read into what a tool takes.

use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::{Code, Failure};

/// Reads arguments. The schema was checked before, so this fails only for what a schema cannot say.
pub(crate) fn read<T: DeserializeOwned>(input: &Value) -> Result<T, Failure> {
    T::deserialize(input).map_err(|error| Failure::new(Code::InvalidArguments, error.to_string()))
}
