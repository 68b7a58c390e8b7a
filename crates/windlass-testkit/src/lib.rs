//! What tests of Windlass stand on: fakes for every port, a world to build engines in, a
//! suite every store must pass and the proofs every run kind must pass.
//!
//! Time, randomness, disk and network are data here, so a test says exactly when a process
//! dies, a disk fills or a receiver answers, and the same seed gives the same run. Used as a
//! dev-dependency by the crates under test and by the benches; never shipped.
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stderr,
    reason = "a test tool fails the test that uses it by panicking"
)]

pub mod agent;
mod clock;
mod entropy;
pub mod malformed;
mod outbound;
pub mod program;
pub mod proofs;
pub mod servers;
pub mod store;
pub mod store_suite;
mod trust;
mod world;

pub use clock::FakeClock;
pub use entropy::SeededEntropy;
pub use outbound::{RecordingOutbound, Reply, SentRequest};
pub use store::{MemoryStore, Moment};
pub use trust::TrustEverything;
pub use world::{Process, TestWorld, local, new_run};
