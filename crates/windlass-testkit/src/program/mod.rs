//! A run kind that does what its input says, over a small world that can be looked at.
//!
//! Programs are data, so tests and property tests make up any shape of run without writing
//! run code. The world is a `Ledger`: cells that effects set and undo.

mod domain;
mod interpret;
mod ledger;

pub use domain::{FnDomain, KIND, ProgramDomain, fn_kind};
pub use ledger::Ledger;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// One call of the run context.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "op", rename_all = "snake_case")]
pub enum Op {
    /// A pure step that counts the results so far.
    Count {
        /// The step's name.
        name: String,
    },
    /// An effect that sets a cell, with an undo.
    Set {
        /// The cell, which also names the step.
        cell: String,
        /// The value.
        value: i64,
    },
    /// The same without an undo.
    Keep {
        /// The cell, which also names the step.
        cell: String,
        /// The value.
        value: i64,
    },
    /// The same, after the world has refused a few times.
    Flaky {
        /// The cell, which also names the step.
        cell: String,
        /// The value.
        value: i64,
        /// How often the world refuses.
        refusals: u32,
        /// How many tries the step has.
        tries: u32,
    },
    /// A timer.
    Sleep {
        /// Its name.
        name: String,
        /// How long.
        seconds: u64,
    },
    /// A wait for a signal; returns its payload, or null when the time ran out.
    Wait {
        /// Its name, which is also the signal's.
        signal: String,
        /// How long at most.
        seconds: Option<u64>,
    },
    /// A wait for a person's yes.
    Approval {
        /// Its name.
        name: String,
    },
    /// A domain event.
    Emit {
        /// Its name.
        name: String,
        /// Its content.
        text: String,
    },
    /// A text artifact.
    Artifact {
        /// Its name.
        name: String,
        /// Its content.
        text: String,
    },
    /// A webhook.
    Notify {
        /// Its name.
        name: String,
        /// Where to.
        url: String,
    },
    /// A webhook signed with a secret of this name.
    NotifySigned {
        /// Its name.
        name: String,
        /// Where to.
        url: String,
        /// The secret's name.
        secret_name: String,
    },
    /// A child run of the same kind.
    Child {
        /// The name of the call.
        name: String,
        /// The child's program.
        program: Vec<Op>,
    },
    /// Two programs at the same time.
    Both {
        /// One.
        left: Vec<Op>,
        /// The other.
        right: Vec<Op>,
    },
    /// A failure of the code itself.
    Fail,
    /// A panic of the code itself.
    Panic,
    /// A panic in the middle of an effect, after the cell was set.
    PanicIn {
        /// The cell, which also names the step.
        cell: String,
    },
    /// An effect whose undo fails.
    Stuck {
        /// The cell, which also names the step.
        cell: String,
    },
    /// An effect whose undo panics.
    PanicInUndo {
        /// The cell, which also names the step.
        cell: String,
    },
}

impl Op {
    /// Sets a cell.
    pub fn set(cell: &str, value: i64) -> Self {
        Self::Set {
            cell: cell.to_owned(),
            value,
        }
    }

    /// Sleeps.
    pub fn sleep(name: &str, seconds: u64) -> Self {
        Self::Sleep {
            name: name.to_owned(),
            seconds,
        }
    }

    /// Runs a child.
    pub fn child(name: &str, program: impl Into<Vec<Self>>) -> Self {
        Self::Child {
            name: name.to_owned(),
            program: program.into(),
        }
    }

    /// Waits for a person's yes.
    pub fn approval(name: &str) -> Self {
        Self::Approval {
            name: name.to_owned(),
        }
    }

    /// Waits for a signal.
    pub fn wait(signal: &str, seconds: Option<u64>) -> Self {
        Self::Wait {
            signal: signal.to_owned(),
            seconds,
        }
    }
}

/// The input of a run that executes these.
pub fn input(program: &[Op]) -> Value {
    json!({ "program": program })
}
