//! The store from outside, through the ports it implements.

// Marked as test code so that its helpers may unwrap as the tests themselves may.
#[cfg(test)]
mod suite;
