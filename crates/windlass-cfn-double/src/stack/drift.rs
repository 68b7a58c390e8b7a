//! Drift: what was changed behind a stack's back, and detections that find it.

use serde_json::{Value, json};

use super::{Resource, Stack};
use crate::env::Env;
use crate::types;

/// How a physical resource differs from its template.
#[derive(Clone, Debug, PartialEq)]
pub enum DriftState {
    Deleted,
    /// The properties as they really are.
    Modified(Value),
}

/// One `DetectStackDrift`.
#[derive(Clone, Debug)]
pub struct Detection {
    pub id: String,
    pub started: u64,
    pub ends: u64,
    pub is_done: bool,
    pub drifted: usize,
}

/// One difference between expected and actual properties.
#[derive(Clone, Debug, PartialEq)]
pub struct Difference {
    pub path: String,
    pub expected: String,
    pub actual: String,
    pub kind: &'static str,
}

pub fn wakes(stack: &Stack) -> impl Iterator<Item = u64> {
    stack
        .detections
        .iter()
        .filter(|detection| !detection.is_done)
        .map(|detection| detection.ends)
}

/// Ends detections that are due.
pub fn step(stack: &mut Stack, env: &Env) {
    let due = |detection: &&mut Detection| !detection.is_done && detection.ends <= env.now;
    let mut ended = false;
    for detection in stack.detections.iter_mut().filter(due) {
        detection.is_done = true;
        ended = true;
    }
    if !ended {
        return;
    }
    for resource in stack.resources.values_mut() {
        resource.checked = Some((env.now, status(resource)));
    }
    let drifted = stack
        .resources
        .values()
        .filter(|resource| matches!(resource.checked, Some((_, "MODIFIED" | "DELETED"))))
        .count();
    for detection in &mut stack.detections {
        if detection.is_done && detection.ends <= env.now {
            detection.drifted = drifted;
        }
    }
}

/// `IN_SYNC`, `MODIFIED`, `DELETED`, or `NOT_CHECKED` for types without drift detection.
fn status(resource: &Resource) -> &'static str {
    if !types::is_known(&resource.kind) {
        return "NOT_CHECKED";
    }
    match &resource.drift {
        None => "IN_SYNC",
        Some(DriftState::Deleted) => "DELETED",
        Some(DriftState::Modified(_)) => "MODIFIED",
    }
}

/// Changes a resource behind the stack's back; `path` is a JSON pointer, `null` removes.
pub fn modify(resource: &mut Resource, path: &str, value: Value) {
    let mut actual = match resource.drift.take() {
        Some(DriftState::Modified(actual)) => actual,
        _ => resource.properties.clone(),
    };
    let mut place = &mut actual;
    let steps: Vec<&str> = path.trim_start_matches('/').split('/').collect();
    let (last, outer) = match steps.split_last() {
        Some((last, outer)) => (*last, outer),
        None => return,
    };
    for step in outer {
        let is_index = step.parse::<usize>().ok();
        place = match (is_index, place.is_array()) {
            (Some(index), true) => match place.get_mut(index) {
                Some(inner) => inner,
                None => return,
            },
            _ => {
                if !place.is_object() {
                    *place = json!({});
                }
                &mut place[*step]
            }
        };
    }
    match (last.parse::<usize>(), place) {
        (Ok(index), Value::Array(values)) if index < values.len() => values[index] = value,
        (_, Value::Object(fields)) if value.is_null() => {
            fields.remove(last);
        }
        (_, place) => {
            if !place.is_object() {
                *place = json!({});
            }
            place[last] = value;
        }
    }
    if actual != resource.properties {
        resource.drift = Some(DriftState::Modified(actual));
    }
}

/// Every leaf that differs.
pub fn differences(expected: &Value, actual: &Value) -> Vec<Difference> {
    let mut found = Vec::new();
    compare("", Some(expected), Some(actual), &mut found);
    found
}

fn compare(
    path: &str,
    expected: Option<&Value>,
    actual: Option<&Value>,
    found: &mut Vec<Difference>,
) {
    let text = |value: Option<&Value>| match value {
        None => "null".to_owned(),
        Some(Value::String(text)) => text.clone(),
        Some(other) => other.to_string(),
    };
    match (expected, actual) {
        (Some(left), Some(right)) if left == right => {}
        (Some(Value::Object(left)), Some(Value::Object(right))) => {
            let mut names: Vec<&String> = left.keys().chain(right.keys()).collect();
            names.sort();
            names.dedup();
            for name in names {
                compare(
                    &format!("{path}/{name}"),
                    left.get(name),
                    right.get(name),
                    found,
                );
            }
        }
        (Some(Value::Array(left)), Some(Value::Array(right))) => {
            for index in 0..left.len().max(right.len()) {
                compare(
                    &format!("{path}/{index}"),
                    left.get(index),
                    right.get(index),
                    found,
                );
            }
        }
        _ => found.push(Difference {
            path: path.to_owned(),
            expected: text(expected),
            actual: text(actual),
            kind: match (expected, actual) {
                (None, _) => "ADD",
                (_, None) => "REMOVE",
                _ => "NOT_EQUAL",
            },
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differences_name_the_leaf_and_the_kind() {
        let expected = json!({"A": 1, "B": {"C": [1, 2]}, "D": "x"});
        let actual = json!({"A": 1, "B": {"C": [1, 3, 4]}, "E": true});
        let found: Vec<String> = differences(&expected, &actual)
            .into_iter()
            .map(|found| {
                format!(
                    "{} {} {} {}",
                    found.kind, found.path, found.expected, found.actual
                )
            })
            .collect();
        assert_eq!(
            found,
            [
                "NOT_EQUAL /B/C/1 2 3",
                "ADD /B/C/2 null 4",
                "REMOVE /D x null",
                "ADD /E null true"
            ]
        );
    }
}
