//! What pack did and can undo: locks, blobs, journals, snapshots.
//!
//! Every write to a target root goes through one transaction here: blobs first, then a journal,
//! then the files, then the snapshot that makes it so. What to write is decided elsewhere
//! (`windlass-pack-deploy`).
