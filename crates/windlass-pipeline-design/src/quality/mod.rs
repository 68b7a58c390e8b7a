//! What became of a spec, and how good it is: coverage by following traces, complexity, and a
//! critique that blocks an output which is wrong.
//!
//! Everything is read from the typed outputs of the phases; nothing here makes or repairs one.

mod checks;
mod complexity;
mod coverage;
mod finding;
mod outputs;
mod progress;
mod review;
mod traces;
mod verbatim;

#[cfg(test)]
mod example;
#[cfg(test)]
mod review_tests;

pub use complexity::complexity;
pub use coverage::coverage;
pub use outputs::{Given, Outputs};
pub use review::review;
