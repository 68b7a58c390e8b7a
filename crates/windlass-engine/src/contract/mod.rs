//! Contracts: how the answers and failures of a toolset look to callers.
//!
//! There is one internal failure type, `Problem`. A domain that follows a contract of its own
//! implements [`Contract`] beside its operations; the others use [`Plain`]. Which paths and which
//! MCP server identity a domain has is in [`http`] and [`mcp`].

pub mod http;
pub mod mcp;
mod plain;

use std::fmt;

use serde_json::{Map, Value, json};
use windlass_types::{Code, Problem};

pub use plain::Plain;

/// What an envelope may mention besides the answer itself.
#[derive(Clone, Copy, Debug)]
pub struct EnvelopeContext<'a> {
    /// The operation's name.
    pub operation: &'a str,
    /// The id of the request.
    pub request_id: &'a str,
    /// What the operation was called with; null unless the contract's envelope shows input.
    pub input: &'a Value,
}

/// The wire format of a toolset.
pub trait Contract: fmt::Debug + Send + Sync {
    /// The number of the contract in the documentation; `None` for Windlass's own format.
    fn number(&self) -> Option<&'static str>;

    /// The wire form of an answer.
    fn success(&self, _context: EnvelopeContext<'_>, output: Value) -> Value {
        output
    }

    /// The wire form of a failure.
    fn failure(&self, context: EnvelopeContext<'_>, problem: &Problem) -> Value;

    /// The name a code has in this contract.
    fn code_name(&self, code: &'static Code) -> &'static str;

    /// The HTTP status of a failure.
    fn http_status(&self, problem: &Problem) -> u16 {
        problem.code().http_status
    }

    /// The envelope as text, the way its readers expect it.
    fn text(&self, envelope: &Value) -> String {
        envelope.to_string()
    }

    /// The content blocks of an answer for MCP, where they are more than the envelope as text:
    /// pictures, sound, links.
    fn blocks(&self, _envelope: &Value) -> Option<Value> {
        None
    }

    /// The schema of an answer whose output has this schema, which requires no member.
    fn success_schema(&self, output: Value) -> Value {
        output
    }

    /// The schema of a failure.
    fn failure_schema(&self) -> Value;

    /// The schema of an answer in the OpenAPI document. There the output's schema keeps its
    /// required members, so an envelope that moves members out of the output cannot refer to it.
    fn document_schema(&self, output: Value) -> Value {
        self.success_schema(output)
    }

    /// Whether the envelope depends on the input of the call.
    fn shows_input(&self) -> bool {
        false
    }

    /// Whether an MCP result says which trace and span the call belongs to.
    fn shows_trace(&self) -> bool {
        false
    }
}

/// An object schema that requires these members.
pub fn object_schema<const N: usize>(members: [(&str, Value); N]) -> Value {
    let names: Vec<&str> = members.iter().map(|(name, _)| *name).collect();
    let properties: Map<String, Value> = members
        .iter()
        .map(|(name, schema)| ((*name).to_owned(), schema.clone()))
        .collect();
    json!({ "type": "object", "properties": properties, "required": names })
}
