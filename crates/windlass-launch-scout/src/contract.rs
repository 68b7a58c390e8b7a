//! What the front matter of a section's pages agrees on.
//!
//! Reads only; the page writer renders front matter by the contract found here.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;
use windlass_launch_model::{
    FrontmatterContract, Section, SectionContract,
    markdown::frontmatter::{Format, Keys, read, type_of},
};

use crate::{
    SCHEMA_VERSION,
    kind::{is_below, is_markdown},
    tree::Tree,
};

/// How many pages of a section are looked at.
const SAMPLE: usize = 50;

/// Keys that say which page it is. Their value is never a default, however often it occurs.
const IDENTITY: &[&str] = &[
    "title",
    "linktitle",
    "slug",
    "url",
    "id",
    "date",
    "lastmod",
    "publishdate",
    "description",
    "summary",
    "aliases",
    "keywords",
    "weight",
];

/// What the pages of each section agree on.
pub(crate) fn contract(
    tree: &Tree,
    section_roots: &BTreeMap<Section, String>,
) -> FrontmatterContract {
    FrontmatterContract {
        schema_version: SCHEMA_VERSION.to_owned(),
        sections: section_roots
            .iter()
            .map(|(section, root)| {
                let pages: Vec<Keys> = tree
                    .texts()
                    .filter(|(path, _)| is_markdown(path) && is_below(path, root))
                    .take(SAMPLE)
                    .filter_map(|(_, text)| read(text).ok().flatten())
                    .collect();
                (*section, section_contract(&pages))
            })
            .collect(),
    }
}

fn section_contract(pages: &[Keys]) -> SectionContract {
    if pages.is_empty() {
        return SectionContract {
            sample_size: 0,
            format: Format::Yaml.as_str().to_owned(),
            required_keys: vec!["title".to_owned()],
            optional_keys: Vec::new(),
            key_types: BTreeMap::from([("title".to_owned(), "string".to_owned())]),
            default_values: BTreeMap::new(),
        };
    }
    let keys: BTreeSet<&String> = pages.iter().flat_map(|(_, keys)| keys.keys()).collect();
    let mut found = SectionContract {
        sample_size: pages.len() as u64,
        format: usual_format(pages).as_str().to_owned(),
        ..SectionContract::default()
    };
    for key in keys {
        let values: Vec<&Value> = pages.iter().filter_map(|(_, keys)| keys.get(key)).collect();
        if values.len() == pages.len() {
            found.required_keys.push(key.clone());
        } else {
            found.optional_keys.push(key.clone());
        }
        let types: BTreeSet<&str> = values.iter().map(|value| type_of(value)).collect();
        let one = if types.len() == 1 {
            types.first()
        } else {
            None
        };
        let name = one.copied().unwrap_or("unknown").to_owned();
        found.key_types.insert(key.clone(), name);
        if let Some(value) = usual_value(key, &values, pages.len()) {
            found.default_values.insert(key.clone(), value.clone());
        }
    }
    found
}

fn usual_format(pages: &[Keys]) -> Format {
    let count = |format: Format| pages.iter().filter(|(other, _)| *other == format).count();
    let mut best = Format::Yaml;
    for format in [Format::Toml, Format::Json] {
        if count(format) > count(best) {
            best = format;
        }
    }
    best
}

/// The value nine of ten pages have. A single page proves nothing, and a key that pages
/// leave blank has no value to agree on.
fn usual_value<'v>(key: &str, values: &[&'v Value], pages: usize) -> Option<&'v Value> {
    if pages < 2 || IDENTITY.contains(&key.to_ascii_lowercase().as_str()) {
        return None;
    }
    values
        .iter()
        .filter(|value| !value.is_null())
        .find(|value| values.iter().filter(|other| other == value).count() * 10 >= pages * 9)
        .copied()
}

#[cfg(test)]
#[path = "contract_tests.rs"]
mod tests;
