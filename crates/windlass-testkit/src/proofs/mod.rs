//! The proofs every run kind must pass: twice is once, fails anywhere → unwinds, cancelled
//! anywhere → unwinds, killed anywhere → resumes.
//!
//! A proof takes a case (a kind, a fresh world to act on, what people answer) and tries every
//! place: each step, each write of the process. It panics with the place that broke it and
//! returns how much it tried.

mod cancelled;
mod case;
mod fails;
mod killed;
mod trial;
mod twice;

pub use cancelled::cancelled_anywhere_unwinds;
pub use case::{DirectoryWorld, ProofCase, ProofWorld, Reaction, Script, WorldFactory};
pub use fails::fails_anywhere_unwinds;
pub use killed::{
    KilledReport, killed_anywhere_resumes, killed_at_every_write_resumes, killed_at_random_resumes,
};
pub use trial::Outcome;
pub use twice::twice_is_once;
