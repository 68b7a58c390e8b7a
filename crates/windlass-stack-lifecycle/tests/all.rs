//! Stacks against the CloudFormation double, through the real adapter, over HTTP on loopback.

// Marked as test code so that its helpers may unwrap as the tests themselves may.
#[cfg(test)]
#[path = "suite/mod.rs"]
mod suite;
