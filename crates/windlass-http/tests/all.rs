//! The HTTP surface from outside: requests in, status, headers and bodies out.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "helpers of tests are tests: they fail by panicking"
)]

mod suite {
    mod access;
    mod answers;
    mod artifacts;
    mod connections;
    mod cors;
    mod documents;
    mod inputs;
    mod large_inputs;
    mod limits;
    mod loopback;
    mod pipelines;
    mod pipelines_limits;
    mod pipelines_support;
    mod refusals;
    mod restart;
    mod streams;
    mod support;
}
