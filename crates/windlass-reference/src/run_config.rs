//! `docs/reference/run-config.md`: every field of a launch's configuration, from its schema.

use std::path::PathBuf;

use serde_json::Value;
use windlass_engine::operation::{OperationInfo, fields};

use super::{BANNER, Document, cell};

const OPERATION: &str = "launch.start_run";

/// The page, where there are launches.
pub(super) fn document(infos: &[&OperationInfo]) -> Option<Document> {
    let start = infos.iter().find(|info| info.name == OPERATION)?;
    let schema = start.input_schema.pointer("/properties/run_config")?;
    let mut page = format!("{BANNER}# run_config\n\n");
    page.push_str(
        "What a launch is asked to do. Unknown fields are refused. \
         How they are used: [site launches](../launch.md).\n\n\
         | field | type | default | meaning |\n|---|---|---|---|\n",
    );
    rows("", schema, &mut page);
    Some((PathBuf::from("docs/reference/run-config.md"), page))
}

/// One row per field; what an object holds follows it.
fn rows(prefix: &str, schema: &Value, page: &mut String) {
    for field in fields(schema) {
        let property = &schema["properties"][&field.name];
        let name = format!("{prefix}{}", field.name);
        let inner = property.get("properties").is_some();
        let default = match property.get("default") {
            _ if field.required => "**required**".to_owned(),
            // The fields below say it, each for itself.
            Some(Value::Object(_)) | None => String::new(),
            Some(default) => format!("`{default}`"),
        };
        page.push_str(&format!(
            "| `{name}` | {} | {} | {} |\n",
            cell(&kind(property, &field.kind)),
            cell(&default),
            cell(&field.meaning)
        ));
        if inner {
            rows(&format!("{name}."), property, page);
        }
    }
}

/// A list says what it is a list of.
fn kind(property: &Value, kind: &str) -> String {
    let items = property.get("items").filter(|_| kind == "array");
    let Some(items) = items else {
        return kind.to_owned();
    };
    let values = items.get("enum").and_then(Value::as_array);
    let values: Vec<&str> = values
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    if values.is_empty() {
        let item = items.get("type").and_then(Value::as_str).unwrap_or("any");
        format!("list of {item}")
    } else {
        format!("list of {}", values.join("|"))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use windlass_engine::operation::operation;

    use super::*;

    #[test]
    fn fields_within_fields_are_listed() {
        let config = json!({
            "type": "object",
            "required": ["product_name"],
            "properties": {
                "product_name": { "type": "string", "description": "The name." },
                "sections": { "type": "array", "items": { "enum": ["docs", "kb"] } },
                "paths": { "type": "array", "items": { "type": "string" }, "default": ["a"] },
                "budgets": {
                    "type": "object", "default": { "max": 3 }, "description": "Limits.",
                    "properties": { "max": { "type": "integer", "default": 3 } },
                },
            },
        });
        let made = operation("launch", "start_run")
            .input_schema(json!({ "properties": { "run_config": config } }))
            .handle(|_, _: Value| async { Ok(json!({})) });
        let (_, page) = document(&[made.info()]).unwrap();
        let table: Vec<&str> = page
            .lines()
            .filter(|line| line.starts_with("| `"))
            .collect();
        insta::assert_snapshot!(table.join("\n"), @r#"
        | `product_name` | string | **required** | The name. |
        | `budgets` | object |  | Limits. |
        | `budgets.max` | integer | `3` |  |
        | `paths` | list of string | `["a"]` |  |
        | `sections` | list of docs\|kb |  |  |
        "#);
        assert!(document(&[]).is_none());
    }
}
