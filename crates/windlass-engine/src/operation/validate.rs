//! Checks input against an operation's schema and says what is wrong in a sentence.
//!
//! Compiled on first use: a process that calls one operation does not pay for all of them.
//! No schema is ever fetched: the validator is built without a network resolver.

use std::sync::OnceLock;

use jsonschema::{ValidationError, Validator, error::ValidationErrorKind};
use serde_json::Value;
use windlass_types::Problem;

use super::{LazySchema, plainly_valid::is_plainly_valid};
use crate::access::{nearest, shown};

pub(super) struct InputValidator {
    schema: LazySchema,
    compiled: OnceLock<Result<Validator, String>>,
}

impl InputValidator {
    pub(super) const fn new(schema: LazySchema) -> Self {
        Self {
            schema,
            compiled: OnceLock::new(),
        }
    }

    pub(super) fn compile(&self) -> Result<&Validator, String> {
        self.compiled
            .get_or_init(|| {
                jsonschema::draft202012::new(&self.schema).map_err(|error| error.to_string())
            })
            .as_ref()
            .map_err(Clone::clone)
    }

    pub(super) fn validate(&self, input: &Value) -> Result<(), Problem> {
        if is_plainly_valid(&self.schema, input) {
            return Ok(());
        }
        let validator = self
            .compile()
            .map_err(|reason| Problem::internal("input schema", reason))?;
        match validator.iter_errors(input).next() {
            None => Ok(()),
            Some(error) => Err(self.explain(&error)),
        }
    }

    fn explain(&self, error: &ValidationError<'_>) -> Problem {
        let place = error.instance_path().as_str();
        let place = shown(place.trim_start_matches('/')).replace('/', ".");
        let constraint = error.kind().keyword().to_owned();
        match error.kind() {
            ValidationErrorKind::Required { property } => {
                let name = property.as_str().unwrap_or_default();
                let field = if place.is_empty() {
                    name.to_owned()
                } else {
                    format!("{place}.{name}")
                };
                Problem::invalid(&field, &constraint, format!("{field:?} is required"))
            }
            ValidationErrorKind::AdditionalProperties { unexpected } => {
                let name = unexpected.first().map(String::as_str).unwrap_or_default();
                let field = if place.is_empty() {
                    shown(name).into_owned()
                } else {
                    format!("{place}.{}", shown(name))
                };
                let known = self.known_fields();
                let message = match nearest(name, known.iter().map(String::as_str)) {
                    Some(near) => format!("{field:?} is not a field here; did you mean {near:?}?"),
                    None => format!(
                        "{field:?} is not a field here; known fields: {}",
                        known.join(", ")
                    ),
                };
                Problem::invalid(&field, &constraint, message)
            }
            _ => {
                let subject = if place.is_empty() {
                    "the input".to_owned()
                } else {
                    format!("{place:?}")
                };
                // `masked` leaves the value out: it may be a secret.
                Problem::invalid(&place, &constraint, error.masked_with(subject).to_string())
            }
        }
    }

    fn known_fields(&self) -> Vec<String> {
        self.schema
            .get("properties")
            .and_then(Value::as_object)
            .map(|properties| properties.keys().cloned().collect())
            .unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn says_which_field_breaks_which_rule() {
        let validator = InputValidator::new(LazySchema::from(json!({
            "type": "object",
            "additionalProperties": false,
            "required": ["run_id"],
            "properties": {
                "run_id": { "type": "string", "minLength": 1 },
                "limit": { "type": "integer", "minimum": 1, "maximum": 100 },
                "state": { "enum": ["queued", "running"] }
            }
        })));
        let cases = [
            json!({}),
            json!({"run_id": 7}),
            json!({"run_id": ""}),
            json!({"run_id": "r", "limit": 0}),
            json!({"run_id": "r", "limt": 3}),
            json!({"run_id": "r", "zzz": 3}),
            json!({"run_id": "r", "state": "gone"}),
            json!([]),
            json!(null),
        ];
        let shown: Vec<String> = cases
            .iter()
            .map(|case| {
                let problem = validator.validate(case).unwrap_err();
                format!(
                    "{case} → {} {}",
                    problem.message(),
                    Value::Object(problem.details().clone())
                )
            })
            .collect();
        insta::assert_snapshot!(shown.join("\n"), @r#"
        {} → "run_id" is required {"constraint":"required","field":"run_id"}
        {"run_id":7} → "run_id" is not of type "string" {"constraint":"type","field":"run_id"}
        {"run_id":""} → "run_id" is shorter than 1 character {"constraint":"minLength","field":"run_id"}
        {"limit":0,"run_id":"r"} → "limit" is less than the minimum of 1 {"constraint":"minimum","field":"limit"}
        {"limt":3,"run_id":"r"} → "limt" is not a field here; did you mean "limit"? {"constraint":"additionalProperties","field":"limt"}
        {"run_id":"r","zzz":3} → "zzz" is not a field here; known fields: limit, run_id, state {"constraint":"additionalProperties","field":"zzz"}
        {"run_id":"r","state":"gone"} → "state" is not one of "queued" or "running" {"constraint":"enum","field":"state"}
        [] → the input is not of type "object" {"constraint":"type","field":""}
        null → the input is not of type "object" {"constraint":"type","field":""}
        "#);
        assert!(
            validator
                .validate(&json!({"run_id": "r", "limit": 5}))
                .is_ok()
        );
    }
}
