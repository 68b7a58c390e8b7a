//! Packs on a whole engine and real files: one test binary for everything that needs both.

#[cfg(test)]
mod suite {
    mod back;
    mod changed;
    mod links;
    mod picture;
    mod proofs;
    mod scene;
}
