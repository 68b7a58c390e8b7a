//! Pipelines on a whole engine: one test binary.

#[cfg(test)]
mod suite {
    mod by_ids;
    mod jobs;
    mod models;
    mod paid;
    mod proofs;
    mod retention;
    mod served;
    mod world;
}
