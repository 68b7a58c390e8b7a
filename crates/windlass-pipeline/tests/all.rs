//! Pipelines on a whole engine: one test binary.

#[cfg(test)]
mod suite {
    mod jobs;
    mod proofs;
    mod world;
}
