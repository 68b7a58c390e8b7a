//! The short tool list: three tools that find, describe and call the others, and the tools to
//! steer a run. Any operation is two calls away: describe it, call it.
//!
//! Not here: which tool fits a question. The ranking is given to the server; what helps it stands
//! beside each operation.

use rmcp::model::{CallToolRequestParams, CallToolResult, JsonObject, Tool, ToolAnnotations};
use serde_json::{Value, json};
use windlass_engine::operation::OperationInfo;

use super::{
    Caller, Server, ToolMode,
    render::{Outcome, structured},
    schema, tools,
};

/// Run control that is listed by itself, where its toolset is offered.
const RUN_CONTROL: [&str; 5] = [
    "runs_show",
    "runs_watch",
    "runs_cancel",
    "runs_approve",
    "runs_reject",
];
/// Matches returned at most.
const MAX_MATCHES: usize = 10;
/// How much of a description a match shows.
const LONGEST_SUMMARY: usize = 160;
/// How much of a query is read.
const LONGEST_QUERY: usize = 500;

/// What a search over tools knows of one.
#[derive(Clone, Debug)]
pub struct ToolEntry {
    /// Its name.
    pub name: String,
    /// Its title.
    pub title: String,
    /// What people say when they want it.
    pub words: Vec<String>,
    /// Its description.
    pub text: String,
}

/// The places of the tools that fit a question, best first.
pub type ToolSearch = fn(&[ToolEntry], &str) -> Vec<usize>;

/// What a call in lean mode amounts to.
pub enum Lean {
    /// It is answered already.
    Answered(CallToolResult),
    /// It is a call of this tool.
    Call(CallToolRequestParams),
}

/// The short list.
pub fn tools(server: &Server) -> Vec<Tool> {
    let read = ToolAnnotations::new().read_only(true).open_world(false);
    let text = |words: &str| json!({ "type": "string", "description": words });
    let mut list = vec![
        tools::own_tool(
            "search",
            "Finds tools by what you want to do, best match first. An empty query lists them all. Then describe one.",
            object(json!({ "type": "object", "properties": { "query": text("What you want to do, in a few words") } })),
        )
        .with_annotations(read.clone()),
        tools::own_tool(
            "describe",
            "Describes a tool that search found: what it does, its input schema, examples. Then call it.",
            object(json!({ "type": "object", "properties": { "tool": text("Its name") }, "required": ["tool"] })),
        )
        .with_annotations(read),
        tools::own_tool(
            "call",
            "Calls a tool by its name. Changes are planned first: a *_plan tool returns a confirm_token that its *_apply tool takes.",
            object(json!({
                "type": "object",
                "properties": { "tool": text("Its name"), "arguments": { "type": "object" } },
                "required": ["tool"],
            })),
        ),
    ];
    list.extend(
        RUN_CONTROL
            .iter()
            .filter_map(|name| server.find(name))
            .map(short_tool),
    );
    list
}

fn short_tool(info: &OperationInfo) -> Tool {
    let input = object(schema::bare(&info.input_schema));
    let mut tool = Tool::new(info.tool.clone(), info.title.clone(), input);
    tool.annotations = Some(tools::annotations(info));
    tool
}

/// Answers the finding tools and unwraps `call`. Everything else, and everything in full
/// mode, is a call of the tool it names.
pub fn resolve(server: &Server, caller: &Caller, mut request: CallToolRequestParams) -> Lean {
    if server.options.tools == ToolMode::Full {
        return Lean::Call(request);
    }
    let argument = |name: &str| {
        request
            .arguments
            .as_ref()
            .and_then(|arguments| arguments.get(name)?.as_str())
    };
    match request.name.as_ref() {
        "search" => Lean::Answered(search(
            server,
            caller,
            argument("query").unwrap_or_default(),
        )),
        "describe" => Lean::Answered(describe(server, argument("tool").unwrap_or_default())),
        "call" => {
            let mut wrapped = request.arguments.take().unwrap_or_default();
            let Some(Value::String(tool)) = wrapped.remove("tool") else {
                return Lean::Answered(refused(
                    "call needs \"tool\", the name of a tool; search finds it",
                ));
            };
            request.name = tool.into();
            request.arguments = match wrapped.remove("arguments") {
                Some(Value::Object(arguments)) => Some(arguments),
                None | Some(Value::Null) => None,
                Some(_) => return Lean::Answered(refused("\"arguments\" must be an object")),
            };
            Lean::Call(request)
        }
        _ => Lean::Call(request),
    }
}

fn search(server: &Server, caller: &Caller, query: &str) -> CallToolResult {
    let usable: Vec<_> = server
        .offered()
        .filter(|info| caller.principal().has_scope(&info.scope))
        .collect();
    let is_listing = query.trim().is_empty();
    let found: Vec<_> = match server.options.search.filter(|_| !is_listing) {
        None => usable,
        Some(search) => {
            let entries: Vec<_> = usable.iter().map(|info| entry(info)).collect();
            let query: String = query.chars().take(LONGEST_QUERY).collect();
            let places = search(&entries, &query);
            let found = places.into_iter().filter_map(|place| usable.get(place));
            found.copied().collect()
        }
    };
    let total = found.len();
    let shown = match is_listing {
        true => total,
        false => total.min(MAX_MATCHES),
    };
    let tools: Vec<_> = found
        .iter()
        .take(shown)
        .map(|info| {
            let mut found =
                json!({ "tool": info.tool, "title": info.title, "effect": info.effect });
            if !is_listing {
                found["summary"] = json!(summary(&info.description));
            }
            found
        })
        .collect();
    let next = match total {
        0 => "search with other words, or with an empty query for all tools",
        _ => "describe a tool, then call it",
    };
    structured(
        json!({ "tools": tools, "total": total, "next": next }),
        Outcome::Done,
    )
}

fn entry(info: &OperationInfo) -> ToolEntry {
    ToolEntry {
        name: info.tool.clone(),
        title: info.title.clone(),
        words: info.search_words.clone(),
        text: info.description.clone(),
    }
}

/// The first sentence of a description.
fn summary(description: &str) -> String {
    let sentence = description.split_inclusive(". ").next().unwrap_or_default();
    let sentence = sentence.trim_end();
    match sentence.char_indices().nth(LONGEST_SUMMARY) {
        Some((end, _)) => format!("{}…", &sentence[..end]),
        None => sentence.to_owned(),
    }
}

fn describe(server: &Server, tool: &str) -> CallToolResult {
    let Some(info) = server.find(tool) else {
        return refused(&server.unknown_tool(tool).message);
    };
    let description = json!({
        "tool": info.tool,
        "title": info.title,
        "description": info.description,
        "effect": info.effect,
        "flow": info.flow,
        "input_schema": schema::readable(&info.input_schema),
        "examples": info.examples,
    });
    structured(description, Outcome::Done)
}

fn refused(reason: &str) -> CallToolResult {
    structured(
        json!({ "ok": false, "error": { "code": "INVALID_INPUT", "message": reason } }),
        Outcome::Failed,
    )
}

fn object(value: Value) -> JsonObject {
    match value {
        Value::Object(object) => object,
        _ => JsonObject::new(),
    }
}
