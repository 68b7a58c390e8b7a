//! Replies → JSON, and what errors mean.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use windlass_ports::database::DatabaseFailure;

use super::resp::Resp;
use crate::rows;

/// A reply as JSON.
pub fn to_json(reply: &Resp) -> Value {
    match reply {
        Resp::Simple(text) => json!(text),
        Resp::Error(message) => json!({ "error": message }),
        Resp::Integer(number) => rows::integer(&number.to_string()),
        Resp::Bulk(None) => Value::Null,
        Resp::Bulk(Some(bytes)) => shown_bytes(bytes),
        Resp::Array(items) => items.iter().map(to_json).collect(),
    }
}

/// Text where it is text.
pub fn shown_bytes(bytes: &[u8]) -> Value {
    std::str::from_utf8(bytes).map_or_else(
        |_| json!({ "base64": STANDARD.encode(bytes) }),
        |text| json!(text),
    )
}

/// An error's meaning, by its first word.
pub fn failure(message: &str) -> DatabaseFailure {
    let code = message.split(' ').next().unwrap_or_default().to_owned();
    let message = message.to_owned();
    match code.as_str() {
        "NOAUTH" | "WRONGPASS" | "NOPERM" => DatabaseFailure::Auth { code, message },
        "READONLY" => DatabaseFailure::ReadOnly { code, message },
        "LOADING" | "MASTERDOWN" | "CLUSTERDOWN" => DatabaseFailure::Unreachable { message },
        "BUSY" => DatabaseFailure::Timeout { message },
        _ => DatabaseFailure::Statement {
            code,
            message,
            position: None,
        },
    }
}
