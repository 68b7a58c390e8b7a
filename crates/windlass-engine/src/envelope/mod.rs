//! Wire envelopes: how an answer or a failure looks in each toolset.
//!
//! There is one internal failure type, `Problem`; contracts prescribe five shapes and four
//! sets of code names. Each shape is one file here, with its table from our codes to its own.

mod docs;
mod launch;
mod pack;
mod pipeline;
mod plain;
mod stack;

use serde_json::Value;
use windlass_types::{Code, Problem};

/// What an envelope may mention besides the answer itself.
#[derive(Clone, Copy, Debug)]
pub struct EnvelopeContext<'a> {
    /// The operation's name.
    pub operation: &'a str,
    /// The id of the request.
    pub request_id: &'a str,
    /// What the operation was called with.
    pub input: &'a Value,
}

/// The envelope of a toolset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Envelope {
    /// Windlass's own: the answer itself, or `{ok:false, error:{…}}`.
    Plain,
    /// Contract 000: `{ok, code, message, data, rawTail, nextActions}`.
    Stack,
    /// Contract 000, questions to the documentation: the answer itself, or an answer that says
    /// what is wrong.
    Docs,
    /// Contract 001: the answer itself, or `{error:{code, message, details, request_id}}`.
    Pipeline,
    /// Contract 003: `{schema_version, ok, command, version, data, warnings, errors}`.
    Pack,
    /// Contract 004: `{ok, run_id, …}` or `{ok:false, run_id, error:{…, retryable, …}}`.
    Launch,
}

impl Envelope {
    /// The wire form of an answer.
    pub fn success(self, context: EnvelopeContext<'_>, output: Value) -> Value {
        match self {
            Self::Plain | Self::Pipeline | Self::Docs => output,
            Self::Stack => stack::success(output),
            Self::Pack => pack::success(context, output),
            Self::Launch => launch::success(output),
        }
    }

    /// The wire form of a failure.
    pub fn failure(self, context: EnvelopeContext<'_>, problem: &Problem) -> Value {
        match self {
            Self::Plain => plain::failure(context, problem),
            Self::Stack => stack::failure(problem),
            Self::Docs => docs::failure(problem),
            Self::Pipeline => pipeline::failure(context, problem),
            Self::Pack => pack::failure(context, problem),
            Self::Launch => launch::failure(problem),
        }
    }

    /// The HTTP status of a failure.
    pub fn http_status(self, problem: &Problem) -> u16 {
        match self {
            Self::Pipeline => pipeline::http_status(problem),
            Self::Plain | Self::Stack | Self::Docs | Self::Pack | Self::Launch => {
                problem.code().http_status
            }
        }
    }

    /// The envelope as text, the way its readers expect it.
    pub fn text(self, envelope: &Value) -> String {
        match self {
            Self::Pack => pack::text(envelope),
            Self::Plain | Self::Stack | Self::Docs | Self::Pipeline | Self::Launch => {
                envelope.to_string()
            }
        }
    }

    /// The name a code has in this envelope.
    pub fn code_name(self, code: &'static Code) -> &'static str {
        match self {
            Self::Plain => code.name,
            Self::Stack | Self::Docs => stack::code_name(code),
            Self::Pipeline => pipeline::code_name(code),
            Self::Pack => pack::code_name(code),
            Self::Launch => launch::code_name(code),
        }
    }
}

#[cfg(test)]
#[path = "envelope_tests.rs"]
mod tests;
