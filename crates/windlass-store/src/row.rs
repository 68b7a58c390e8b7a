//! Between columns and values: ids, limits, JSON records.

use std::{fmt::Display, str::FromStr};

use serde::{Serialize, de::DeserializeOwned};

use crate::error::{Failure, Result};

/// An id that a column holds.
pub(crate) fn parse_id<T: FromStr<Err: Display>>(text: &str) -> Result<T> {
    text.parse()
        .map_err(|error| Failure::damaged(format!("{text:?} in an id column: {error}")))
}

/// A limit as SQLite takes it.
pub(crate) fn clamp(limit: usize) -> i64 {
    i64::try_from(limit).unwrap_or(i64::MAX)
}

/// A record as the text of a column.
pub(crate) fn to_json<T: Serialize>(record: &T) -> Result<String> {
    serde_json::to_string(record).map_err(|error| Failure::Io(error.into()))
}

/// The record a column holds.
pub(crate) fn from_json<T: DeserializeOwned>(table: &str, key: &str, text: &str) -> Result<T> {
    serde_json::from_str(text)
        .map_err(|error| Failure::damaged(format!("row {key} of {table}: {error}")))
}
