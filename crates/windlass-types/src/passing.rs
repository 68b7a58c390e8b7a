//! Passing notices: what a step says while it works, for people who watch now.
//!
//! Never in a journal and without a sequence number: a notice that nobody saw is gone, and
//! nothing may depend on it.

use serde::{Deserialize, Serialize};

use crate::{RunId, Timestamp};

/// How bad a logged line is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LogLevel {
    /// As expected.
    Info,
    /// Worth a look.
    Warning,
    /// Something failed.
    Error,
}

/// What is said.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "passing", rename_all = "snake_case")]
pub enum Passing {
    /// How far the step is.
    Progress {
        /// How much is done.
        done: u64,
        /// Of how much, where that is known.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        total: Option<u64>,
        /// What it is doing.
        message: String,
    },
    /// A piece of a text as it is being written, such as a model's answer.
    Text {
        /// The piece; pieces of one step and stream in order are the text.
        text: String,
        /// Which text, where a step has several: what a model thinks, the output of a call.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        stream: Option<String>,
    },
    /// The texts of the step begin again: what was shown of them counts for nothing.
    Again {
        /// Why.
        message: String,
    },
    /// A line of a log.
    Log {
        /// How bad it is.
        level: LogLevel,
        /// The line.
        message: String,
    },
}

impl Passing {
    /// The longest text of one notice, in bytes.
    pub const LONGEST: usize = 4 * 1024;

    /// The text, for redacting and shortening.
    pub const fn text_mut(&mut self) -> &mut String {
        match self {
            Self::Progress { message, .. }
            | Self::Log { message, .. }
            | Self::Again { message } => message,
            Self::Text { text, .. } => text,
        }
    }
}

/// A notice, with where it comes from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PassingNotice {
    /// The run.
    pub run_id: RunId,
    /// The step of the run.
    pub step: String,
    /// When it was said.
    pub time: Timestamp,
    /// What was said.
    #[serde(flatten)]
    pub what: Passing,
}
