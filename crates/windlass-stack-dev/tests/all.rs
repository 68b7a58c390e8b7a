//! Sessions as users have them: real interpreters, real servers, real processes.
#![expect(
    clippy::unwrap_used,
    clippy::print_stderr,
    clippy::print_stdout,
    reason = "test helpers fail the test by panicking; figures and skips are printed"
)]

mod suite;
