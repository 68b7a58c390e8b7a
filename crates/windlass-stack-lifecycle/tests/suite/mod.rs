//! One binary for all of them.

mod deploy;
mod preview;
mod remove;
mod versions;
mod world;
