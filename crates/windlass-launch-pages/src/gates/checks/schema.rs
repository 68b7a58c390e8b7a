//! Schema: every JSON artifact against its schema.

use crate::gates::{
    finding::{Checked, Finding, Limit},
    input::{ArtifactFile, GateInput},
    outside::GateFault,
    run::Gate,
};

const FAILED: &str = "GATE_SCHEMA_VALIDATION_FAILED";

/// How many faults of one artifact are reported.
const MOST: usize = 20;

/// The gate.
pub struct Schema;

impl Gate for Schema {
    fn name(&self) -> &'static str {
        "Schema"
    }

    fn limit(&self) -> Limit {
        Limit::PerFile(30, 60)
    }

    fn files(&self, input: &GateInput) -> usize {
        input.artifacts.len()
    }

    fn check(&self, input: &GateInput) -> Result<Checked, GateFault> {
        let mut findings = Vec::new();
        for artifact in &input.artifacts {
            if input.stopped() {
                break;
            }
            findings.extend(faults(artifact)?);
        }
        Ok(Checked::Ran(findings))
    }
}

fn faults(artifact: &ArtifactFile) -> Result<Vec<Finding>, GateFault> {
    let name = artifact.name.as_str();
    let value = match serde_json::from_slice(&artifact.bytes) {
        Ok(value) => value,
        Err(error) => {
            let message = format!("{name} is not JSON: {error}.");
            return Ok(vec![Finding::artifact(FAILED, name, "", message)]);
        }
    };
    let validator =
        jsonschema::draft202012::new(&artifact.schema).map_err(|error| GateFault::Failed {
            gate: "Schema".to_owned(),
            cause: format!("the schema of {name} is not usable: {error}"),
        })?;
    let mut found: Vec<(String, String)> = validator
        .iter_errors(&value)
        .map(|error| (error.instance_path().to_string(), error.to_string()))
        .collect();
    found.sort();
    found.truncate(MOST);
    Ok(found
        .into_iter()
        .map(|(pointer, why)| {
            let at = if pointer.is_empty() {
                "its root"
            } else {
                &pointer
            };
            let message = format!("{name} breaks its schema at {at}: {why}.");
            Finding::artifact(FAILED, name, &pointer, message)
        })
        .collect())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::gates::sample::{codes, subject};

    #[test]
    fn artifacts_must_satisfy_their_schema() {
        let schema =
            json!({"type": "object", "required": ["a"], "properties": {"a": {"type": "integer"}}});
        let cases: [(&str, usize); 4] = [
            ("{\"a\": 1}", 0),
            ("{\"a\": \"x\"}", 1),
            ("{}", 1),
            ("{", 1),
        ];
        for (text, expected) in cases {
            let mut subject = subject();
            subject.artifacts = vec![ArtifactFile {
                name: "x.json".to_owned(),
                bytes: text.as_bytes().to_vec(),
                schema: schema.clone(),
            }];
            assert_eq!(codes(&Schema, subject), vec![FAILED; expected], "{text}");
        }
    }
}
