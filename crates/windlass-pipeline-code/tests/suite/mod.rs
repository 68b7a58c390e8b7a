//! Integration tests of the code generator.

mod access;
mod fixture;
mod hostile;
mod node;
mod postgres;
mod project;
mod rights;
mod specs;
