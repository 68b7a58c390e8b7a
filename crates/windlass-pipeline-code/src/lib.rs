//! Whole projects from an architecture and a UX spec: complete files, exact dependencies, set-up.
//!
//! Pure and deterministic: the same input produces the same bytes. Text of the input is only ever text
//! in the output. Deciding what a product has, installing and building it are done elsewhere.

mod blueprint;
mod checks;
mod colour;
mod escape;
mod files;
mod generate;
mod imports;
mod names;
mod select;
mod served;
mod sql_fragment;
mod templates;
mod theme;

pub use generate::{CodeInput, Error, Generated, PlannedFile, file_plan, generate};
