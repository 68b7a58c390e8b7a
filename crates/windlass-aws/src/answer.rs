//! What came back, as JSON: the counterpart of request.rs. Pure.

use serde_json::{Map, Value, json};
use windlass_ports::aws::{ActionShape, Body, Protocol};

use crate::xml;

/// An HTTP answer, whole.
#[derive(Clone, Debug)]
pub(crate) struct Answer {
    pub status: u16,
    /// Names in lower case.
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
}

impl Answer {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers
            .iter()
            .find(|(key, _)| key == name)
            .map(|(_, value)| value.as_str())
    }
}

/// The result of a successful answer, or why it cannot be read.
pub(crate) fn read(shape: &ActionShape, answer: &Answer) -> Result<Value, String> {
    let mut result = match shape.result_body {
        Body::Empty => Value::Object(Map::new()),
        Body::Text => json!({ "Body": String::from_utf8_lossy(&answer.body) }),
        Body::Document => document(shape, answer)?,
    };
    if let Value::Object(members) = &mut result {
        for (header, member) in shape.result_headers {
            if let Some(value) = answer.header(header) {
                members.insert((*member).to_owned(), value.into());
            }
        }
    }
    Ok(result)
}

fn document(shape: &ActionShape, answer: &Answer) -> Result<Value, String> {
    if answer.body.iter().all(u8::is_ascii_whitespace) {
        return Ok(Value::Object(Map::new()));
    }
    match shape.service.protocol {
        Protocol::Json10 | Protocol::Json11 | Protocol::RestJson => {
            let mut result: Value = serde_json::from_slice(&answer.body)
                .map_err(|error| format!("not JSON: {error}"))?;
            leave_out_nulls(&mut result);
            Ok(result)
        }
        Protocol::Query | Protocol::Ec2Query | Protocol::RestXml => {
            let text = std::str::from_utf8(&answer.body).map_err(|_| "not UTF-8".to_owned())?;
            let parsed = roxmltree::Document::parse(text.trim_start_matches('\u{feff}').trim())
                .map_err(|error| format!("not XML: {error}"))?;
            Ok(xml_result(shape, parsed.root_element()))
        }
    }
}

/// AWS leaves absent members out; emulators give them as null. Callers ask whether a member is there.
fn leave_out_nulls(value: &mut Value) {
    match value {
        Value::Object(members) => {
            members.retain(|_, member| !member.is_null());
            members.values_mut().for_each(leave_out_nulls);
        }
        Value::Array(items) => items.iter_mut().for_each(leave_out_nulls),
        _ => {}
    }
}

fn xml_result(shape: &ActionShape, root: roxmltree::Node<'_, '_>) -> Value {
    let elements = || root.children().filter(roxmltree::Node::is_element);
    if shape.service.protocol == Protocol::Query {
        let wanted = format!("{}Result", shape.action);
        if let Some(result) = elements().find(|node| node.tag_name().name() == wanted) {
            let children = result.children().filter(roxmltree::Node::is_element);
            return Value::Object(xml::members(shape, children));
        }
    }
    // An element that is a scalar by itself, such as GetBucketLocation's.
    if elements().next().is_none() {
        let name = root.tag_name().name().to_owned();
        let text = root.text().unwrap_or_default();
        return if text.is_empty() {
            Value::Object(Map::new())
        } else {
            json!({ name: text })
        };
    }
    let kept = elements()
        .filter(|node| !matches!(node.tag_name().name(), "ResponseMetadata" | "requestId"));
    Value::Object(xml::members(shape, kept))
}

#[cfg(test)]
#[path = "answer_tests.rs"]
mod tests;
