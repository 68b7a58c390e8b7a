//! Rendering small repositories from disk.

#[cfg(test)]
mod suite {
    mod definitions;
    mod overlays;
    mod shapes;
    mod sources;
    mod targets;
    mod world;
}
