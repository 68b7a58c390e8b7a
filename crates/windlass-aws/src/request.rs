//! A call as an HTTP request: one function per family of protocols. Pure.
//!
//! Not here: hosts (endpoint.rs), signatures (sign.rs), answers (answer.rs).

use serde_json::{Map, Value};
use windlass_ports::aws::{ActionShape, Place, Protocol};

use crate::form::{Form, encode_path, encode_query};
use crate::xml;

/// A request without host and signature.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Request {
    pub method: &'static str,
    /// The path and the query string, encoded.
    pub target: String,
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
}

/// Builds the request of a call, or says what is wrong with the input.
pub(crate) fn build(shape: &ActionShape, input: &Value) -> Result<Request, String> {
    let empty = Map::new();
    let members = match input {
        Value::Object(members) => members,
        Value::Null => &empty,
        _ => return Err(format!("the input of {} is not an object", shape.action)),
    };
    match shape.service.protocol {
        Protocol::Json10 => Ok(json(shape, members, "1.0")),
        Protocol::Json11 => Ok(json(shape, members, "1.1")),
        Protocol::Query | Protocol::Ec2Query => Ok(query(shape, members)),
        Protocol::RestJson | Protocol::RestXml => rest(shape, members),
    }
}

fn json(shape: &ActionShape, members: &Map<String, Value>, version: &str) -> Request {
    let target = format!("{}.{}", shape.service.target_prefix, shape.action);
    Request {
        method: "POST",
        target: "/".to_owned(),
        headers: vec![
            (
                "content-type".to_owned(),
                format!("application/x-amz-json-{version}"),
            ),
            ("x-amz-target".to_owned(), target),
        ],
        body: without_nulls(members).to_string().into_bytes(),
    }
}

fn query(shape: &ActionShape, members: &Map<String, Value>) -> Request {
    let mut form = Form::new(shape);
    form.push("Action", shape.action);
    form.push("Version", shape.service.api_version);
    form.members("", members);
    Request {
        method: "POST",
        target: "/".to_owned(),
        headers: vec![(
            "content-type".to_owned(),
            "application/x-www-form-urlencoded; charset=utf-8".to_owned(),
        )],
        body: form.finish().into_bytes(),
    }
}

fn rest(shape: &ActionShape, members: &Map<String, Value>) -> Result<Request, String> {
    let mut left: Map<String, Value> = members
        .iter()
        .filter(|(_, value)| !value.is_null())
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect();
    let mut target = path(shape, &mut left)?;
    let mut separator = if target.contains('?') { '&' } else { '?' };
    let mut headers = Vec::new();
    let mut payload = None;
    for (member, place) in shape.places {
        let Some(value) = left.remove(*member) else {
            continue;
        };
        match place {
            Place::Query(name) => {
                for text in texts(member, &value)? {
                    target.push(separator);
                    separator = '&';
                    target.push_str(&encode_query(name));
                    target.push('=');
                    target.push_str(&encode_query(&text));
                }
            }
            Place::Header(name) => {
                let text = texts(member, &value)?.join(",");
                headers.push(((*name).to_owned(), text));
            }
            Place::Payload => payload = Some((*member, value)),
        }
    }
    let body = body(shape, left, payload, &mut headers)?;
    Ok(Request {
        method: shape.method,
        target,
        headers,
        body,
    })
}

/// The path with its members filled in; they are taken out of `left`.
fn path(shape: &ActionShape, left: &mut Map<String, Value>) -> Result<String, String> {
    let mut filled = String::new();
    let mut rest = shape.path;
    while let Some(start) = rest.find('{') {
        let end = rest[start..]
            .find('}')
            .map(|length| start + length)
            .ok_or_else(|| format!("the path of {} is not closed", shape.action))?;
        filled.push_str(&rest[..start]);
        let (member, greedy) = match rest[start + 1..end].strip_suffix('+') {
            Some(member) => (member, true),
            None => (&rest[start + 1..end], false),
        };
        let text = match left.remove(member) {
            Some(value) => texts(member, &value)?.concat(),
            None => String::new(),
        };
        if text.is_empty() {
            return Err(format!("{} needs `{member}`", shape.action));
        }
        filled.push_str(&encode_path(&text, greedy));
        rest = &rest[end + 1..];
    }
    filled.push_str(rest);
    Ok(filled)
}

fn body(
    shape: &ActionShape,
    left: Map<String, Value>,
    payload: Option<(&'static str, Value)>,
    headers: &mut Vec<(String, String)>,
) -> Result<Vec<u8>, String> {
    let bodiless = matches!(shape.method, "GET" | "HEAD" | "DELETE");
    let is_json = shape.service.protocol == Protocol::RestJson;
    if let Some((member, value)) = payload {
        refuse_unknown(shape, &left)?;
        if let Value::String(text) = value {
            return Ok(text.into_bytes());
        }
        if is_json {
            content_type(headers, "application/json");
            return Ok(value.to_string().into_bytes());
        }
        content_type(headers, "application/xml");
        return Ok(xml::write(shape, member, &value).into_bytes());
    }
    if bodiless || !is_json {
        refuse_unknown(shape, &left)?;
        return Ok(Vec::new());
    }
    content_type(headers, "application/json");
    Ok(without_nulls(&left).to_string().into_bytes())
}

fn content_type(headers: &mut Vec<(String, String)>, kind: &str) {
    headers.push(("content-type".to_owned(), kind.to_owned()));
}

/// What has no place in the request would be dropped without a word.
fn refuse_unknown(shape: &ActionShape, left: &Map<String, Value>) -> Result<(), String> {
    match left.keys().next() {
        Some(member) => Err(format!("{} does not take `{member}`", shape.action)),
        None => Ok(()),
    }
}

/// The texts of a scalar or of a list of scalars.
fn texts(member: &str, value: &Value) -> Result<Vec<String>, String> {
    match value {
        Value::Array(items) => items
            .iter()
            .map(|item| scalar(item).ok_or_else(|| format!("`{member}` holds more than text")))
            .collect(),
        value => scalar(value)
            .map(|text| vec![text])
            .ok_or_else(|| format!("`{member}` is not text, a number or a boolean")),
    }
}

/// How a scalar is written outside of JSON.
pub(crate) fn scalar(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(flag) => Some(flag.to_string()),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}

fn without_nulls(members: &Map<String, Value>) -> Value {
    members
        .iter()
        .filter(|(_, value)| !value.is_null())
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect::<Map<_, _>>()
        .into()
}

#[cfg(test)]
#[path = "request_tests.rs"]
mod tests;
