//! Site launches from outside: contract 004 over the real binary, with real repositories.

mod approval;
mod arguments;
mod cancel;
mod cli;
mod client;
mod commit_service;
mod configurations;
mod determinism;
mod end_to_end;
mod exhausted;
mod fault_kill;
mod fault_store;
mod hostile;
mod journal;
mod keys;
mod levers;
mod parallel;
mod place;
mod products;
mod reader;
mod shapes;
mod states;
mod telemetry;
mod toolchain;
mod tools;
