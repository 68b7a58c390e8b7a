//! One call of an operation: who asks, through what, and what they get.

use std::path::PathBuf;

use serde_json::Value;
use windlass_types::{Principal, RunId, Surface};

/// Who calls, and how.
#[derive(Clone, Debug)]
pub struct CallContext {
    /// The caller.
    pub principal: Principal,
    /// The surface the call came through.
    pub surface: Surface,
    /// An id that ties logs, errors and the audit entry together.
    pub request_id: String,
    /// The directory the caller works in, where it has one: the shell's, or the one a server
    /// was started for.
    pub directory: Option<PathBuf>,
}

/// A call.
#[derive(Clone, Debug)]
pub struct CallRequest {
    /// The operation's name or its tool name.
    pub operation: String,
    /// The input.
    pub input: Value,
    /// Who calls, and how.
    pub context: CallContext,
}

/// What an operation gives back.
#[derive(Clone, Debug)]
pub struct Answer {
    /// The output, before the envelope.
    pub output: Value,
    /// The run it started or touched; surfaces follow it for progress and tasks.
    pub run_id: Option<RunId>,
}

impl Answer {
    /// An answer with no run behind it.
    pub const fn plain(output: Value) -> Self {
        Self {
            output,
            run_id: None,
        }
    }
}
