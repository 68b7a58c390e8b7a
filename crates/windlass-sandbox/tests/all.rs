//! The sandbox as a program: what is refused and what works, with every backend of this machine.
#![cfg(target_os = "linux")]
// Marked as test code so that its helpers may unwrap as the tests themselves may.
#![cfg(test)]

#[path = "suite/files.rs"]
mod files;
#[path = "suite/kernel.rs"]
mod kernel;
#[path = "suite/network.rs"]
mod network;
#[path = "suite/programs.rs"]
mod programs;
#[path = "suite/support.rs"]
mod support;
#[path = "suite/tree.rs"]
mod tree;
