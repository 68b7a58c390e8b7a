//! Directories put into buckets: in memory, and in moto where it is installed.

mod apply;
mod build;
mod memory;
mod moto;
mod world;
