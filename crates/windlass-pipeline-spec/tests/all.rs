//! The example specs and any text at all, through the public functions.

#[cfg(test)]
mod suite;
