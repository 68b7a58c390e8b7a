//! Directories put into buckets: in memory, and in moto where it is installed.

// Marked as test code so that its helpers may unwrap as the tests themselves may.
#[cfg(test)]
mod suite {
    mod build;
    mod memory;
    mod moto;
    mod sync;
    mod world;
}
