//! The suites of this crate.

mod checks;
mod commits;
mod edits;
mod proposals;
mod rebases;
mod world;
