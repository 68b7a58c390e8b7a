//! The envelope of every answer of the HTTP API: `{v, ok, code, message?, data?}`.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use windlass_types::{Problem, code};

/// The version of the envelope.
pub const VERSION: &str = "1.0";

/// An answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Envelope {
    /// The version.
    pub v: String,
    /// Whether it worked.
    pub ok: bool,
    /// `OK`, or one of the contract's codes.
    pub code: String,
    /// For people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// For programs; always an object.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data: Option<Value>,
}

impl Envelope {
    /// It worked.
    pub fn ok(message: impl Into<String>, data: Value) -> Self {
        Self {
            v: VERSION.to_owned(),
            ok: true,
            code: "OK".to_owned(),
            message: Some(message.into()),
            data: Some(data),
        }
    }

    /// It worked, and there is nothing more to say.
    pub fn bare() -> Self {
        Self {
            v: VERSION.to_owned(),
            ok: true,
            code: "OK".to_owned(),
            message: None,
            data: None,
        }
    }

    /// It did not work.
    pub fn failed(code: &str, message: impl Into<String>, data: Option<Value>) -> Self {
        Self {
            v: VERSION.to_owned(),
            ok: false,
            code: code.to_owned(),
            message: Some(message.into()),
            data,
        }
    }
}

impl From<Problem> for Envelope {
    fn from(problem: Problem) -> Self {
        let details = problem.details();
        let data = (!details.is_empty()).then(|| Value::Object(Map::clone(details)));
        Self::failed(wire_code(&problem), problem.message(), data)
    }
}

/// The contract's code of a problem, by what it is and never by its words.
pub fn wire_code(problem: &Problem) -> &'static str {
    let code = problem.code();
    let table = [
        (&code::INVALID_INPUT, "VALIDATION_ERROR"),
        (&code::CONFIG_INVALID, "VALIDATION_ERROR"),
        (&code::TOOLCHAIN_MISSING, "VALIDATION_ERROR"),
        (&code::NOT_FOUND, "NOT_FOUND"),
        (&code::TIMEOUT, "TIMEOUT"),
        (&code::UNAUTHORIZED, "AUTH_ERROR"),
        (&code::FORBIDDEN, "READ_ONLY_VIOLATION"),
        (&code::POLICY_DENIED, "READ_ONLY_VIOLATION"),
        (&code::READ_ONLY_VIOLATION, "READ_ONLY_VIOLATION"),
    ];
    table
        .iter()
        .find(|(known, _)| **known == *code)
        .map_or("INTERNAL_ERROR", |(_, wire)| *wire)
}
