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

/// So many refusals are listed in a message; all of them are in the details.
const MOST_SHOWN: usize = 100;

impl Refusal {
    /// On one line: the place, the message, the suggestion.
    fn line(&self) -> String {
        let hint = self.suggestion.iter().map(|text| format!("; {text}"));
        let hint: String = hint.collect();
        match self.path.as_slice() {
            [] => format!("{}{hint}", self.message),
            path => format!("{}: {}{hint}", path.join("."), self.message),
        }
    }
}

/// Every refusal, in the order of the config's resources; at least one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusals {
    /// The refusals.
    pub list: Vec<Refusal>,
}

impl Refusals {
    /// As a problem: every refusal on a line of its own.
    pub fn to_problem(&self) -> Problem {
        let Some(first) = self.list.first() else {
            return Problem::new(&code::INVALID_INPUT, "the config cannot be compiled");
        };
        let message = match self.list.len() {
            1 => first.line(),
            many => {
                let mut message = format!("the config has {many} errors:");
                let lines = self.list.iter().take(MOST_SHOWN).map(Refusal::line);
                lines.for_each(|line| message.push_str(&format!("\n  {line}")));
                if many > MOST_SHOWN {
                    message.push_str(&format!("\n  {} more", many - MOST_SHOWN));
                }
                message
            }
        };
        Problem::new(&code::INVALID_INPUT, message)
            .with("reason", "config_invalid")
            .with("field", first.path.join("."))
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
