//! Every reference of the template must lead somewhere, and not in a circle: what users write by
//! hand (`$CfResourceParam`, overrides, raw resources) may not, and two resources that both need
//! to know the other's address cannot be made.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::refusal::Refusal;
use crate::stack::Stack;

impl Stack<'_> {
    /// Whether everything a value mentions is there.
    pub fn leads_somewhere(&self, value: &Value) -> bool {
        let mut found = BTreeSet::new();
        collect(value, &mut found);
        found.iter().all(|id| self.parts.contains_key(id))
    }

    pub fn resolve_references(&mut self) {
        let mut missing: Vec<(Vec<String>, String)> = Vec::new();
        let mut needs: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for (id, part) in &self.parts {
            let mut found = BTreeSet::new();
            collect(&part.properties, &mut found);
            part.attributes
                .values()
                .for_each(|value| collect(value, &mut found));
            found.extend(part.prerequisites());
            needs.insert(id.clone(), found.clone());
            for target in found {
                if !self.parts.contains_key(&target) {
                    let path = match &part.owner {
                        Some(owner) => vec!["resources".to_owned(), owner.clone()],
                        None => vec!["cloudformationResources".to_owned(), id.clone()],
                    };
                    missing.push((path, target));
                }
            }
        }
        for (value, _) in self.outputs.values() {
            let mut found = BTreeSet::new();
            collect(value, &mut found);
            for target in found {
                if !self.parts.contains_key(&target) {
                    let path = vec!["stackConfig".to_owned(), "outputs".to_owned()];
                    missing.push((path, target));
                }
            }
        }
        missing.sort();
        missing.dedup();
        let circle = circle(&needs);
        if !circle.is_empty() {
            let owners: BTreeSet<&str> = circle
                .iter()
                .filter_map(|id| self.parts.get(id))
                .filter_map(|part| part.owner.as_deref())
                .collect();
            let owners: Vec<String> = owners.iter().map(|name| format!("\"{name}\"")).collect();
            let ids: Vec<String> = circle.iter().cloned().collect();
            self.refusals.push(Refusal {
                path: vec!["resources".to_owned()],
                message: format!(
                    "{} wait for each other: {}",
                    owners.join(" and "),
                    ids.join(", ")
                ),
                suggestion: Some("remove one from the other's connectTo or environment".to_owned()),
            });
        }
        for (path, target) in missing {
            self.refusals.push(Refusal {
                path,
                message: format!("there is no logical id \"{target}\" in the template"),
                suggestion: Some("`windlass stack compile` shows all of them".to_owned()),
            });
        }
    }
}

/// The ids of parts that wait for each other in a circle.
fn circle(needs: &BTreeMap<String, BTreeSet<String>>) -> BTreeSet<String> {
    let mut left: BTreeSet<String> = needs.keys().cloned().collect();
    loop {
        // Neither what can be created nor what nothing waits for is part of a cycle.
        let wanted: BTreeSet<&String> = left
            .iter()
            .filter_map(|id| needs.get(id))
            .flatten()
            .collect();
        let kept: BTreeSet<String> = left
            .iter()
            .filter(|id| wanted.contains(id))
            .filter(|id| {
                needs
                    .get(*id)
                    .is_some_and(|needs| needs.iter().any(|need| left.contains(need)))
            })
            .cloned()
            .collect();
        if kept.len() == left.len() {
            return kept;
        }
        left = kept;
    }
}

/// The logical ids a value mentions; pseudo parameters aside.
fn collect(value: &Value, found: &mut BTreeSet<String>) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| collect(item, found)),
        Value::Object(entries) => {
            for (key, value) in entries {
                match (key.as_str(), value) {
                    ("Ref", Value::String(id)) if entries.len() == 1 => note(id, found),
                    ("Fn::GetAtt", Value::Array(parts)) if entries.len() == 1 => {
                        if let Some(id) = parts.first().and_then(Value::as_str) {
                            note(id, found);
                        }
                    }
                    ("Fn::GetAtt", Value::String(text)) if entries.len() == 1 => {
                        note(text.split('.').next().unwrap_or(text), found);
                    }
                    ("Fn::Sub", Value::String(text)) => substitutions(text, &[], found),
                    ("Fn::Sub", Value::Array(parts)) => {
                        let names: Vec<&str> = parts
                            .get(1)
                            .and_then(Value::as_object)
                            .map(|names| names.keys().map(String::as_str).collect())
                            .unwrap_or_default();
                        if let Some(text) = parts.first().and_then(Value::as_str) {
                            substitutions(text, &names, found);
                        }
                        parts.iter().skip(1).for_each(|part| collect(part, found));
                    }
                    (_, value) => collect(value, found),
                }
            }
        }
        _ => {}
    }
}

fn substitutions(text: &str, names: &[&str], found: &mut BTreeSet<String>) {
    for piece in text.split("${").skip(1) {
        let Some((name, _)) = piece.split_once('}') else {
            continue;
        };
        if name.starts_with('!') || names.contains(&name) {
            continue;
        }
        note(name.split('.').next().unwrap_or(name), found);
    }
}

fn note(id: &str, found: &mut BTreeSet<String>) {
    if !id.starts_with("AWS::") {
        found.insert(id.to_owned());
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn finds_every_kind() {
        let value = json!([
            {"Ref": "A"}, {"Ref": "AWS::Region"}, {"Fn::GetAtt": ["B", "Arn"]},
            {"Fn::GetAtt": "C.Arn"}, {"Fn::Sub": "${D}-${E.Arn}-${!F}-${AWS::StackName}"},
            {"Fn::Sub": ["${G}-${H}", {"G": {"Ref": "I"}}]},
        ]);
        let mut found = BTreeSet::new();
        collect(&value, &mut found);
        let found: Vec<String> = found.into_iter().collect();
        assert_eq!(found, ["A", "B", "C", "D", "E", "H", "I"]);
    }
}
