//! XML as JSON and back, as far as AWS uses it.
//!
//! XML does not say what is a list or a number; the action's shape does. Attributes and
//! namespaces carry nothing a caller needs.

use std::collections::BTreeMap;

use roxmltree::Node;
use serde_json::{Map, Value};
use windlass_ports::aws::ActionShape;

use crate::request::scalar;

/// An element as a value.
pub(crate) fn read(shape: &ActionShape, element: Node<'_, '_>) -> Value {
    let name = element.tag_name().name();
    let children: Vec<Node<'_, '_>> = element.children().filter(Node::is_element).collect();
    if is_list(shape, name, &children) {
        return children.iter().map(|child| read(shape, *child)).collect();
    }
    if children.is_empty() {
        return text(shape, name, element.text().unwrap_or_default());
    }
    if let Some(map) = entries(shape, &children) {
        return Value::Object(map);
    }
    Value::Object(members(shape, children))
}

/// The children of an element as the members of an object.
pub(crate) fn members<'a, 'input: 'a>(
    shape: &ActionShape,
    children: impl IntoIterator<Item = Node<'a, 'input>>,
) -> Map<String, Value> {
    let mut by_name: BTreeMap<&str, Vec<Value>> = BTreeMap::new();
    for child in children {
        let values = by_name.entry(child.tag_name().name()).or_default();
        values.push(read(shape, child));
    }
    by_name
        .into_iter()
        .map(|(name, mut values)| {
            // An undeclared list: the second element of the same name makes it one.
            let value = if values.len() > 1 || shape.repeated.contains(&name) {
                Value::Array(values)
            } else {
                values.pop().unwrap_or_default()
            };
            (name.to_owned(), value)
        })
        .collect()
}

fn is_list(shape: &ActionShape, name: &str, children: &[Node<'_, '_>]) -> bool {
    if shape.lists.contains(&name) {
        return true;
    }
    !children.is_empty()
        && children
            .iter()
            .all(|child| matches!(child.tag_name().name(), "member" | "item"))
}

/// `<entry><key>…</key><value>…</value></entry>`, the form of maps.
fn entries(shape: &ActionShape, children: &[Node<'_, '_>]) -> Option<Map<String, Value>> {
    let mut map = Map::new();
    for child in children {
        if child.tag_name().name() != "entry" {
            return None;
        }
        let part = |name: &str| child.children().find(|node| node.tag_name().name() == name);
        let key = part("key")?.text().unwrap_or_default().to_owned();
        map.insert(key, read(shape, part("value")?));
    }
    Some(map)
}

fn text(shape: &ActionShape, name: &str, text: &str) -> Value {
    if shape.numbers.contains(&name) {
        if let Ok(whole) = text.trim().parse::<i64>() {
            return whole.into();
        }
        if let Ok(number) = text.trim().parse::<f64>() {
            return number.into();
        }
    }
    if shape.booleans.contains(&name) {
        match text.trim() {
            "true" => return true.into(),
            "false" => return false.into(),
            _ => {}
        }
    }
    text.into()
}

/// A payload as a document.
pub(crate) fn write(shape: &ActionShape, root: &str, value: &Value) -> String {
    let mut document = String::from(r#"<?xml version="1.0" encoding="UTF-8"?>"#);
    let namespace = shape.service.xml_namespace;
    let opening = if namespace.is_empty() {
        root.to_owned()
    } else {
        format!("{root} xmlns=\"{namespace}\"")
    };
    element(shape, &mut document, &opening, root, value);
    document
}

fn element(shape: &ActionShape, out: &mut String, opening: &str, name: &str, value: &Value) {
    if value.is_null() {
        return;
    }
    out.push('<');
    out.push_str(opening);
    out.push('>');
    match value {
        Value::Object(members) => {
            for (member, value) in members {
                element(shape, out, member, member, value);
            }
        }
        Value::Array(items) => {
            let item_name = shape
                .list_names
                .iter()
                .find(|(ours, _)| *ours == name)
                .map_or("member", |(_, wire)| *wire);
            for item in items {
                element(shape, out, item_name, item_name, item);
            }
        }
        scalar_value => escape(out, &scalar(scalar_value).unwrap_or_default()),
    }
    out.push_str("</");
    out.push_str(name);
    out.push('>');
}

fn escape(out: &mut String, text: &str) {
    for letter in text.chars() {
        match letter {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\r' => out.push_str("&#13;"),
            letter => out.push(letter),
        }
    }
}
