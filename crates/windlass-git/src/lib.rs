//! Git repositories behind the Git port.
//!
//! The only crate that starts the git program. Domains see the port and never a command line.
//! The user's own git runs, with the user's configuration and credential helpers; it never
//! prompts, never reads this process's input and never runs longer than its time limit. Programs
//! that a repository names run only where the user has trusted it (`guard`), and never for calls
//! about repositories of others (`foreign`). The
//! cheap questions (`shortcut`) are answered without a process where the answer is certain.

mod branch;
mod change;
mod environment;
mod export;
mod foreign;
mod guard;
mod object;
mod program;
mod query;
mod release;
mod shortcut;
mod transfer;

pub use program::{DEFAULT_TIMEOUT, GitProgram};
