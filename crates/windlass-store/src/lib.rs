//! The embedded store: journals in SQLite, contents under their digest, the drivers and leases.
//!
//! One thread owns the only connection that writes. It takes whatever is queued, checks
//! each commit's conditions, chains and stores its events, derives the indexes and makes
//! all of it durable with one flush. Reads go through a small pool and check what they
//! return: events by their hash chain, index rows by a checksum, contents by their digest.
//!
//! How far the history went is also kept outside SQLite, in a sealed mark that opening and
//! checking compare: a damaged log or a cut history is reported and nothing is written on top.
//!
//! Not an engine: it does not know what a run's code does, which events may follow which,
//! or what time it is. The binary opens it and hands it to the engine as `RunStore`,
//! `BlobStore`, `Lease` and `StoreMaintenance`.

mod anchor;
mod append;
mod backup;
mod blob;
mod check;
mod commit;
mod drivers;
mod error;
mod fault;
mod heads;
mod history;
mod holder;
mod home;
mod import;
mod index;
mod journal;
mod lease;
mod maintenance;
mod mark;
mod migrate;
mod notice;
mod open;
mod probe;
mod prune;
mod read;
mod rebuild;
mod relay;
mod reserve;
mod row;
mod run_store;
mod seal;
mod session;
mod wal;
mod writer;

pub use fault::{EventMark, FaultPoint, StoreFaults};
pub use open::{Access, SqliteStore, SqliteStoreOptions};
