//! One file per subject; those whose names begin with `fault` are slow and run alone.

mod blob;
mod commit;
mod expiry;
mod fault_kill;
mod fault_log;
mod fault_points;
mod fault_space;
mod fault_tail;
mod forgery;
mod forgery_without_seal;
mod import;
mod index;
mod lease;
mod maintenance;
mod open;
mod probe;
mod read;
mod shared;
mod sharing;
mod support;
