//! `windlass ops describe`.

use clap::Args;
use serde_json::Value;
use windlass_engine::operation::{Flow, OperationInfo};
use windlass_types::Problem;

use crate::{
    output::{Table, Tone},
    session::{Report, Session},
};

#[derive(Args, Debug)]
pub(crate) struct DescribeArgs {
    /// The operation, by its name or its MCP tool name.
    #[arg(value_name = "OPERATION")]
    name: String,
    /// Print the JSON Schemas of input and output as well.
    #[arg(long)]
    schema: bool,
}

impl DescribeArgs {
    pub(crate) fn run(self, session: &Session) -> Result<Report, Problem> {
        let catalogue = session.catalogue();
        let info = catalogue
            .find(&self.name)
            .ok_or_else(|| catalogue.unknown(&self.name))?;
        let printer = &session.printer;
        printer.data(
            &printer
                .paint()
                .text(Tone::Strong, &format!("{}: {}", info.name, info.title)),
        );
        printer.data(&info.description);
        printer.data("");
        printer.fields(&[
            ("effect", info.effect.as_str().to_owned()),
            ("flow", flow_name(info.flow)),
            ("tool", info.tool.clone()),
            ("scope", info.scope.clone()),
        ]);
        let fields = input_fields(&info.input_schema);
        if !fields.is_empty() {
            printer.data("");
            printer.table(&fields);
        }
        for example in &info.examples {
            printer.data("");
            printer.data(&format!("# {}", example.title));
            printer.data(&call_line(info, &example.input));
        }
        if self.schema {
            printer.data("");
            printer.data(&format!("input: {:#}", *info.input_schema));
            printer.data(&format!("output: {:#}", *info.output_schema));
        }
        let data =
            serde_json::to_value(info).map_err(|error| Problem::internal("operation", error))?;
        Ok(Report::new(info.title.clone(), data))
    }
}

/// How an operation goes about its work, in a word.
pub(crate) fn flow_name(flow: Flow) -> String {
    // The wire name is the word; serialising a unit variant gives exactly it.
    serde_json::to_value(flow)
        .ok()
        .and_then(|value| value.as_str().map(str::to_owned))
        .unwrap_or_default()
}

/// The command that calls an operation with that input.
pub(crate) fn call_line(info: &OperationInfo, input: &Value) -> String {
    let input = input.to_string().replace('\'', r"'\''");
    format!("windlass ops call {} --input '{input}'", info.name)
}

/// The top-level fields of an input schema.
pub(crate) fn input_fields(schema: &Value) -> Table {
    let mut table = Table::new(&["INPUT", "TYPE", "NEEDED", "MEANING"]);
    for field in fields(schema) {
        table.row([
            field.name,
            field.kind,
            if field.required { "yes" } else { "" }.to_owned(),
            field.meaning,
        ]);
    }
    table
}

/// One top-level field of an input.
pub(crate) struct Field {
    pub(crate) name: String,
    pub(crate) kind: String,
    pub(crate) required: bool,
    pub(crate) meaning: String,
}

/// The top-level fields of an input schema, the required ones first.
pub(crate) fn fields(schema: &Value) -> Vec<Field> {
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
