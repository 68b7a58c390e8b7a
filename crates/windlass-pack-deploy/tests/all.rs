//! Rendering, deploying and going back for real, in temporary homes and projects.

// Marked as test code so that its helpers may unwrap as the tests themselves may.
#[cfg(test)]
mod suite;
