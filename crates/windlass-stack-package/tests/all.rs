//! The whole crate on real folders and programs.

#[cfg(test)]
mod suite;
