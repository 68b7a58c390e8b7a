//! The client under the suite's client scenarios: a small program over windlass-mcp-client, which
//! the suite starts once for each.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};

use super::baseline::Baseline;
use super::report::{self, Mode, Side};
use super::{RUN_LIMIT, Suite};
use crate::process;
use crate::repo::Repo;

const EXAMPLE: &str = "conformance_client";

/// Revisions, and how many scenarios the suite scores and only reports.
const REVISIONS: [(&str, (usize, usize)); 2] = [("2025-11-25", (18, 7)), ("2026-07-28", (32, 7))];

/// Builds the program.
pub fn build(repo: &Repo) -> Result<PathBuf> {
    // Together with what asks most of shared dependencies, so that none is compiled twice.
    process::run(
        repo.cargo()
            .args(["build", "--quiet", "--example", EXAMPLE])
            .args(["--package", "windlass-mcp-client"])
            .args(["--package", "windlass", "--package", "windlass-bench"]),
    )?;
    let program = repo.target.join("debug/examples").join(EXAMPLE);
    if !program.is_file() {
        bail!("the build left no program at {}", program.display());
    }
    Ok(program)
}

/// Runs every scenario of both revisions.
pub fn run(
    repo: &Repo,
    suite: &Suite,
    baseline: &Baseline,
    scratch: &Path,
    notes: &mut Vec<String>,
    problems: &mut Vec<String>,
) -> Result<()> {
    let program = build(repo)?;
    for (revision, expected) in REVISIONS {
        let requirements = suite.scenarios(revision, Side::Client, expected)?;
        let folder = scratch.join("client").join(revision);
        fs_err::create_dir_all(&folder)?;
        let mut command = suite.node.script(&suite.script);
        command
            .args(["client", "--requirements", revision, "--command"])
            .arg(&program)
            .arg("--output-dir")
            .arg(&folder);
        let output = process::capture(&mut command, RUN_LIMIT)
            .with_context(|| format!("the suite stopped (client, {revision})"))?;
        let log = format!("{}{}", output.stdout, output.stderr);
        fs_err::write(folder.join("suite.log"), log)?;

        let names = requirements.all();
        let scenarios = report::read(&folder, Side::Client, &names, Mode::Complete)?;
        let score = requirements.score(&scenarios);
        println!("client {revision}: {score}");
        notes.push(format!("client {revision} {score}"));
        if !score.is_full() {
            problems.push(format!("client {revision}: {score}"));
        }
        problems.extend(baseline.compare(&format!("client-{revision}"), &scenarios));
    }
    Ok(())
}
