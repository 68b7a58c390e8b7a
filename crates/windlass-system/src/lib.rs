//! The machine's own clock and random numbers, behind the `Clock` and `Entropy` ports.
//!
//! The only place that asks the operating system for either. Built by the binary; tests
//! of other crates use a driven clock and a seed instead.

mod clock;
mod entropy;

pub use clock::SystemClock;
pub use entropy::OsEntropy;
