//! One binary for all integration tests.

#[cfg(test)]
mod suite;
