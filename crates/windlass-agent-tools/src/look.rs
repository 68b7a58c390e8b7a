//! What policy has to know about a call before it is made.

use serde_json::Value;
use windlass_policy::{ToolClass, ToolRequest};
use windlass_shell::Script;

use crate::{Failure, Places};

/// What a call would touch, found out without touching it.
#[derive(Clone, Debug, PartialEq)]
pub struct Look {
    /// What kind of thing it does.
    pub class: ToolClass,
    /// The commands it would run.
    pub script: Option<Script>,
    /// Where they would run, if not in the session's directory; an absolute path.
    pub directory: Option<String>,
    /// The files it names, as absolute paths.
    pub paths: Vec<String>,
    /// The hosts it would reach.
    pub hosts: Vec<String>,
    /// Markers of secrets in its arguments.
    pub markers: Vec<String>,
    /// How many files it would change or remove, as far as that is known.
    pub files: u64,
}

impl Look {
    pub(crate) fn new(class: ToolClass) -> Self {
        Self {
            class,
            script: None,
            directory: None,
            paths: Vec::new(),
            hosts: Vec::new(),
            markers: Vec::new(),
            files: 0,
        }
    }

    /// Of a call that makes, changes or removes one path.
    pub(crate) fn at_file(path: &str, places: &Places) -> Result<Self, Failure> {
        let located = places.locate_to_write(path)?;
        let mut look = Self::new(ToolClass::Write).path(located.text());
        look.files = 1;
        Ok(look)
    }

    pub(crate) fn path(mut self, path: String) -> Self {
        self.paths.push(path);
        self
    }

    /// Whether it changes nothing, so that it may run beside other such calls.
    pub fn only_reads(&self) -> bool {
        matches!(self.class, ToolClass::Read | ToolClass::ReadOutside)
    }

    /// Puts what was found into a request.
    pub fn fill<'a>(&'a self, request: ToolRequest<'a>) -> ToolRequest<'a> {
        let mut request = request;
        request.class = match self.markers.is_empty() {
            true => self.class,
            // A command with a secret is still judged by its commands.
            false => ToolClass::Secret,
        };
        request.script = self.script.as_ref();
        request.paths = &self.paths;
        request.hosts = &self.hosts;
        request.extent.files = self.files;
        if let Some(directory) = &self.directory {
            request.place.directory = directory;
        }
        request
    }
}

const MARKER: &str = "[REDACTED_SECRET:";

/// The markers of secrets in all strings of a value, each once, in order.
pub fn markers(value: &Value) -> Vec<String> {
    let mut found = Vec::new();
    collect(value, &mut found);
    found
}

fn collect(value: &Value, found: &mut Vec<String>) {
    match value {
        Value::String(text) => {
            for (start, _) in text.match_indices(MARKER) {
                let rest = &text[start..];
                let marker = rest.find(']').and_then(|end| rest.get(..=end));
                if let Some(marker) = marker
                    && !found.iter().any(|had| had == marker)
                {
                    found.push(marker.to_owned());
                }
            }
        }
        Value::Array(items) => items.iter().for_each(|item| collect(item, found)),
        Value::Object(fields) => {
            for (key, item) in fields {
                collect(&Value::String(key.clone()), found);
                collect(item, found);
            }
        }
        _ => {}
    }
}

#[cfg(test)]
#[path = "look_tests.rs"]
mod decided_tests;
#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn markers_are_found_wherever_they_are() {
        let value = json!({
            "command": "curl -H [REDACTED_SECRET:github:a1b2c3] x [REDACTED_SECRET:aws:zzzzzz]",
            "env": { "A": "[REDACTED_SECRET:github:a1b2c3]" },
            "list": ["[REDACTED_SECRET:unfinished"]
        });
        assert_eq!(
            markers(&value),
            [
                "[REDACTED_SECRET:github:a1b2c3]",
                "[REDACTED_SECRET:aws:zzzzzz]"
            ]
        );
    }
}
