//! The short tool list: three tools that find, describe and call the others, and the tools to
//! steer a run. Any operation is two calls away: describe it, call it.

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
const MAX_MATCHES: usize = 20;

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
            "Finds tools by words. An empty query lists them all.",
            object(json!({ "type": "object", "properties": { "query": text("What you want to do") } })),
        )
        .with_annotations(read.clone()),
        tools::own_tool(
            "describe",
            "Describes a tool: what it does, its input schema, examples.",
            object(json!({ "type": "object", "properties": { "tool": text("Its name") }, "required": ["tool"] })),
        )
        .with_annotations(read),
        tools::own_tool(
            "call",
            "Calls a tool. Changes are planned first: a *_plan tool returns a confirm_token that its *_apply tool takes.",
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
    let words: Vec<_> = query.split_whitespace().map(str::to_lowercase).collect();
    let mut matches: Vec<_> = server
        .offered()
        .filter(|info| caller.principal().has_scope(&info.scope))
        .map(|info| (score(info, &words), info))
        .filter(|(score, _)| words.is_empty() || *score > 0)
        .collect();
    // Stable: equals stay in the catalogue's order.
    matches.sort_by_key(|(score, _)| std::cmp::Reverse(*score));
    let total = matches.len();
    let shown = if words.is_empty() {
        total
    } else {
        total.min(MAX_MATCHES)
    };
    let found: Vec<_> = matches
        .iter()
        .take(shown)
        .map(|(_, info)| json!({ "tool": info.tool, "title": info.title, "effect": info.effect }))
        .collect();
    structured(
        json!({ "tools": found, "total": total, "next": "describe a tool, then call it" }),
        Outcome::Done,
    )
}

/// How well an operation fits: the name counts most, then the title, then the description.
fn score(info: &OperationInfo, words: &[String]) -> usize {
    let fields = [(&info.tool, 4), (&info.title, 2), (&info.description, 1)];
    let fields = fields.map(|(text, weight)| (text.to_lowercase(), weight));
    words
        .iter()
        .flat_map(|word| {
            fields
                .iter()
                .filter(|(text, _)| text.contains(word.as_str()))
                .map(|(_, weight)| weight)
        })
        .sum()
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
        "input_schema": *info.input_schema,
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
