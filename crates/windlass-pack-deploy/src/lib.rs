//! Desired files against the disk: plan, drift, apply, rollback, undo.
//!
//! Decides what changes and what is owned. The writing itself, and putting it right after a
//! crash, is `windlass-pack-state`'s work.

pub mod approve;
pub mod change;
pub mod disk;
pub mod drift;
pub mod event;
pub mod gather;
pub mod hash;
pub mod keys;
pub mod owned;
pub mod ownership;
pub mod past;
pub mod pattern;
pub mod plan;
pub mod preview;
mod roots;
pub mod scan;
mod shared;
pub mod transaction;
