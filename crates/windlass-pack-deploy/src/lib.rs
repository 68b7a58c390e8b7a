//! Desired files against the disk: plan, drift, apply, rollback, undo.
//!
//! Decides what changes and what is owned. The writing itself, and putting it right after a
//! crash, is `windlass-pack-state`'s work.
