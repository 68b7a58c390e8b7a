//! `Idempotency-Key`: the header that may carry what is also a field of the input.

use http::{HeaderMap, HeaderName};
use serde_json::Value;
use windlass_types::Problem;

use crate::failure::Failure;

const IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static("idempotency-key");
const FIELD: &str = "idempotency_key";

/// Puts the idempotency key of the header into the input. The header may be written bare or as
/// the quoted string its draft prescribes.
pub(super) fn add_key(headers: &HeaderMap, input: &mut Value) -> Result<(), Failure> {
    let Some(header) = headers.get(IDEMPOTENCY_KEY) else {
        return Ok(());
    };
    let refuse = |constraint: &str, message: &str| {
        Err(Failure::from(Problem::invalid(FIELD, constraint, message)))
    };
    let Ok(text) = header.to_str() else {
        return refuse(
            "format",
            "The 'Idempotency-Key' header must be printable ASCII",
        );
    };
    let text = text.trim();
    let bare = text
        .strip_prefix('"')
        .and_then(|text| text.strip_suffix('"'));
    let key = Value::from(bare.unwrap_or(text));
    // Anything but an object is left to the operation, which names the rule.
    let Some(fields) = input.as_object_mut() else {
        return Ok(());
    };
    if fields.get(FIELD).is_some_and(|given| *given != key) {
        return refuse(
            "same",
            "The 'idempotency_key' field differs from the 'Idempotency-Key' header",
        );
    }
    fields.insert(FIELD.to_owned(), key);
    Ok(())
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;
    use serde_json::json;

    use super::*;

    #[test]
    fn a_key_comes_from_the_header_or_the_field() {
        for (header, input, expected) in [
            (None, json!({}), Some(json!({}))),
            (
                Some("a-1"),
                json!({}),
                Some(json!({ "idempotency_key": "a-1" })),
            ),
            (
                Some("\"a-1\""),
                json!({}),
                Some(json!({ "idempotency_key": "a-1" })),
            ),
            (
                Some("a"),
                json!({ "idempotency_key": "a" }),
                Some(json!({ "idempotency_key": "a" })),
            ),
            (Some("a"), json!({ "idempotency_key": "b" }), None),
            (Some("a"), json!([]), Some(json!([]))),
            (Some("é"), json!({}), None),
        ] {
            let mut headers = HeaderMap::new();
            if let Some(text) = header {
                let value = HeaderValue::from_bytes(text.as_bytes()).unwrap();
                headers.insert(IDEMPOTENCY_KEY, value);
            }
            let mut given = input.clone();
            let added = add_key(&headers, &mut given).map(|()| given).ok();
            assert_eq!(added, expected, "{header:?} {input}");
        }
    }
}
