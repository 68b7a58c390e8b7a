//! Other programs: found on a `PATH`, started in a group of their own, ended when their time is
//! up or when this program ends, however it ends.
//!
//! What adapters that call programs have in common. Not here: which program, with what
//! arguments and environment, and what its output means.

mod find;
mod guard;
mod run;
mod workplace;

use std::{ffi::OsStr, process::Command};

pub use find::{absolute_entries, find};
pub use run::{Bounds, Ended, Following, Output, Running, Stragglers, run, start};
pub use workplace::Workplace;

/// A command for a program. The one place of the shipped program where one is made, so that a
/// reader finds every program that Windlass starts by its callers. What it inherits has no relative
/// entries in `PATH`: they would mean the directory the program works in.
pub fn command(program: impl AsRef<OsStr>) -> Command {
    let mut command = Command::new(program);
    if let Some(path) = std::env::var_os("PATH") {
        command.env("PATH", absolute_entries(&path));
    }
    command
}
