//! A page without front matter gets the keys its section needs.

use serde_json::Value;

use windlass_launch_model::markdown::frontmatter::{Format, write};

use super::{Fixing, Rewrite, values};

pub(super) fn rewrite(fixing: &Fixing<'_>) -> Rewrite {
    let contract = fixing.input.section_contract(fixing.path);
    let mut keys = contract.required_keys.clone();
    // A title first, as people write it.
    keys.sort_by_key(|key| (key != "title", key.clone()));
    let pairs: Vec<(String, Value)> = keys
        .into_iter()
        .map(|key| {
            let value = values::for_key(fixing.input, fixing.path, &key);
            (key, value)
        })
        .collect();
    let block = write(Format::named(&contract.format), &pairs);
    let body = fixing
        .document
        .text
        .trim_start_matches(['\u{feff}', '\n', '\r']);
    let names: Vec<&str> = pairs.iter().map(|(key, _)| key.as_str()).collect();
    let notes = vec![format!("Added front matter: {}.", names.join(", "))];
    Rewrite::own(fixing, format!("{block}\n{body}"), notes)
}
