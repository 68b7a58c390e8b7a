//! The example specs, and any text at all, from their text to their reviewed design.

// Marked as test code so that its helpers may unwrap as the tests themselves may.
#[cfg(test)]
mod suite {
    mod quality;
    mod spec;
}
