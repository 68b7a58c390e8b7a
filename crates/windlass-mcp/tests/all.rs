//! Whole servers over both transports: one test binary for everything that needs one.
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "helpers of tests are tests: they fail by panicking"
)]

mod suite;
