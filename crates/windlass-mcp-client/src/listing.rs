//! The tools of a server: asked for page by page, and shown as the port shows them.

use rmcp::{
    model::{PaginatedRequestParams, Tool},
    service::ServiceError,
};
use serde_json::Value;
use windlass_ports::{ServerTool, ToolHints, ToolStanding};
use windlass_types::Digest;

use crate::{clean, connect::Live};

/// More tools than this are left out.
const MOST_TOOLS: usize = 1000;
const MOST_PAGES: usize = 100;

/// Every page of tools, within bounds. A server that turns in a circle is not followed.
pub(crate) async fn pages(live: &Live) -> Result<Vec<Tool>, ServiceError> {
    let mut tools = Vec::new();
    let mut cursor: Option<String> = None;
    for _ in 0..MOST_PAGES {
        let params = cursor
            .clone()
            .map(|cursor| PaginatedRequestParams::default().with_cursor(Some(cursor)));
        let page = live.peer.list_tools(params).await?;
        tools.extend(page.tools);
        tools.truncate(MOST_TOOLS);
        match page.next_cursor {
            Some(next) if cursor.as_ref() != Some(&next) && tools.len() < MOST_TOOLS => {
                cursor = Some(next);
            }
            _ => break,
        }
    }
    Ok(tools)
}

pub(crate) fn offer(
    server: &str,
    name: String,
    tool: &Tool,
    definition: &Value,
    standing: ToolStanding,
) -> ServerTool {
    let annotations = tool.annotations.as_ref();
    let mut input_schema = Value::Object((*tool.input_schema).clone());
    clean_schema(&mut input_schema);
    ServerTool {
        name,
        server: server.to_owned(),
        tool: tool.name.to_string(),
        description: clean::block(
            tool.description.as_deref().unwrap_or_default(),
            clean::LONGEST_DESCRIPTION,
        ),
        input_schema,
        hints: ToolHints {
            read_only: annotations.and_then(|hints| hints.read_only_hint),
            destructive: annotations.and_then(|hints| hints.destructive_hint),
            open_world: annotations.and_then(|hints| hints.open_world_hint),
        },
        definition: Digest::of_json(definition),
        standing,
    }
}

/// Cleans the texts of a schema that only explain. The others are values that a call must have.
fn clean_schema(schema: &mut Value) {
    match schema {
        Value::Object(entries) => {
            for (key, value) in entries {
                match value {
                    Value::String(text)
                        if matches!(key.as_str(), "description" | "title" | "$comment") =>
                    {
                        *text = clean::block(text, clean::LONGEST_DESCRIPTION);
                    }
                    other => clean_schema(other),
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(clean_schema),
        _ => {}
    }
}
