//! One test binary for everything that runs against a whole server.

#[path = "suite/mod.rs"]
mod suite;
