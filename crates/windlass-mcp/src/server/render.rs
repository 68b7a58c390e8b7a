//! Answers and failures of operations as tool results: the toolset's envelope, once as
//! structured content and once as text, with the same JSON.

use rmcp::model::{CallToolResult, ContentBlock};
use serde_json::Value;
use windlass_engine::{contract::EnvelopeContext, operation::OperationInfo};
use windlass_types::Problem;

/// An answer.
pub fn success(
    info: &OperationInfo,
    request_id: &str,
    input: &Value,
    output: Value,
) -> CallToolResult {
    let context = EnvelopeContext {
        operation: &info.name,
        request_id,
        input,
    };
    let content = info.contract.success(context, output);
    result(info.contract.text(&content), content, Outcome::Done)
}

/// A failure, for the model to read and act on.
pub fn failure(
    info: &OperationInfo,
    request_id: &str,
    input: &Value,
    problem: &Problem,
) -> CallToolResult {
    let context = EnvelopeContext {
        operation: &info.name,
        request_id,
        input,
    };
    let content = info.contract.failure(context, problem);
    result(info.contract.text(&content), content, Outcome::Failed)
}

/// How a tool call ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    Done,
    Failed,
}

/// A result with this content.
pub fn structured(content: Value, outcome: Outcome) -> CallToolResult {
    result(content.to_string(), content, outcome)
}

fn result(text: String, content: Value, outcome: Outcome) -> CallToolResult {
    let text = vec![ContentBlock::text(text)];
    let mut result = match outcome {
        Outcome::Done => CallToolResult::success(text),
        Outcome::Failed => CallToolResult::error(text),
    };
    result.structured_content = Some(content);
    result
}
