//! Completion of prompt and resource-template arguments: run ids and tool names.

use rmcp::model::{CompleteRequestParams, CompleteResult, CompletionInfo};
use serde_json::{Value, json};
use windlass_engine::operation::Flow;

use super::{Caller, Server};

/// Runs looked at for a completion.
const RECENT: usize = 100;

/// Values that begin with what was typed. No values is a good answer too.
pub async fn complete(
    server: &Server,
    caller: &Caller,
    request: &CompleteRequestParams,
) -> CompleteResult {
    let typed = request.argument.value.as_str();
    let mut values = match request.argument.name.as_str() {
        "run_id" => recent_runs(server, caller).await,
        "tool" => planning_tools(server),
        _ => Vec::new(),
    };
    values.retain(|value| value.starts_with(typed));
    values.truncate(CompletionInfo::MAX_VALUES);
    CompletionInfo::with_all_values(values)
        .map_or_else(|_| CompleteResult::default(), CompleteResult::new)
}

async fn recent_runs(server: &Server, caller: &Caller) -> Vec<String> {
    // A caller that may not list runs gets no values, not an error: it only typed.
    let Ok(page) = server
        .operate(caller, "runs.list", json!({ "limit": RECENT }))
        .await
    else {
        return Vec::new();
    };
    let runs = page
        .output
        .get("runs")
        .and_then(Value::as_array)
        .map(Vec::as_slice)
        .unwrap_or_default();
    runs.iter()
        .filter_map(|run| run.get("run_id")?.as_str().map(str::to_owned))
        .collect()
}

fn planning_tools(server: &Server) -> Vec<String> {
    server
        .offered()
        .filter(|info| info.flow == Flow::Plan)
        .map(|info| info.tool.clone())
        .collect()
}
