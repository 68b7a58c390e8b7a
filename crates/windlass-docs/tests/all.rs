//! Integration tests of the documentation search.

mod suite {
    mod examples;
    mod questions;
}
