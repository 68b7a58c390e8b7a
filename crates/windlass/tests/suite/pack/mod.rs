//! Packs from outside: contract 003 over the real binary, the formats of 0.9.1, homes that are
//! killed, filled and lied to.

mod approval;
mod arguments;
mod commands;
mod contract;
mod fault_full;
mod fault_kill;
mod formats;
mod old_home;
mod parallel;
mod place;
mod projects;
mod protocol;
mod room;
mod schemas;
mod screen;
mod tokens;
mod tokens_clock;
mod traversal;
