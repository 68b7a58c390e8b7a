//! The top-level fields of an input schema, for help and reference pages.

use serde_json::Value;

use super::OperationInfo;

/// One top-level field of an input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Field {
    /// The name.
    pub name: String,
    /// The JSON type, or the values it may have: `queued|running`.
    pub kind: String,
    /// Whether an input without it is refused.
    pub required: bool,
    /// What the schema says about it, on one line.
    pub meaning: String,
}

/// The top-level fields of an input schema, the required ones first.
pub fn fields(schema: &Value) -> Vec<Field> {
    let required: Vec<&str> = schema
        .get("required")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    let properties = schema.get("properties").and_then(Value::as_object);
    let mut fields: Vec<Field> = properties
        .into_iter()
        .flatten()
        .map(|(name, property)| Field {
            name: name.clone(),
            kind: kind_of(property),
            required: required.contains(&name.as_str()),
            meaning: property
                .get("description")
                .and_then(Value::as_str)
                .unwrap_or_default()
                .replace('\n', " "),
        })
        .collect();
    fields.sort_by_key(|field| !field.required);
    fields
}

fn kind_of(property: &Value) -> String {
    if let Some(values) = property.get("enum").and_then(Value::as_array) {
        let names: Vec<&str> = values.iter().filter_map(Value::as_str).collect();
        return names.join("|");
    }
    match property.get("type") {
        Some(Value::String(kind)) => kind.clone(),
        Some(Value::Array(kinds)) => {
            let names: Vec<&str> = kinds
                .iter()
                .filter_map(Value::as_str)
                .filter(|kind| *kind != "null")
                .collect();
            names.join("|")
        }
        _ => "any".to_owned(),
    }
}

impl OperationInfo {
    /// The command that calls the operation with that input.
    pub fn call_line(&self, input: &Value) -> String {
        let input = input.to_string().replace('\'', r"'\''");
        format!("windlass ops call {} --input '{input}'", self.name)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn required_fields_come_first() {
        let schema = json!({
            "required": ["run_id"],
            "properties": {
                "limit": { "type": ["integer", "null"], "description": "How many." },
                "run_id": { "type": "string", "description": "The run." },
                "state": { "enum": ["queued", "running"] },
                "anything": {}
            }
        });
        let shown: Vec<String> = fields(&schema)
            .into_iter()
            .map(|field| {
                format!(
                    "{} {} {} {}",
                    field.name, field.kind, field.required, field.meaning
                )
            })
            .collect();
        insta::assert_snapshot!(shown.join("\n"), @r"
        run_id string true The run.
        anything any false 
        limit integer false How many.
        state queued|running false 
        ");
    }
}
