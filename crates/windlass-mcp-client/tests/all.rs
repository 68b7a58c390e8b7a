//! The client against scripted servers: one test binary for all of them.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "helpers of tests are tests: they fail by panicking"
)]

mod suite;
