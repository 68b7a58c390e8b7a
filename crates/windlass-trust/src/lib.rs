//! Trust decisions, kept in the Windlass home, and what they are about.
//!
//! `executables` finds the files of a directory that decide what it would run; `decisions` keeps
//! for which of them the user said yes. Not here: who may decide (windlass-admin), and what is
//! refused without a decision (the code that would run something, through the Trust port).

mod decisions;
mod executables;
mod index;

pub use decisions::TrustFile;
