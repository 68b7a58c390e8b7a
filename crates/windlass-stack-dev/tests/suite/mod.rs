//! A stack run on this machine, from start to stop, with the real programs where they are there.

mod app;
mod containers;
mod failures;
mod project;
