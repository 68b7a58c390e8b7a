//! How AWS's actions are called: those that read from the table of allowed ones, few others by
//! name. Also small readings of their answers.

use serde_json::Value;
use windlass_ports::aws::{ActionShape, ServiceShape};
use windlass_types::{Problem, Timestamp};

use crate::failure::refused;

/// A reading action, as `guard` knows it.
pub(crate) fn reading(service: &str, action: &str) -> Result<ActionShape, Problem> {
    crate::guard::aws::allow(service, action)
        .map(|allowed| allowed.shape)
        .map_err(|refusal| refused(&refusal))
}

/// An action of a JSON service.
pub(crate) const fn named(service: &'static ServiceShape, action: &'static str) -> ActionShape {
    ActionShape::new(service, action)
}

/// A text member.
pub(crate) fn text<'a>(value: &'a Value, name: &str) -> Option<&'a str> {
    value
        .get(name)
        .and_then(Value::as_str)
        .filter(|text| !text.is_empty())
}

/// A number, which XML services may give as text.
pub(crate) fn number(value: &Value) -> Option<f64> {
    match value {
        Value::Number(number) => number.as_f64(),
        Value::String(text) => text.parse().ok(),
        _ => None,
    }
}

/// A list member; nothing is an empty list.
pub(crate) fn list<'a>(value: &'a Value, name: &str) -> &'a [Value] {
    value
        .get(name)
        .and_then(Value::as_array)
        .map_or(&[], Vec::as_slice)
}

/// A moment that JSON services give as seconds since 1970 and XML services as ISO 8601.
pub(crate) fn moment(value: &Value) -> Option<Timestamp> {
    match value {
        Value::String(text) => text.parse().ok(),
        #[expect(
            clippy::cast_possible_truncation,
            reason = "milliseconds since 1970 fit, and what does not saturates"
        )]
        other => other
            .as_f64()
            .map(|seconds| Timestamp::from_millis((seconds * 1000.0).round() as i64)),
    }
}
