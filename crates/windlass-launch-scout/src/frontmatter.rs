//! Front matter: reading it in YAML, TOML and JSON, and what a section's pages agree on.
//!
//! Reads only; whoever writes pages renders front matter by the contract found here.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};
use windlass_launch_model::{FrontmatterContract, Section, SectionContract};

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

/// How front matter is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Format {
    /// Between `---` lines.
    Yaml,
    /// Between `+++` lines.
    Toml,
    /// An object at the very beginning.
    Json,
}

impl Format {
    /// The name in the contract.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Yaml => "yaml",
            Self::Toml => "toml",
            Self::Json => "json",
        }
    }
}

/// A page's front matter.
#[derive(Clone, Debug, PartialEq)]
pub struct FrontMatter {
    /// How it is written.
    pub format: Format,
    /// Its keys.
    pub data: Map<String, Value>,
    /// The bytes of it, delimiters included, up to where the body begins.
    pub length: usize,
}

/// Why front matter cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FrontMatterError {
    /// It begins and does not end.
    #[error("the front matter has no closing {delimiter} line")]
    Unclosed {
        /// What is missing.
        delimiter: &'static str,
    },
    /// It is no valid YAML, TOML or JSON.
    #[error("the front matter is not valid {format}: {cause}")]
    Syntax {
        /// The language.
        format: &'static str,
        /// What the parser says.
        cause: String,
    },
}

/// Reads a page's front matter; `None` if it has none.
pub fn parse(text: &str) -> Result<Option<FrontMatter>, FrontMatterError> {
    let text_without_bom = text.strip_prefix('\u{feff}').unwrap_or(text);
    let skipped = text.len() - text_without_bom.len();
    let text = text_without_bom;
    let first = text.lines().next().unwrap_or_default().trim_end();
    match first {
        "---" => fenced(text, skipped, "---", Format::Yaml).map(Some),
        "+++" => fenced(text, skipped, "+++", Format::Toml).map(Some),
        _ if text.starts_with('{') && !text.starts_with("{{") => json(text, skipped).map(Some),
        _ => Ok(None),
    }
}

fn fenced(
    text: &str,
    skipped: usize,
    delimiter: &'static str,
    format: Format,
) -> Result<FrontMatter, FrontMatterError> {
    let mut offset = 0;
    let mut inner_start = 0;
    for (index, line) in text.split_inclusive('\n').enumerate() {
        let start = offset;
        offset += line.len();
        if index == 0 {
            inner_start = offset;
        } else if line.trim_end() == delimiter {
            let data = match format {
                Format::Toml => toml_map(&text[inner_start..start]),
                _ => yaml_map(&text[inner_start..start]),
            };
            return Ok(FrontMatter {
                format,
                data: data.map_err(|cause| FrontMatterError::Syntax {
                    format: format.as_str(),
                    cause,
                })?,
                length: skipped + offset,
            });
        }
    }
    Err(FrontMatterError::Unclosed { delimiter })
}

fn json(text: &str, skipped: usize) -> Result<FrontMatter, FrontMatterError> {
    let mut values = serde_json::Deserializer::from_str(text).into_iter::<Map<String, Value>>();
    let syntax = |cause: String| FrontMatterError::Syntax {
        format: "json",
        cause,
    };
    match values.next() {
        Some(Ok(data)) => {
            let mut length = values.byte_offset();
            if text[length..].starts_with('\r') {
                length += 1;
            }
            if text[length..].starts_with('\n') {
                length += 1;
            }
            Ok(FrontMatter {
                format: Format::Json,
                data,
                length: skipped + length,
            })
        }
        Some(Err(error)) => Err(syntax(error.to_string())),
        None => Err(syntax("nothing there".to_owned())),
    }
}

/// A YAML text that is a map; an empty one is an empty map.
pub(crate) fn yaml_map(text: &str) -> Result<Map<String, Value>, String> {
    if text.lines().all(|line| {
        let line = line.trim();
        line.is_empty() || line.starts_with('#')
    }) {
        return Ok(Map::new());
    }
    match serde_saphyr::from_str::<Value>(text) {
        Ok(Value::Object(map)) => Ok(map),
        Ok(Value::Null) => Ok(Map::new()),
        Ok(_) => Err("it is not a map".to_owned()),
        Err(error) => Err(first_line(&error.to_string())),
    }
}

/// A TOML text.
pub(crate) fn toml_map(text: &str) -> Result<Map<String, Value>, String> {
    let table: toml::Table = text
        .parse()
        .map_err(|error: toml::de::Error| first_line(error.message()))?;
    Ok(table
        .into_iter()
        .map(|(key, value)| (key, toml_value(value)))
        .collect())
}

fn first_line(text: &str) -> String {
    text.lines().next().unwrap_or_default().to_owned()
}

fn toml_value(value: toml::Value) -> Value {
    match value {
        toml::Value::String(text) => Value::String(text),
        toml::Value::Integer(number) => number.into(),
        toml::Value::Float(number) => number.into(),
        toml::Value::Boolean(truth) => truth.into(),
        // The text of a date is what every page format can hold.
        toml::Value::Datetime(time) => Value::String(time.to_string()),
        toml::Value::Array(items) => Value::Array(items.into_iter().map(toml_value).collect()),
        toml::Value::Table(table) => Value::Object(
            table
                .into_iter()
                .map(|(key, value)| (key, toml_value(value)))
                .collect(),
        ),
    }
}

/// The type of a value, as the contract names it.
pub fn type_of(value: &Value) -> &'static str {
    match value {
        Value::String(text) if is_date(text) => "date",
        Value::String(_) => "string",
        Value::Number(number) if number.is_f64() => "number",
        Value::Number(_) => "integer",
        Value::Bool(_) => "boolean",
        Value::Array(items) if items.iter().all(Value::is_string) => "array_string",
        Value::Object(_) => "object",
        Value::Array(_) | Value::Null => "unknown",
    }
}

/// `2026-01-31`, with or without a time after it.
fn is_date(text: &str) -> bool {
    let bytes = text.as_bytes();
    let digits = |range: std::ops::Range<usize>| {
        bytes
            .get(range)
            .is_some_and(|part| part.iter().all(u8::is_ascii_digit))
    };
    bytes.len() >= 10
        && digits(0..4)
        && bytes[4] == b'-'
        && digits(5..7)
        && bytes[7] == b'-'
        && digits(8..10)
        && bytes
            .get(10)
            .is_none_or(|next| matches!(next, b'T' | b't' | b' '))
}

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
                let pages: Vec<FrontMatter> = tree
                    .texts()
                    .filter(|(path, _)| is_markdown(path) && is_below(path, root))
                    .take(SAMPLE)
                    .filter_map(|(_, text)| parse(text).ok().flatten())
                    .collect();
                (*section, section_contract(&pages))
            })
            .collect(),
    }
}

fn section_contract(pages: &[FrontMatter]) -> SectionContract {
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
    let keys: BTreeSet<&String> = pages.iter().flat_map(|page| page.data.keys()).collect();
    let mut found = SectionContract {
        sample_size: pages.len() as u64,
        format: usual_format(pages).as_str().to_owned(),
        ..SectionContract::default()
    };
    for key in keys {
        let values: Vec<&Value> = pages.iter().filter_map(|page| page.data.get(key)).collect();
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

fn usual_format(pages: &[FrontMatter]) -> Format {
    let count = |format: Format| pages.iter().filter(|page| page.format == format).count();
    let mut best = Format::Yaml;
    for format in [Format::Toml, Format::Json] {
        if count(format) > count(best) {
            best = format;
        }
    }
    best
}

/// The value nine of ten pages have. One page alone agrees with nobody.
fn usual_value<'v>(key: &str, values: &[&'v Value], pages: usize) -> Option<&'v Value> {
    if pages < 2 || IDENTITY.contains(&key.to_ascii_lowercase().as_str()) {
        return None;
    }
    values
        .iter()
        .find(|value| values.iter().filter(|other| other == value).count() * 10 >= pages * 9)
        .copied()
}

#[cfg(test)]
#[path = "frontmatter_tests.rs"]
mod tests;
