//! The test tools, tested: the store in memory, and the proofs on runs that do and do not hold.

#[cfg(test)]
mod suite {
    mod kinds;
    mod memory_store;
    mod proofs;
}
