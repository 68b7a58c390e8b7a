//! Integration tests of the documentation search.

// Marked as test code so that its helpers may unwrap as the tests themselves may.
#[cfg(test)]
mod suite {
    mod errors;
    mod examples;
    mod outside;
    mod questions;
}
