//! An agent's tools: what a call would touch, doing it within bounds, and taking it back.
//!
//! A call passes three doors. [`Tools::look`] checks the arguments and says what policy has to know,
//! without doing anything. [`Tools::run`] does it, inside the directories that the session opened, and
//! returns what the model is told and what changed. [`undo`](undo()) restores the files of one call, unless
//! others changed them since. Not here: who may (windlass-policy), in what order (windlass-agent-loop),
//! hiding secrets (the caller's [`Hiding`]), confinement (the sandbox behind the port).
//!
//! Still to come: remote commands, Slack and subagents. They are a [`Tool`] each, added by
//! [`Tools::with`].

mod arguments;
mod ask;
mod command;
mod context;
mod create;
mod docs;
mod failure;
mod files;
mod look;
mod outcome;
mod password;
mod places;
mod protected;
mod registry;
mod remove;
mod replace;
mod schema;
mod skill;
mod spill;
mod tool;
mod undo;
mod view;
mod web;

#[cfg(test)]
#[path = "support_tests.rs"]
mod test_support;

pub use ask::{Answer, AskedOption, Question, Questions};
pub use command::{TASKS_AT_ONCE, Task, TaskState, Tasks};
pub use context::{
    CommandSandbox, Context, DocHit, DocQuery, Docs, Hiding, Progress, Secrets, SkillText, Skills,
    Stream, Veil, Watcher,
};
pub use failure::{Code, Failure};
pub use files::{FileChange, FileState};
pub use look::{Look, markers};
pub use outcome::{Outcome, Ran, Spilled};
pub use places::Places;
pub use registry::{Tools, Unfit};
pub use spill::Spills;
pub use tool::Tool;
pub use undo::{Undone, undo};
