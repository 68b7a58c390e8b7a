//! Launches on a whole engine with small made-up repositories: one test binary.

#[cfg(test)]
mod suite {
    mod proofs;
    mod repositories;
    mod service;
    mod world;
}
