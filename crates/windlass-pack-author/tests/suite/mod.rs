//! The suites of this crate.

mod doctor;
mod edits;
mod events;
mod evolve;
mod imports;
mod inits;
mod locks;
mod operator;
mod policies;
mod remotes;
mod world;
