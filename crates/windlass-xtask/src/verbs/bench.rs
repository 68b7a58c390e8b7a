//! `cargo xtask bench`: build the benchmarks optimised and run them.
//!
//! Not here: what is measured; that is the crate `windlass-bench`.

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
    // What is measured is the binary beside the benchmarks.
    process::run(
        repo.cargo()
            .args(["build", "--release", "--package", "windlass"]),
    )?;
    process::run(
        repo.cargo()
            .args(["run", "--release", "--package", "windlass-bench", "--"])
            .args(names),
    )
}
