//! JSON Schemas of what a run takes and makes, and what is wrong with a value that does not fit.
//!
//! Schemas come from the types, so they cannot disagree with them. No schema is ever fetched.

use jsonschema::{ValidationError, Validator, error::ValidationErrorKind};
use schemars::{JsonSchema, generate::SchemaSettings};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use windlass_text::suggest::{nearest, shown};

/// Findings beyond this many are left out.
const MOST_FINDINGS: usize = 200;

/// One thing that does not fit.
#[derive(
    Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, schemars::JsonSchema,
)]
#[serde(deny_unknown_fields)]
pub struct SchemaError {
    /// Where, as a JSON pointer; for a key that is missing or unknown, the key itself.
    pub pointer: String,
    /// The rule that is broken.
    pub keyword: String,
    /// What is wrong, in a sentence. Never holds the value, which may be a secret.
    pub message: String,
}

impl SchemaError {
    /// A finding of a rule a schema cannot express.
    pub fn new(pointer: impl Into<String>, keyword: &str, message: impl Into<String>) -> Self {
        Self {
            pointer: pointer.into(),
            keyword: keyword.to_owned(),
            message: message.into(),
        }
    }
}

/// Everything that does not fit, sorted by pointer; never empty.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}", self.summary())]
pub struct SchemaErrors(Vec<SchemaError>);

impl SchemaErrors {
    /// `Ok` when there is nothing to report.
    pub fn check(errors: Vec<SchemaError>) -> Result<(), Self> {
        if errors.is_empty() {
            Ok(())
        } else {
            Err(Self::new(errors))
        }
    }

    /// These findings, of which there is at least one.
    pub fn new(mut errors: Vec<SchemaError>) -> Self {
        errors.sort();
        errors.dedup();
        Self(errors)
    }

    /// The findings.
    pub fn errors(&self) -> &[SchemaError] {
        &self.0
    }

    /// The findings as `details.errors` shows them.
    pub fn to_value(&self) -> Value {
        self.0
            .iter()
            .map(|error| {
                serde_json::json!({
                    "pointer": error.pointer,
                    "keyword": error.keyword,
                    "message": error.message,
                })
            })
            .collect()
    }

    /// The first finding, and how many more there are.
    fn summary(&self) -> String {
        let first = self.0.first().map(|error| error.message.as_str());
        match (first, self.0.len()) {
            (Some(first), 1) => first.to_owned(),
            (Some(first), count) => format!("{first} (and {} more)", count - 1),
            (None, _) => String::new(),
        }
    }
}

/// A schema ready to be asked.
#[derive(Debug)]
pub struct Schema {
    json: Value,
    validator: Result<Validator, String>,
}

impl Schema {
    /// The schema of a type that a run writes.
    pub fn of<T: JsonSchema>() -> Self {
        Self::compile(generate::<T>())
    }

    /// The schema of a type that people write: a key is given or left out, never null, and a
    /// choice is a plain list, so that findings name the key and the choices.
    pub fn of_input<T: JsonSchema>() -> Self {
        let mut json = generate::<T>();
        simplify(&mut json);
        Self::compile(json)
    }

    fn compile(json: Value) -> Self {
        let validator = jsonschema::draft202012::new(&json).map_err(|error| error.to_string());
        Self { json, validator }
    }

    /// The schema as JSON.
    pub fn json(&self) -> &Value {
        &self.json
    }

    /// Checks a value.
    pub fn check(&self, value: &Value) -> Result<(), SchemaErrors> {
        let errors = match &self.validator {
            Ok(validator) => validator
                .iter_errors(value)
                .take(MOST_FINDINGS)
                .flat_map(|error| self.explain(&error))
                .collect(),
            Err(reason) => vec![SchemaError::new("", "schema", reason.as_str())],
        };
        SchemaErrors::check(errors)
    }

    fn explain(&self, error: &ValidationError<'_>) -> Vec<SchemaError> {
        let pointer = error.instance_path().as_str();
        let keyword = error.kind().keyword();
        match error.kind() {
            ValidationErrorKind::Required { property } => {
                let pointer = child(pointer, property.as_str().unwrap_or_default());
                let message = format!("{pointer} is required");
                vec![SchemaError::new(pointer, keyword, message)]
            }
            ValidationErrorKind::AdditionalProperties { unexpected } => unexpected
                .iter()
                .map(|key| {
                    let hint = match self.nearest(pointer, key) {
                        Some(near) => format!("; did you mean {near}?"),
                        None => String::new(),
                    };
                    let pointer = child(pointer, &shown(key));
                    let message = format!("{pointer} is not a known key{hint}");
                    SchemaError::new(pointer, keyword, message)
                })
                .collect(),
            ValidationErrorKind::Enum { options } => {
                let options = options.as_array().into_iter().flatten();
                let options: Vec<String> = options.map(Value::to_string).collect();
                let message = format!("{pointer} is not one of {}", options.join(", "));
                vec![SchemaError::new(pointer, keyword, message)]
            }
            _ => {
                let subject = if pointer.is_empty() {
                    "the value"
                } else {
                    pointer
                };
                let message = error.masked_with(subject).to_string();
                vec![SchemaError::new(pointer, keyword, message)]
            }
        }
    }

    /// The known key of the object at a pointer that is most like this one.
    fn nearest(&self, pointer: &str, key: &str) -> Option<&str> {
        let mut schema = &self.json;
        for step in pointer.split('/').skip(1) {
            schema = schema
                .get("properties")
                .and_then(|properties| properties.get(step))
                .or_else(|| schema.get("items"))
                .or_else(|| schema.get("additionalProperties"))?;
        }
        let known = schema.get("properties")?.as_object()?;
        nearest(key, known.keys().map(String::as_str))
    }
}

/// The pointer of a key below another pointer.
pub fn child(pointer: &str, key: &str) -> String {
    format!("{pointer}/{}", key.replace('~', "~0").replace('/', "~1"))
}

fn generate<T: JsonSchema>() -> Value {
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.inline_subschemas = true;
    });
    settings
        .into_generator()
        .into_root_schema_for::<T>()
        .to_value()
}

fn simplify(schema: &mut Value) {
    match schema {
        Value::Array(items) => items.iter_mut().for_each(simplify),
        Value::Object(map) => {
            map.values_mut().for_each(simplify);
            without_null(map);
            choices_as_list(map);
            if map.get("default") == Some(&Value::Null) {
                map.remove("default");
            }
            // The width of an integer in memory says nothing to a reader.
            if let Some("uint64" | "uint32" | "uint16" | "double") =
                map.get("format").and_then(Value::as_str)
            {
                map.remove("format");
            }
        }
        _ => {}
    }
}

fn is_null_type(schema: &Value) -> bool {
    schema.get("type").and_then(Value::as_str) == Some("null")
}

fn without_null(map: &mut Map<String, Value>) {
    if let Some(Value::Array(types)) = map.get_mut("type") {
        types.retain(|name| name != "null");
        if let [only] = types.as_slice() {
            let only = only.clone();
            map.insert("type".to_owned(), only);
        }
    }
    if let Some(Value::Array(values)) = map.get_mut("enum") {
        values.retain(|value| !value.is_null());
    }
    let Some(Value::Array(choices)) = map.get_mut("anyOf") else {
        return;
    };
    choices.retain(|choice| !is_null_type(choice));
    if let [Value::Object(only)] = choices.as_slice() {
        let only = only.clone();
        map.remove("anyOf");
        for (key, value) in only {
            // What the field says about itself goes before what its type says.
            map.entry(key).or_insert(value);
        }
    }
}

/// `oneOf` over constants becomes `enum`.
fn choices_as_list(map: &mut Map<String, Value>) {
    let Some(Value::Array(choices)) = map.get("oneOf") else {
        return;
    };
    let mut values = Vec::new();
    for choice in choices {
        match (choice.get("const"), choice.get("enum")) {
            (Some(value), _) => values.push(value.clone()),
            (None, Some(Value::Array(several))) => values.extend(several.iter().cloned()),
            _ => return,
        }
    }
    map.remove("oneOf");
    map.insert("type".to_owned(), Value::from("string"));
    map.insert("enum".to_owned(), Value::from(values));
}

/// The same value with every whole number written as an integer, so that `3.0` is taken wherever
/// the schema takes an integer.
pub fn whole_numbers(value: Value) -> Value {
    /// Beyond this a double cannot represent every integer.
    const EXACT: f64 = 9_007_199_254_740_991.0;
    match value {
        Value::Number(number) if number.is_f64() => match number.as_f64() {
            Some(double) if double.fract() == 0.0 && double.abs() <= EXACT => {
                #[expect(
                    clippy::cast_possible_truncation,
                    reason = "whole and within the range both hold exactly"
                )]
                let integer = double as i64;
                Value::from(integer)
            }
            _ => Value::Number(number),
        },
        Value::Array(items) => items.into_iter().map(whole_numbers).collect(),
        Value::Object(map) => map
            .into_iter()
            .map(|(key, entry)| (key, whole_numbers(entry)))
            .collect::<Map<_, _>>()
            .into(),
        other => other,
    }
}

#[cfg(test)]
#[path = "schema_tests.rs"]
mod tests;
