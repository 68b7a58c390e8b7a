//! One file per subject; `world` holds what they share.

mod blobs;
mod destinations;
mod faults;
mod heads;
mod history;
mod locks;
mod manifests;
mod old_trees;
mod transactions;
mod world;
