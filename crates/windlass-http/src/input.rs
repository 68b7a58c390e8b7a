//! An operation's input from a request: a JSON body, or a query read by the input schema.

use axum::{RequestPartsExt as _, body::Body, extract::RawPathParams};
use http::{
    HeaderMap, StatusCode,
    header::{CONTENT_ENCODING, CONTENT_TYPE},
    request::Parts,
};
use serde_json::{Map, Value};
use windlass_engine::operation::OperationInfo;
use windlass_types::{Problem, code};

use crate::{
    failure::Failure,
    guard::{InboundError, too_large},
};

/// How long a body may be to be read at once; a longer one is read beside the serving threads.
const READ_AT_ONCE: usize = 64 * 1024;

/// Reads a body as JSON; nothing at all is an empty object.
pub(crate) async fn from_body(headers: &HeaderMap, body: Body) -> Result<Value, Failure> {
    // The guard has put the limit into the body itself.
    let bytes = axum::body::to_bytes(body, usize::MAX)
        .await
        .map_err(|error| unreadable(&error))?;
    if bytes.is_empty() {
        return Ok(Value::Object(Map::new()));
    }
    let is_long = bytes.len() > READ_AT_ONCE;
    check_media_type(headers)?;
    let parse = move || serde_json::from_slice(&bytes);
    let parsed = if is_long {
        tokio::task::spawn_blocking(parse)
            .await
            .map_err(|error| Problem::internal("reading a body", error))?
    } else {
        parse()
    };
    parsed.map_err(|error| {
        Problem::invalid("body", "json", format!("the body is not JSON: {error}"))
            .with("line", error.line() as u64)
            .with("column", error.column() as u64)
            .into()
    })
}

fn unreadable(error: &axum::Error) -> Failure {
    match InboundError::within(error) {
        Some(InboundError::TooLarge(limit)) => too_large(limit),
        Some(InboundError::TooSlow) => {
            let message = "the request body did not arrive in time";
            Failure::request(StatusCode::REQUEST_TIMEOUT, "body", "timeout", message)
        }
        None => Failure::request(
            StatusCode::BAD_REQUEST,
            "body",
            "complete",
            "the request body ended early",
        ),
    }
}

fn check_media_type(headers: &HeaderMap) -> Result<(), Failure> {
    let refuse = |field: &str, message: String| {
        Err(Failure::request(
            StatusCode::UNSUPPORTED_MEDIA_TYPE,
            field,
            "media_type",
            message,
        ))
    };
    if headers
        .get(CONTENT_ENCODING)
        .is_some_and(|encoding| encoding != "identity")
    {
        return refuse(
            "Content-Encoding",
            "compressed bodies are not taken; send the JSON as it is".to_owned(),
        );
    }
    let Some(kind) = headers.get(CONTENT_TYPE) else {
        return refuse(
            "Content-Type",
            "the body has no Content-Type; send `application/json`".to_owned(),
        );
    };
    let kind = kind.to_str().unwrap_or_default().to_ascii_lowercase();
    let mut pieces = kind.split(';').map(str::trim);
    let essence = pieces.next().unwrap_or_default();
    if essence != "application/json"
        && !(essence.starts_with("application/") && essence.ends_with("+json"))
    {
        let shown: String = essence.chars().take(100).collect();
        return refuse(
            "Content-Type",
            format!("the body is {shown:?}; send `application/json`"),
        );
    }
    let charset = pieces
        .find_map(|piece| piece.strip_prefix("charset="))
        .map(|name| name.trim_matches('"'));
    match charset {
        Some(name) if name != "utf-8" => {
            refuse("Content-Type", "JSON is written in UTF-8 only".to_owned())
        }
        _ => Ok(()),
    }
}

/// Reads a query by the types the input schema gives its fields. What does not fit a type
/// stays text, and the schema check says what is wrong with it.
pub(crate) fn from_query(
    info: Option<&OperationInfo>,
    query: Option<&str>,
) -> Result<Map<String, Value>, Failure> {
    let mut input = Map::new();
    for (name, text) in pairs(query.unwrap_or_default())? {
        let kind = info.map_or(Kind::Text, |info| {
            kind_of(&info.input_schema["properties"][&name])
        });
        match (kind, input.get_mut(&name)) {
            (Kind::List, Some(Value::Array(items))) => {
                items.extend(text.split(',').map(Value::from))
            }
            (Kind::List, _) => {
                input.insert(name, text.split(',').map(Value::from).collect());
            }
            (_, Some(_)) => {
                let message = format!("{name:?} is in the query twice");
                return Err(Failure::request(
                    StatusCode::BAD_REQUEST,
                    &name,
                    "once",
                    message,
                ));
            }
            (kind, None) => {
                let value = kind.read(&text);
                input.insert(name, value);
            }
        }
    }
    Ok(input)
}

/// Puts the parameters of the path into the input; a body that says otherwise is refused.
pub(crate) async fn add_path(parts: &mut Parts, input: &mut Value) -> Result<(), Failure> {
    let params = parts.extract::<RawPathParams>().await.map_err(|error| {
        let message = format!("the path cannot be read: {error}");
        Failure::request(StatusCode::BAD_REQUEST, "path", "utf-8", message)
    })?;
    // Anything but an object is left to the schema check, which names the rule.
    let Some(map) = input.as_object_mut() else {
        return Ok(());
    };
    for (name, value) in &params {
        let value = Value::from(value);
        if map.get(name).is_some_and(|given| *given != value) {
            let message = format!("{name:?} differs between the path and the input");
            return Err(Failure::request(
                StatusCode::BAD_REQUEST,
                name,
                "same",
                message,
            ));
        }
        map.insert(name.to_owned(), value);
    }
    Ok(())
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Text,
    Integer,
    Number,
    Flag,
    List,
}

impl Kind {
    fn read(self, text: &str) -> Value {
        let read = match self {
            Self::Text | Self::List => None,
            Self::Integer => text
                .parse::<u64>()
                .map(Value::from)
                .or_else(|_| text.parse::<i64>().map(Value::from))
                .ok(),
            Self::Number => text
                .parse::<f64>()
                .ok()
                .and_then(serde_json::Number::from_f64)
                .map(Value::Number),
            Self::Flag => text.parse::<bool>().map(Value::from).ok(),
        };
        read.unwrap_or_else(|| Value::from(text))
    }
}

fn kind_of(schema: &Value) -> Kind {
    let named = |name: &str| match name {
        "integer" => Kind::Integer,
        "number" => Kind::Number,
        "boolean" => Kind::Flag,
        "array" => Kind::List,
        _ => Kind::Text,
    };
    match &schema["type"] {
        Value::String(name) => named(name),
        Value::Array(names) => {
            let mut names = names.iter().filter_map(Value::as_str);
            names.find(|name| *name != "null").map_or(Kind::Text, named)
        }
        // An optional type that has a name is a choice between it and null.
        _ => match &schema["anyOf"] {
            Value::Array(choices) => choices
                .iter()
                .map(kind_of)
                .find(|kind| *kind != Kind::Text)
                .unwrap_or(Kind::Text),
            _ => Kind::Text,
        },
    }
}

/// The pairs of a query, decoded.
pub(crate) fn pairs(query: &str) -> Result<Vec<(String, String)>, Failure> {
    query
        .split('&')
        .filter(|pair| !pair.is_empty())
        .map(|pair| {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            Some((decode(name)?, decode(value)?))
        })
        .collect::<Option<_>>()
        .ok_or_else(|| {
            let message = "the query is not percent-encoded UTF-8";
            Failure::request(StatusCode::BAD_REQUEST, "query", "encoding", message)
        })
}

fn decode(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        bytes.push(match byte {
            b'+' => b' ',
            b'%' => {
                let digit = |byte: u8| char::from(byte).to_digit(16);
                let (high, low) = (digit(rest.next()?)?, digit(rest.next()?)?);
                u8::try_from(high * 16 + low).ok()?
            }
            other => other,
        });
    }
    String::from_utf8(bytes).ok()
}

/// The problem of a route whose operation this process does not have.
pub(crate) fn not_offered(operation: &str) -> Failure {
    Problem::new(
        &code::UNKNOWN_OPERATION,
        format!("this server does not offer {operation}"),
    )
    .with("operation", operation)
    .into()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    #[test]
    fn fields_are_read_by_their_type() {
        for (schema, text, expected) in [
            (json!({"type": "integer"}), "12", json!(12)),
            (json!({"type": "integer"}), "-3", json!(-3)),
            (json!({"type": "integer"}), "x", json!("x")),
            (json!({"type": ["integer", "null"]}), "12", json!(12)),
            (json!({"type": "boolean"}), "true", json!(true)),
            (json!({"type": "boolean"}), "yes", json!("yes")),
            (json!({"type": "number"}), "1.5", json!(1.5)),
            (json!({"type": "number"}), "inf", json!("inf")),
            (json!({"type": "string"}), "12", json!("12")),
            (
                json!({"anyOf": [{"type": "null"}, {"type": "integer"}]}),
                "5",
                json!(5),
            ),
            (json!(null), "12", json!("12")),
        ] {
            assert_eq!(kind_of(&schema).read(text), expected, "{schema} {text}");
        }
        assert_eq!(kind_of(&json!({"type": "array"})), Kind::List);
    }

    #[test]
    fn queries_are_decoded() {
        for (query, expected) in [
            ("", Some(vec![])),
            ("a=1&b=x%20y+z", Some(vec![("a", "1"), ("b", "x y z")])),
            ("a", Some(vec![("a", "")])),
            ("a=%C3%A9", Some(vec![("a", "é")])),
            ("&&a=b=c&", Some(vec![("a", "b=c")])),
            ("a=%", None),
            ("a=%4", None),
            ("a=%zz", None),
            ("a=%ff", None),
        ] {
            let expected = expected.map(|pairs| {
                pairs
                    .iter()
                    .map(|(n, v)| ((*n).to_owned(), (*v).to_owned()))
                    .collect()
            });
            assert_eq!(pairs(query).ok(), expected, "{query}");
        }
    }

    proptest! {
        #[test]
        fn what_is_encoded_is_decoded(text in "\\PC{0,40}") {
            let encoded: String = text.bytes().map(|byte| format!("%{byte:02x}")).collect();
            prop_assert_eq!(decode(&encoded), Some(text));
        }

        #[test]
        fn no_query_is_fatal(query in "\\PC{0,60}") {
            let _ = pairs(&query);
        }
    }
}
