//! The product from outside: the real binary, the real store, real kills.
//!
//! Modules whose name begins with `fault` kill processes, fill disks or damage files; they run
//! one at a time (see `.config/nextest.toml`).
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "helpers of tests are tests: they fail by panicking and print what they tried"
)]

mod suite {
    mod approvers;
    mod care;
    mod cli;
    mod cli_ends;
    mod documents;
    mod fault_boundaries;
    mod fault_descriptors;
    mod fault_disk_full;
    mod fault_random_kill;
    mod fault_stack_dev;
    mod fault_tail;
    mod gate_matrix;
    mod history;
    mod launch;
    mod links;
    mod malformed;
    mod malformed_api;
    mod malformed_requests;
    mod pack;
    mod parallel;
    mod pipeline;
    mod stack;
    mod support;
    mod telemetry;
    mod tool_list;
    mod tool_search;
    mod tour;
    mod two_processes;
}
