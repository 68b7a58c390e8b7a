//! The git adapter from outside, through the port, against real repositories.

// Marked as test code so that its helpers may unwrap as the tests themselves may.
#[cfg(test)]
mod suite;
