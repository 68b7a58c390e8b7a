//! One binary for the integration tests of this crate.

mod suite;
