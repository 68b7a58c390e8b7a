//! Proposals and overlays for real: repositories, homes and projects in temporary directories.

mod checks;
mod commits;
mod edits;
mod proposals;
mod rebases;
mod world;
