//! The scout over directories on disk.

#![expect(
    clippy::expect_used,
    reason = "clippy's leave for tests does not reach the functions that tests share"
)]

mod suite {
    mod determinism;
    mod evidence;
    mod hostile;
    mod languages;
    mod support;
}
