//! `windlass tour`, the first thing a new user runs, from an empty home, twice.
//!
//! Not here: what the tour does; this checks that it ends well and says what it did.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use anyhow::{Result, bail};

use crate::binary::Binaries;
use crate::process;
use crate::repo::Repo;

const LIMIT: Duration = Duration::from_secs(180);
/// The stations of the tour; each must be told, in any grammatical form.
const STATIONS: [&str; 9] = [
    "plan",
    "confirm",
    "kill",
    "resum",
    "roll",
    "verif",
    "deploy",
    "evolve",
    "uninstall",
];

/// Runs the stage.
pub fn run(repo: &Repo, binaries: &Binaries) -> Result<String> {
    let binary = binaries.product(repo)?;
    let scratch = repo.scratch("tour")?;
    // The second tour finds the first one's runs in the same home.
    for _ in 0..2 {
        tour(&binary, &scratch)?;
    }
    Ok("twice in the same home".to_owned())
}

fn tour(binary: &Path, scratch: &Path) -> Result<()> {
    let output = process::capture(
        Command::new(binary)
            .arg("tour")
            .current_dir(scratch)
            .env("WINDLASS_HOME", scratch.join("home")),
        LIMIT,
    )?
    .success("`windlass tour`")?;
    let told = format!("{}{}", output.stdout, output.stderr);
    let missing = missing_stations(&told);
    if !missing.is_empty() {
        bail!(
            "the tour does not tell: {}\n{}",
            missing.join(", "),
            process::indent(&process::tail(&told, 40))
        );
    }
    Ok(())
}

fn missing_stations(told: &str) -> Vec<&'static str> {
    let told = told.to_lowercase();
    STATIONS
        .into_iter()
        .filter(|station| !told.contains(station))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_station_must_be_told() {
        let whole = "Planned, confirmed, killed, resumed, rolled back, verified; deployed, evolved, uninstalled.";
        assert!(missing_stations(whole).is_empty());
        assert_eq!(
            missing_stations("Planned and verified, then resumed").len(),
            6
        );
    }
}
