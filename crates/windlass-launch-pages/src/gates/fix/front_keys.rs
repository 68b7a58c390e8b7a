//! Keys that are missing or of the wrong type get the default, the planned or the converted value.

use serde_json::Value;

use windlass_launch_model::markdown::frontmatter::{find, is_type, put_key};

use super::{Fixing, Rewrite, values};

pub(super) fn rewrite(fixing: &Fixing<'_>) -> Rewrite {
    let document = fixing.document;
    let Ok(keys) = &document.keys else {
        return Rewrite::default();
    };
    let contract = fixing.input.section_contract(fixing.path);
    let mut updates: Vec<(String, Value)> = Vec::new();
    for key in &contract.required_keys {
        if keys.get(key).is_none_or(Value::is_null) {
            updates.push((key.clone(), values::for_key(fixing.input, fixing.path, key)));
        }
    }
    for (key, expected) in &contract.key_types {
        let Some(value) = keys.get(key).filter(|value| !value.is_null()) else {
            continue;
        };
        if !is_type(value, expected) {
            let new = values::converted(value, expected)
                .unwrap_or_else(|| values::for_key(fixing.input, fixing.path, key));
            updates.push((key.clone(), new));
        }
    }
    let notes = updates
        .iter()
        .map(|(key, value)| format!("{key} is now {value}."))
        .collect();
    let text = updates
        .iter()
        .fold(document.text.clone(), |text, (key, value)| {
            let block = find(&text);
            block.map_or(text.clone(), |block| put_key(&text, &block, key, value))
        });
    Rewrite::own(fixing, text, notes)
}
