//! Runs of stacks on a whole engine, with a CloudFormation in this process: one test binary.

#[cfg(test)]
mod suite {
    mod at_once;
    mod catalogue;
    mod expiry;
    mod handover;
    mod picture;
    mod proofs;
    mod world;
}
