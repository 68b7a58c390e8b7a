//! Deploying for real, with the suites of rendering and of the state below.

mod adopt;
mod back;
mod deploy;
mod keys;
mod projects;
mod properties;
mod render;
mod speed;
mod state;
mod status;
mod v1;
mod world;
