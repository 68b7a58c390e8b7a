//! Keys inside JSON and TOML files that others write too.
//!
//! Looks at, sets and removes single values and leaves the rest of the text alone: comments,
//! order, spacing, line ends. Knows nothing of ownership; that is `shared`.

mod json_edit;
#[cfg(test)]
mod json_edit_tests;
mod json_text;
mod pointer;
mod toml_text;
#[cfg(test)]
mod toml_text_tests;

pub use pointer::Pointer;

use serde_json::Value;
use windlass_pack_model::KeyFormat;

/// Why a shared file cannot be read or changed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum KeyError {
    /// The pointer is not one.
    #[error("{pointer:?} is not a pointer to a key: {reason}")]
    Pointer {
        /// The text.
        pointer: String,
        /// What is wrong with it.
        reason: &'static str,
    },
    /// The text is not the format it should be.
    #[error("line {line}, column {column}: {message}")]
    Syntax {
        /// From one.
        line: usize,
        /// From one.
        column: usize,
        /// What is wrong.
        message: String,
    },
    /// Something else is where a table or an array has to be.
    #[error("{pointer} is not {expected}")]
    Shape {
        /// Where.
        pointer: String,
        /// What it would have to be.
        expected: &'static str,
    },
}

/// A document that is changed key by key.
#[derive(Clone, Debug)]
pub enum Document {
    /// JSON, with comments and trailing commas tolerated.
    Json(json_edit::JsonText),
    /// TOML.
    Toml(Box<toml_text::TomlText>),
}

impl Document {
    /// Reads a document; no text or only white space is an empty one.
    pub fn parse(format: KeyFormat, text: &str) -> Result<Self, KeyError> {
        Ok(match format {
            KeyFormat::Json => Self::Json(json_edit::JsonText::parse(text)?),
            KeyFormat::Toml => Self::Toml(Box::new(toml_text::TomlText::parse(text)?)),
        })
    }

    /// The value of a key; for an element pointer, the array.
    pub fn get(&self, keys: &[String]) -> Option<Value> {
        match self {
            Self::Json(text) => text.get(keys),
            Self::Toml(text) => text.get(keys),
        }
    }

    /// Sets a key; missing tables on the way are made.
    pub fn set(&mut self, keys: &[String], value: &Value) -> Result<(), KeyError> {
        match self {
            Self::Json(text) => text.set(keys, value),
            Self::Toml(text) => text.set(keys, value),
        }
    }

    /// Adds an element at the end of an array; a missing array is made.
    pub fn append(&mut self, keys: &[String], value: &Value) -> Result<(), KeyError> {
        match self {
            Self::Json(text) => text.append(keys, value),
            Self::Toml(text) => text.append(keys, value),
        }
    }

    /// Removes a key, and the tables around it that are empty then.
    pub fn remove(&mut self, keys: &[String]) -> Result<(), KeyError> {
        match self {
            Self::Json(text) => text.remove(keys),
            Self::Toml(text) => {
                text.remove(keys);
                Ok(())
            }
        }
    }

    /// Removes an element, and the array and the tables around it that are empty then.
    pub fn remove_element(&mut self, keys: &[String], index: usize) -> Result<(), KeyError> {
        match self {
            Self::Json(text) => text.remove_element(keys, index),
            Self::Toml(text) => {
                text.remove_element(keys, index);
                Ok(())
            }
        }
    }

    /// Whether nothing is left: no value and no comment.
    pub fn is_blank(&self) -> bool {
        match self {
            Self::Json(text) => text.is_blank(),
            Self::Toml(text) => text.is_blank(),
        }
    }

    /// The text now.
    pub fn text(&self) -> String {
        match self {
            Self::Json(text) => text.text().to_owned(),
            Self::Toml(text) => text.text(),
        }
    }
}
