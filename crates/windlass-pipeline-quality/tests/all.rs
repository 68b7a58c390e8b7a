//! The example specs from their text to their design: one test binary.

#[cfg(test)]
mod suite {
    mod examples;
}
