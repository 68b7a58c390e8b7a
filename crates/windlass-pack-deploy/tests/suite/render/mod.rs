//! Rendering small repositories from disk.

mod definitions;
mod overlays;
mod shapes;
mod sources;
mod targets;
mod world;
