//! What pack did and can undo: locks, blobs, journals, snapshots.
//!
//! Every write to a target root goes through one transaction here: blobs first, then a journal,
//! then the files, then the snapshot that makes it so. What to write is decided elsewhere
//! ([`crate::plan()`]), and so is when; this module reads no clock and no environment.
//!
//! A command that writes calls [`PackState::lock`] for the roots it may touch, plans under the
//! locks and hands a [`Transaction`] to [`commit`]. Every command calls [`recover`] first, so
//! that half-finished work of a killed process is never visible.

mod blob;
mod commit;
mod content;
mod destination;
mod exact;
mod files;
mod grove;
mod head;
mod held_contents;
mod journal;
mod lock;
mod manifest;
mod observe;
mod pack_state;
mod prepare;
mod probe;
mod prune;
mod recover;
mod remembered;
mod settle;
mod snapshot;
mod stage;
mod stat_cache;
mod transaction;
mod undo;

pub use blob::Blobs;
pub use commit::commit;
pub(crate) use destination::end_of as end_of_link;
pub use head::{Head, Heads, SeenRoot, roots_of};
pub use held_contents::HeldContents;
pub use lock::{HeldRoot, Holder, RootLocks};
pub use manifest::{FoundManifest, manifest_path, read_manifest};
pub(crate) use observe::read_known;
pub use pack_state::PackState;
pub use probe::{FaultProbe, Injected, NoFaults, Step};
pub use prune::{Kept, PruneRule, Pruned};
pub use recover::{Outcome, Pending, Recovered, pending, recover, recover_with};
pub use remembered::{KnownRoot, Remembered};
pub use snapshot::{History, SnapshotSummary};
pub use stage::is_temp_name;
pub use stat_cache::StatCache;
pub use transaction::{After, Committed, FileAction, ManifestWrite, Transaction};
