//! One file per subject; those whose names begin with `fault` are slow and run alone.

mod blob;
mod commit;
mod fault_kill;
mod fault_log;
mod fault_points;
mod fault_space;
mod fault_tail;
mod forgery;
mod import;
mod index;
mod lease;
mod maintenance;
mod open;
mod read;
mod shared;
mod sharing;
mod support;
