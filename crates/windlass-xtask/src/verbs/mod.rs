//! One file per verb of `cargo xtask`.

pub mod bench;
pub mod dist;
pub mod fuzz;
pub mod generate;
pub mod prepare;
pub mod test;
pub mod tidy;
