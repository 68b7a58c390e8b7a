//! The product from outside: the real binary, the real store, real kills.
//!
//! Modules whose name begins with `fault` kill processes, fill disks or damage files; they run
//! one at a time (see `.config/nextest.toml`).
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "helpers of tests are tests: they fail by panicking"
)]

mod suite {
    mod fault_boundaries;
    mod fault_disk_full;
    mod fault_random_kill;
    mod fault_tail;
    mod malformed;
    mod malformed_api;
    mod parallel;
    mod support;
    mod two_processes;
}
