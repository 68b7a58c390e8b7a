//! `cargo xtask bench`: build the benchmarks optimised and run them.
//!
//! Not here: what is measured; that is the crate `windlass-bench`.

use std::process::Command;

use anyhow::Result;

use crate::args::Args;
use crate::process;
use crate::repo::Repo;

const USAGE: &str = "\
Usage: cargo xtask bench [NAME]...

Builds windlass and windlass-bench with the release profile and runs the named benchmarks, or all.";

pub fn run(mut args: Args) -> Result<()> {
    if args.take_flag("--help") {
        println!("{USAGE}");
        return Ok(());
    }
    let names = args.take_words()?;
    let repo = Repo::load()?;
    // What is measured is the binary next to the benchmarks. Built together, they share what they
    // depend on; one after the other, most of it is built twice.
    process::run(repo.cargo().args(["build", "--release"]).args([
        "--package",
        "windlass",
        "--package",
        "windlass-bench",
    ]))?;
    process::run(Command::new(repo.target.join("release/windlass-bench")).args(names))
}
