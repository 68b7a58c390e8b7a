//! The state from outside: everything a command does to it, in order and out of order.

mod blobs;
mod containers;
mod destinations;
mod faults;
mod heads;
mod history;
mod locks;
mod manifests;
mod old_trees;
mod transactions;
mod world;
