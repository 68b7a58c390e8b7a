//! What a session wants to be done.

use serde::{Deserialize, Serialize};
use windlass_ports::{ModelRequest, ToolCall};

use crate::{Notice, budget::NoRoom, budget::Reservation};

/// Something to do. Effects of one event are done in order.
#[derive(Clone, Debug, PartialEq)]
pub enum Effect {
    /// Tell watchers.
    Tell(Notice),
    /// Ask the model; answered by `Answered` or `AnswerFailed`.
    CallModel {
        /// What is asked.
        request: Box<ModelRequest>,
        /// What it may cost.
        reserved: Reservation,
    },
    /// Ask the policy; answered by `Decided`.
    Decide(Vec<ToolCall>),
    /// Run calls; each answered by `ToolEnded`.
    RunTools(Vec<Run>),
    /// Ask a person; answered by `HumanDecided`.
    AskHuman(Vec<Ask>),
    /// Wait for the user: `User`, or another request of theirs.
    AwaitUser,
    /// The session cannot go on by itself.
    Stop(Outcome),
}

/// A call to run.
#[derive(Clone, Debug, PartialEq)]
pub struct Run {
    /// The call.
    pub call: ToolCall,
    /// Whether it may run beside others of its list.
    pub reads_only: bool,
}

/// A call to ask about.
#[derive(Clone, Debug, PartialEq)]
pub struct Ask {
    /// The call.
    pub call: ToolCall,
    /// Why it is asked.
    pub reason: String,
}

/// Why a session cannot go on by itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "outcome", rename_all = "snake_case")]
pub enum Outcome {
    /// The steps are used up.
    MaxSteps,
    /// The budget is.
    BudgetExhausted {
        /// Which part of it.
        what: NoRoom,
    },
    /// The conversation does not fit, however much is cut.
    ContextExhausted,
    /// The model declines.
    Refused,
    /// The model does not answer.
    Failed {
        /// One word.
        reason: String,
        /// For people.
        message: String,
    },
}
