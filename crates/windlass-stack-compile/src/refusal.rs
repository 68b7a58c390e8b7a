//! Why a config cannot become a template, and what to know about one that can.

use serde::Serialize;
use serde_json::json;
use windlass_types::{Problem, code};

/// One thing that cannot be compiled.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Refusal {
    /// Where in the config, key by key.
    pub path: Vec<String>,
    /// What cannot be, and why.
    pub message: String,
    /// What to do.
    pub suggestion: Option<String>,
}

/// Every refusal, in the order of the config's resources; at least one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusals {
    /// The refusals.
    pub list: Vec<Refusal>,
}

impl Refusals {
    /// As a problem: the first one's message, all of them in the details.
    pub fn to_problem(&self) -> Problem {
        let Some(first) = self.list.first() else {
            return Problem::new(&code::INVALID_INPUT, "the config cannot be compiled");
        };
        let more = match self.list.len() - 1 {
            0 => String::new(),
            1 => " (and 1 more error)".to_owned(),
            more => format!(" (and {more} more errors)"),
        };
        let hint = first
            .suggestion
            .as_ref()
            .map(|suggestion| format!("; {suggestion}"))
            .unwrap_or_default();
        let path = first.path.join(".");
        Problem::new(
            &code::INVALID_INPUT,
            format!("{path}: {}{hint}{more}", first.message),
        )
        .with("reason", "config_invalid")
        .with("field", path)
        .with("faults", json!(self.list))
    }
}

/// Something to know about a config that compiles.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Remark {
    /// Where in the config, key by key.
    pub path: Vec<String>,
    /// What to know.
    pub message: String,
}
