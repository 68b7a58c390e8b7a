//! The example specs from their text to their reviewed design.

mod examples;
