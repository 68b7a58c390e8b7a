//! What the screen reacts to, and what it asks for in return.

use crate::{listing::Listing, question::Question};

/// Something that happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Event {
    /// A key was pressed.
    Key(Key),
    /// The terminal has this many columns and rows.
    Resized(u16, u16),
    /// Time has passed while a call is in progress.
    Tick,
    /// A call came back.
    Answered(Call, Result<Reply, Fault>),
}

/// A key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Key {
    Char(char),
    Up,
    Down,
    Left,
    Right,
    PageUp,
    PageDown,
    Home,
    End,
    Tab,
    BackTab,
    Enter,
    Escape,
    /// Ctrl-C.
    Interrupt,
}

/// Something to be done outside.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Effect {
    Call(Call),
    Quit,
}

/// A call of an operation. Calls are made one after the other, in the order they were asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Call {
    /// The plan, with diffs.
    Plan,
    Drift,
    History,
    /// What one event changed.
    Details(String),
    /// What applying would do.
    TryApply,
    Apply(Adopt),
    /// What undoing the newest event would do.
    TryUndo,
    Undo(String),
    /// What rolling back to a snapshot would do.
    TryRollback(String),
    Rollback(String),
}

impl Call {
    /// Whether files are written.
    pub(crate) const fn writes(&self) -> bool {
        matches!(self, Self::Apply(_) | Self::Undo(_) | Self::Rollback(_))
    }

    /// What is said while it is in progress.
    pub(crate) const fn progress(&self) -> &'static str {
        match self {
            Self::Plan | Self::TryApply => "planning",
            Self::Drift => "looking for drift",
            Self::History | Self::Details(_) => "reading history",
            Self::TryUndo | Self::TryRollback(_) => "looking",
            Self::Apply(_) => "applying",
            Self::Undo(_) => "undoing",
            Self::Rollback(_) => "rolling back",
        }
    }
}

/// What becomes of files in the way that pack did not write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Adopt {
    /// There are none; should one have come up, the operation refuses.
    Nothing,
    /// Exactly these are replaced.
    These(Vec<String>),
    /// They are left alone, the rest is applied.
    LeaveOut,
}

/// What a call answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Reply {
    /// What a tab lists.
    Listing(Listing),
    /// The text about one event.
    Details(String),
    /// What a person has to answer before anything is written.
    Question(Question),
    /// What was written, in a sentence.
    Done(String),
}

/// A failure, in words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Fault {
    pub(crate) code: String,
    pub(crate) message: String,
    /// What to do about it.
    pub(crate) next: Vec<String>,
}
