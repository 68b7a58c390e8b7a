//! `docs/reference/operations.json` and `operations.md`: the catalogue, for programs and people.

use std::path::PathBuf;

use serde_json::json;
use windlass_engine::operation::{OperationInfo, fields};
use windlass_types::Problem;

use super::{BANNER, Document, cell};

pub(super) fn documents(infos: &[&OperationInfo]) -> Result<Vec<Document>, Problem> {
    let json = serde_json::to_value(infos)
        .map_err(|error| Problem::internal("operation catalogue", error))?;
    Ok(vec![
        (
            PathBuf::from("docs/reference/operations.json"),
            format!("{:#}\n", json!({ "operations": json })),
        ),
        (PathBuf::from("docs/reference/operations.md"), page(infos)),
    ])
}

fn page(infos: &[&OperationInfo]) -> String {
    let mut page = format!("{BANNER}# Operations\n\n");
    page.push_str("The one list that the command line, MCP and the HTTP API offer.\n\n");
    page.push_str("| operation | MCP tool | effect | flow | scope | what it is for |\n|---|---|---|---|---|---|\n");
    for info in infos {
        page.push_str(&format!(
            "| [`{}`](#{}) | `{}` | {} | {} | `{}` | {} |\n",
            info.name,
            info.name.replace('.', ""),
            info.tool,
            info.effect.as_str(),
            info.flow.as_str(),
            info.scope,
            cell(&info.title)
        ));
    }
    for info in infos {
        page.push_str(&format!("\n## {}\n\n{}\n", info.name, info.description));
        let fields = fields(&info.input_schema);
        if !fields.is_empty() {
            page.push_str("\n| input | type | needed | meaning |\n|---|---|---|---|\n");
        }
        for field in fields {
            page.push_str(&format!(
                "| `{}` | {} | {} | {} |\n",
                field.name,
                cell(&field.kind),
                if field.required { "yes" } else { "" },
                cell(&field.meaning)
            ));
        }
        page.push_str(&format!(
            "\nSchemas: [input](../../schemas/operations/{name}.input.json), \
             [output](../../schemas/operations/{name}.output.json).\n",
            name = info.name
        ));
        for example in &info.examples {
            page.push_str(&format!(
                "\n{}:\n\n```sh\n{}\n```\n",
                example.title,
                info.call_line(&example.input)
            ));
        }
    }
    page
}
