//! JSON: every text is redacted, and a text under a name such as `password` goes entirely.

use std::borrow::Cow;

use serde_json::{Map, Value};

use crate::{Redactor, rules, scan};

impl Redactor {
    /// The value without secrets. Numbers, booleans and objects under a secret's name stay:
    /// they are counters, flags and schemas.
    pub fn redact_value(&self, mut value: Value) -> Value {
        self.redact_in_place(&mut value);
        value
    }

    /// Touches only what changes: most values hold no secret, and answers may be large.
    fn redact_in_place(&self, value: &mut Value) {
        match value {
            Value::String(text) => {
                if let Cow::Owned(redacted) = self.redact(text) {
                    *text = redacted;
                }
            }
            Value::Array(items) => items.iter_mut().for_each(|item| self.redact_in_place(item)),
            Value::Object(map) => self.redact_map(map),
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    fn redact_map(&self, map: &mut Map<String, Value>) {
        for (name, value) in map.iter_mut() {
            if rules::names_a_secret(name) {
                *value = self.hide(value.take());
            } else {
                self.redact_in_place(value);
            }
        }
        if map
            .keys()
            .any(|name| matches!(self.redact(name), Cow::Owned(_)))
        {
            *map = std::mem::take(map)
                .into_iter()
                .map(|(name, value)| (self.redact(&name).into_owned(), value))
                .collect();
        }
    }

    fn hide(&self, value: Value) -> Value {
        match value {
            Value::String(text) if !text.is_empty() && !scan::is_placeholder(text.as_bytes()) => {
                Value::String(format!("{}secret]", rules::PLACEHOLDER))
            }
            Value::Array(items) => {
                Value::Array(items.into_iter().map(|item| self.hide(item)).collect())
            }
            other => self.redact_value(other),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn names_and_shapes_are_hidden_and_the_rest_stays() {
        let redactor = Redactor::new();
        let value = json!({
            "user": "ada",
            "password": "hunter2",
            "client_secret": ["one", "two"],
            "headers": {"Authorization": "Basic abc", "Content-Type": "text/plain"},
            "max_tokens": 4096,
            "token": 7,
            "next_page_token": "cursor-1",
            "properties": {"password": {"type": "string"}},
            "note": "use ghp_0123456789abcdefghijklmnopqrstuvwxyz now",
            "ghp_0123456789abcdefghijklmnopqrstuvwxyz": true,
            "api_key": "",
        });
        let redacted = redactor.redact_value(value);
        insta::assert_snapshot!(serde_json::to_string_pretty(&redacted).unwrap(), @r#"
        {
          "[redacted:github-token]": true,
          "api_key": "",
          "client_secret": [
            "[redacted:secret]",
            "[redacted:secret]"
          ],
          "headers": {
            "Authorization": "[redacted:secret]",
            "Content-Type": "text/plain"
          },
          "max_tokens": 4096,
          "next_page_token": "cursor-1",
          "note": "use [redacted:github-token] now",
          "password": "[redacted:secret]",
          "properties": {
            "password": {
              "type": "string"
            }
          },
          "token": 7,
          "user": "ada"
        }
        "#);
        assert_eq!(redactor.redact_value(redacted.clone()), redacted);
    }
}
