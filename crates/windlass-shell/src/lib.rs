//! What a shell command line would run, as plain data: every simple command in every position,
//! with its words, assignments and redirections, and how the shell gets there.
//!
//! Pure: nothing runs, nothing is looked up. Not here: whether a command may run (windlass-policy).
//!
//! A reader of the result may rely on this: a script without [`Concern`]s runs the listed commands
//! and no others. Whatever is not understood for certain is a concern, so that the caller asks.

mod checks;
mod interpreters;
mod limits;
mod model;
mod tree;
mod variables;
mod walk;
mod word;
mod wrappers;

pub use interpreters::is_interpreter;
pub use limits::{MAX_BYTES, MAX_COMMANDS, MAX_LEVEL, MAX_NESTING};
pub use model::{
    Assignment, Command, Concern, ConcernKind, Input, Kind, Redirect, RedirectKind, Role, Script,
    Via, Word,
};
pub use variables::is_risky_variable;

/// What a command line would run. Never fails: what is not understood is among the concerns.
pub fn parse(line: &str) -> Script {
    walk::script(line)
}

#[cfg(test)]
#[path = "bash_tests.rs"]
mod bash_tests;
#[cfg(test)]
#[path = "parse_tests.rs"]
mod tests;
