//! All integration tests of the crate, as one binary.

mod suite {
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
}
