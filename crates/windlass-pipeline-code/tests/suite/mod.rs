//! Integration tests of the code generator.

mod fixture;
mod hostile;
mod node;
mod postgres;
mod project;
