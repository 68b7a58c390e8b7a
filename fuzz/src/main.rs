//! One program for every fuzz target; the environment variable `WINDLASS_FUZZ_TARGET` names the
//! one to run.
//!
//! Built with libFuzzer and run by `cargo xtask fuzz`, which takes each file in `targets/` for a
//! target. Not here: seeds, which are in `seeds/TARGET`.
#![no_main]
// A target that is missing from the table is dead code.
#![deny(dead_code)]

mod parsers;
mod targets;

use std::sync::OnceLock;

use libfuzzer_sys::fuzz_target;

const VARIABLE: &str = "WINDLASS_FUZZ_TARGET";

static TARGET: OnceLock<targets::Target> = OnceLock::new();

fuzz_target!(init: choose(), |data: &[u8]| {
    if let Some(target) = TARGET.get() {
        target(data);
    }
});

/// Finds the target once, before the first input, and ends the program if there is none.
fn choose() {
    let name = std::env::var(VARIABLE).unwrap_or_default();
    match targets::TARGETS.iter().find(|(known, _)| *known == name) {
        Some((name, target)) => {
            eprintln!("fuzz target: {name}");
            TARGET.get_or_init(|| *target);
        }
        None => {
            let known: Vec<&str> = targets::TARGETS.iter().map(|(name, _)| *name).collect();
            eprintln!(
                "error: no fuzz target is called `{name}`; set {VARIABLE} to one of: {}",
                known.join(", ")
            );
            std::process::exit(2);
        }
    }
}
