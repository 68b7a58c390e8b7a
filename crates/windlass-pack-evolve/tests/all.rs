//! Proposals and overlays for real: repositories, homes and projects in temporary directories.

#[cfg(test)]
mod suite;
