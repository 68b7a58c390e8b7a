//! `overrides`: changes to parts of one resource, after everything else.
//!
//! A path is relative to the part's properties. An object merges into an object that is there,
//! anything else replaces. Where keys may contain dots, the rest of the path is one key.

use serde_json::{Map, Value};

use crate::refusal::Refusal;
use crate::stack::Stack;
use crate::text::Tie;

/// Maps whose keys contain dots by nature.
const DOTTED: [&str; 2] = ["Parameters", "AdvancedOptions"];

impl Stack<'_> {
    pub fn overrides(&mut self) {
        let config = self.config;
        for (name, resource) in &config.resources {
            for (id, changes) in &resource.overrides {
                let owner = self.parts.get(id).and_then(|part| part.owner.clone());
                if owner.as_deref() != Some(name) {
                    let children: Vec<&str> = self
                        .parts
                        .iter()
                        .filter(|(_, part)| part.owner.as_deref() == Some(name))
                        .map(|(id, _)| id.as_str())
                        .collect();
                    let suggestion = match children.is_empty() {
                        true => "there is none to override".to_owned(),
                        false => format!("there is {}", children.join(", ")),
                    };
                    self.refusals.push(Refusal {
                        path: ["resources", name, "overrides", id]
                            .map(str::to_owned)
                            .into(),
                        message: format!("\"{id}\" is not part of \"{name}\""),
                        suggestion: Some(suggestion),
                    });
                    continue;
                }
                for (path, value) in changes {
                    let value = self.data(value, Tie::Firm);
                    let Some(part) = self.parts.get_mut(id) else {
                        continue;
                    };
                    let path = path.strip_prefix("Properties.").unwrap_or(path);
                    if !part.properties.is_object() {
                        part.properties = Value::Object(Map::new());
                    }
                    apply(&mut part.properties, path, value);
                }
            }
        }
    }
}

fn apply(target: &mut Value, path: &str, value: Value) {
    let (key, rest) = match path.split_once('.') {
        Some((key, rest)) => (key, Some(rest)),
        None => (path, None),
    };
    match (target, rest) {
        (Value::Array(items), rest) => {
            let Some(item) = key
                .parse()
                .ok()
                .and_then(|index: usize| items.get_mut(index))
            else {
                return;
            };
            match rest {
                Some(rest) => apply(item, rest, value),
                None => *item = value,
            }
        }
        (target, None) => put(target, key, value),
        (target, Some(rest)) => {
            if !target.is_object() {
                *target = Value::Object(Map::new());
            }
            let Value::Object(entries) = target else {
                return;
            };
            let inner = entries
                .entry(key.to_owned())
                .or_insert_with(|| Value::Object(Map::new()));
            let has_dots = inner
                .as_object()
                .is_some_and(|inner| inner.keys().any(|key| key.contains('.')));
            match DOTTED.contains(&key) || has_dots {
                true => put(inner, rest, value),
                false => apply(inner, rest, value),
            }
        }
    }
}

fn put(target: &mut Value, key: &str, value: Value) {
    if !target.is_object() {
        *target = Value::Object(Map::new());
    }
    let Value::Object(entries) = target else {
        return;
    };
    match (entries.get_mut(key), value) {
        (Some(Value::Object(there)), Value::Object(new)) => merge(there, new),
        (_, value) => {
            entries.insert(key.to_owned(), value);
        }
    }
}

fn merge(there: &mut Map<String, Value>, new: Map<String, Value>) {
    for (key, value) in new {
        match (there.get_mut(&key), value) {
            (Some(Value::Object(there)), Value::Object(new)) => merge(there, new),
            (_, value) => {
                there.insert(key, value);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn paths() {
        let cases = [
            ("A.B", json!(1), json!({"A": {"B": 1, "C": 2}})),
            ("A", json!({"D": 3}), json!({"A": {"B": 0, "C": 2, "D": 3}})),
            ("A.B.X", json!(1), json!({"A": {"B": {"X": 1}, "C": 2}})),
            (
                "N.M",
                json!(true),
                json!({"A": {"B": 0, "C": 2}, "N": {"M": true}}),
            ),
            ("A", json!([1]), json!({"A": [1]})),
        ];
        for (path, value, expected) in cases {
            let mut target = json!({"A": {"B": 0, "C": 2}});
            apply(&mut target, path, value);
            assert_eq!(target, expected, "{path}");
        }
    }

    #[test]
    fn keys_with_dots_stay_whole() {
        let mut target = json!({"Parameters": {}, "Free": {"a.b": 1}, "List": [{"X": 1}]});
        apply(&mut target, "Parameters.rds.force_ssl", json!("1"));
        apply(&mut target, "Free.c.d", json!(2));
        apply(&mut target, "List.0.X", json!(2));
        let expected = json!({
            "Parameters": {"rds.force_ssl": "1"}, "Free": {"a.b": 1, "c.d": 2}, "List": [{"X": 2}],
        });
        assert_eq!(target, expected);
    }
}
