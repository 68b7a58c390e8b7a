//! Form fields of the query protocols, and percent-encoding as signatures want it.

use serde_json::{Map, Value};
use windlass_ports::aws::{ActionShape, Protocol};

use crate::request::scalar;

/// A form under construction.
pub(crate) struct Form<'a> {
    shape: &'a ActionShape,
    text: String,
}

impl<'a> Form<'a> {
    pub(crate) const fn new(shape: &'a ActionShape) -> Self {
        Self {
            shape,
            text: String::new(),
        }
    }

    /// One field.
    pub(crate) fn push(&mut self, name: &str, value: &str) {
        if !self.text.is_empty() {
            self.text.push('&');
        }
        self.text.push_str(&encode_query(name));
        self.text.push('=');
        self.text.push_str(&encode_query(value));
    }

    /// The members of a structure below a prefix.
    pub(crate) fn members(&mut self, prefix: &str, members: &Map<String, Value>) {
        for (member, value) in members {
            let name = self.wire_name(member);
            let name = if prefix.is_empty() {
                name
            } else {
                format!("{prefix}.{name}")
            };
            self.value(&name, member, value);
        }
    }

    fn value(&mut self, name: &str, member: &str, value: &Value) {
        match value {
            Value::Array(items) => self.list(name, member, items),
            Value::Object(members) => self.members(name, members),
            scalar_value => {
                if let Some(text) = scalar(scalar_value) {
                    self.push(name, &text);
                }
            }
        }
    }

    fn list(&mut self, name: &str, member: &str, items: &[Value]) {
        let flattened = self.shape.service.protocol == Protocol::Ec2Query;
        // An empty list is said as a field without a value; EC2 has no such thing.
        if items.is_empty() && !flattened {
            self.push(name, "");
        }
        for (index, item) in items.iter().enumerate() {
            let position = index + 1;
            let name = if flattened {
                format!("{name}.{position}")
            } else {
                let item_name = self.listed(member).unwrap_or("member");
                format!("{name}.{item_name}.{position}")
            };
            self.value(&name, member, item);
        }
    }

    fn listed(&self, member: &str) -> Option<&'static str> {
        self.shape
            .list_names
            .iter()
            .find(|(ours, _)| *ours == member)
            .map(|(_, wire)| *wire)
    }

    /// EC2 calls members otherwise on the wire, and always with a capital.
    fn wire_name(&self, member: &str) -> String {
        if self.shape.service.protocol != Protocol::Ec2Query {
            return member.to_owned();
        }
        if let Some(wire) = self.listed(member) {
            return wire.to_owned();
        }
        let mut letters = member.chars();
        letters.next().map_or_else(String::new, |first| {
            first.to_uppercase().chain(letters).collect()
        })
    }

    pub(crate) fn finish(self) -> String {
        self.text
    }
}

/// Everything but RFC 3986's unreserved characters, encoded.
pub(crate) fn encode_query(text: &str) -> String {
    encode(text, false)
}

/// The same, with slashes kept where a member may span segments.
pub(crate) fn encode_path(text: &str, keep_slashes: bool) -> String {
    encode(text, keep_slashes)
}

fn encode(text: &str, keep_slashes: bool) -> String {
    let mut encoded = String::with_capacity(text.len());
    for byte in text.bytes() {
        let plain = byte.is_ascii_alphanumeric()
            || matches!(byte, b'-' | b'.' | b'_' | b'~')
            || (byte == b'/' && keep_slashes);
        if plain {
            encoded.push(char::from(byte));
        } else {
            encoded.push_str(&format!("%{byte:02X}"));
        }
    }
    encoded
}
