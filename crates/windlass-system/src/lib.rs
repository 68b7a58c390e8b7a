//! The machine's own clock, random numbers, anchor files and system log, behind the `Clock`, `Entropy`
//! and `AnchorSink` ports.
//!
//! The only place that asks the operating system for them. Built by the binary; tests
//! of other crates use a driven clock and a seed instead.

mod anchor;
mod clock;
mod entropy;

pub use anchor::{AnchorFile, AnchorSyslog};
pub use clock::SystemClock;
pub use entropy::OsEntropy;
