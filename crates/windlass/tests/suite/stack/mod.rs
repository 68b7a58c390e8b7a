//! Stacks from outside: contract 000 over the real binary, against accounts that are programs.

mod arguments;
mod bastion;
mod canary;
mod codes;
mod databases;
mod deletes;
mod deploys;
mod diagnose;
mod docs;
mod failures;
mod fault_kill;
mod losses;
mod moto;
mod policy;
mod previews;
mod rollbacks;
mod scenarios;
mod secrets;
mod shapes;
mod stream;
mod stuck;
mod tokens;
mod tool_client;
mod tools;
mod weather;
mod world;
