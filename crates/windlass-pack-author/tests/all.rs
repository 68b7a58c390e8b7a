//! The one integration test binary: every verb against real files and real git repositories.

#[cfg(test)]
mod suite;
