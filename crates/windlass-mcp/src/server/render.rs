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
    rendered(info, content, Outcome::Done)
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
    rendered(info, content, Outcome::Failed)
}

/// The envelope as text and structure, or as the content blocks that its contract makes of it.
fn rendered(info: &OperationInfo, content: Value, outcome: Outcome) -> CallToolResult {
    let blocks = info.contract.blocks(&content).map(serde_json::from_value);
    match blocks {
        Some(Ok(blocks)) => whole(blocks, outcome),
        Some(Err(error)) => {
            let text = format!("the content of {} is not valid: {error}", info.name);
            whole(vec![ContentBlock::text(text)], Outcome::Failed)
        }
        None => result(info.contract.text(&content), content, outcome),
    }
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
    let mut result = whole(vec![ContentBlock::text(text)], outcome);
    result.structured_content = Some(content);
    result
}

fn whole(blocks: Vec<ContentBlock>, outcome: Outcome) -> CallToolResult {
    match outcome {
        Outcome::Done => CallToolResult::success(blocks),
        Outcome::Failed => CallToolResult::error(blocks),
    }
}
