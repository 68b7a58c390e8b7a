//! What stands in the conversation where a call has no result of its own.

use windlass_ports::{Part, ToolCall, ToolResult};

/// The call was cancelled before it ended.
pub const CANCELLED: &str = "TOOL_CALL_CANCELLED";
/// A person or the policy refused the call.
pub const REJECTED: &str = "TOOL_CALL_REJECTED";
/// The process died while the call ran.
pub const INTERRUPTED: &str = "TOOL_CALL_INTERRUPTED";
/// The arguments are not JSON, or not what the tool takes.
pub const INVALID_ARGUMENTS: &str = "INVALID_ARGUMENTS";
/// Text that was cut to make room.
pub const TRIMMED: &str = "[trimmed]";

/// An error result of two parts: a code, then what it means.
pub fn placeholder(call: &ToolCall, code: &str, message: &str) -> ToolResult {
    let message = Some(message).filter(|message| !message.is_empty());
    ToolResult {
        call_id: call.id.clone(),
        name: call.name.clone(),
        parts: std::iter::once(code)
            .chain(message)
            .map(Part::text)
            .collect(),
        is_error: true,
    }
}
