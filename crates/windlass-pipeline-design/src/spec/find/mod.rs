//! What is found in the readings: one file per kind of thing.

pub mod access;
pub mod appearance;
pub mod entities;
pub mod fields;
pub mod integrations;
pub mod names;
pub mod numbers;
pub mod pages;
pub mod palette;
pub mod relations;
pub mod stated;
pub mod title;
pub mod weak;
