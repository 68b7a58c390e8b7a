//! Deploying for real: plans carried out in temporary homes and projects.

#[cfg(test)]
mod suite;
