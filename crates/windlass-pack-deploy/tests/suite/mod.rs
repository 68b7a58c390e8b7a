//! The suites of this crate.

mod adopt;
mod back;
mod deploy;
mod keys;
mod projects;
mod properties;
mod speed;
mod status;
mod v1;
mod world;
