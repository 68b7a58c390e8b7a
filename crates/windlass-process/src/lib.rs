//! Other programs: found on a `PATH`, started in a group of their own, ended when their time is
//! up.
//!
//! What adapters that call programs have in common. Not here: which program, with what
//! arguments and environment, and what its output means.

mod find;
mod run;

pub use find::find;
pub use run::{Bounds, Ended, Following, Output, Running, Stragglers, run, start};
