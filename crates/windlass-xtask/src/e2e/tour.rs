//! The README's first command, `cargo run --release -- tour`, and every chapter.
//!
//! Not here: what the tour does; this checks that it succeeds and mentions every part, and that the
//! program it comes with is small.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use anyhow::{Result, bail, ensure};

use crate::binary::{self, Binaries};
use crate::process;
use crate::repo::Repo;

const LIMIT: Duration = Duration::from_secs(180);
const SIZE_LIMIT_MB: u64 = 80;
/// The parts of the tour; each must be mentioned, in any grammatical form.
const PARTS: [&str; 9] = [
    "plan",
    "confirm",
    "kill",
    "resum",
    "roll",
    // from here on in later chapters
    "verif",
    "deploy",
    "evolve",
    "uninstall",
];

/// How many of them are in the first chapter.
const BEGINNING: usize = 5;

/// Runs the stage.
pub fn run(repo: &Repo, binaries: &Binaries) -> Result<String> {
    let scratch = repo.scratch("tour")?;
    let size = match binaries.given() {
        Some(_) => 0,
        None => fs_err::metadata(binary::build_release(repo)?)?.len() / 1_000_000,
    };
    for (arguments, parts) in [
        (["tour"].as_slice(), &PARTS[..BEGINNING]),
        (&["tour", "--all"], &PARTS),
    ] {
        let mut command = match binaries.given() {
            Some(program) => Command::new(program),
            None => {
                let mut cargo = repo.cargo();
                cargo.args(["run", "--release", "--quiet", "--"]);
                cargo
            }
        };
        tour(command.args(arguments), &scratch, parts)?;
    }
    ensure!(
        size <= SIZE_LIMIT_MB,
        "the program has {size} MB, and at most {SIZE_LIMIT_MB} MB are allowed"
    );
    Ok(format!(
        "the first chapter and all of them, by a program of {size} MB"
    ))
}

fn tour(command: &mut Command, scratch: &Path, parts: &[&'static str]) -> Result<()> {
    let output = process::capture(command.env("WINDLASS_HOME", scratch.join("home")), LIMIT)?
        .success("`windlass tour`")?;
    let text = format!("{}{}", output.stdout, output.stderr);
    let missing = missing_parts(&text, parts);
    if !missing.is_empty() {
        bail!(
            "the tour does not mention: {}\n{}",
            missing.join(", "),
            process::indent(&process::tail(&text, 40))
        );
    }
    Ok(())
}

fn missing_parts(text: &str, parts: &[&'static str]) -> Vec<&'static str> {
    let text = text.to_lowercase();
    parts
        .iter()
        .copied()
        .filter(|part| !text.contains(part))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_part_must_be_mentioned() {
        let whole = "Planned, confirmed, killed, resumed, rolled back, verified; deployed, evolved, uninstalled.";
        assert!(missing_parts(whole, &PARTS).is_empty());
        assert_eq!(
            missing_parts("Planned and verified, then resumed", &PARTS).len(),
            6
        );
    }
}
