//! `cargo xtask tidy`: read the tree once, apply every rule, list what breaks one.
//!
//! Not here: the rules; they are in `crate::tidy`.

use anyhow::{Result, bail};

use crate::args::Args;
use crate::repo::Repo;
use crate::tidy;

const USAGE: &str = "\
Usage: cargo xtask tidy

Checks layers, chains of crates, manifests, module docs, file sizes, forbidden words,
documents and links.";

pub fn run(mut args: Args) -> Result<()> {
    if args.take_flag("--help") {
        println!("{USAGE}");
        return Ok(());
    }
    args.finish()?;
    println!("{}", check(&Repo::load()?)?);
    Ok(())
}

/// The same check as a stage of `cargo xtask test`.
pub fn check(repo: &Repo) -> Result<String> {
    let tree = tidy::read(repo)?;
    let violations = tidy::check(&tree);
    if violations.is_empty() {
        return Ok(format!(
            "{} crates and {} files are tidy",
            tree.crates.len(),
            tree.files.len()
        ));
    }
    for violation in &violations {
        println!("{violation}");
    }
    bail!("{} violations of the tree's rules", violations.len())
}
