//! The state from outside: everything a command does to it, in order and out of order.

// Marked as test code so that its helpers may unwrap as the tests themselves may.
#[cfg(test)]
mod suite;
