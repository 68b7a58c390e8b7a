//! `windlass ops describe`.

use clap::Args;
use serde_json::Value;
use windlass_engine::operation::{OperationInfo, fields};
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
            ("flow", info.flow.as_str().to_owned()),
            ("tool", tool(info)),
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
            printer.data(&info.call_line(&example.input));
        }
        if self.schema {
            printer.data("");
            printer.data(&format!("input: {:#}", *info.input_schema));
            printer.data(&format!("output: {:#}", *info.output_schema));
        }
        let mut data =
            serde_json::to_value(info).map_err(|error| Problem::internal("operation", error))?;
        if !info.is_tool {
            data["tool"] = Value::Null;
        }
        Ok(Report::new(info.title.clone(), data))
    }
}

/// The MCP tool, if the operation is one.
fn tool(info: &OperationInfo) -> String {
    match info.is_tool {
        true => info.tool.clone(),
        false => "none: not offered to MCP clients by this name".to_owned(),
    }
}

/// The top-level fields of an input schema.
fn input_fields(schema: &Value) -> Table {
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
