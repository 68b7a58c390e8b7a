//! The commit services from outside, through the port: real git, and servers on this machine that
//! answer as the real ones do.

// Marked as test code so that its helpers may unwrap as the tests themselves may.
#[cfg(test)]
mod suite;
