//! Projects that the pipeline generates, with the tools their users have: npm, tsc, eslint, the
//! production build, vitest, Chromium, and PostgreSQL for the migration.
//!
//! The product itself writes the projects, from the example specs and in both presets. What is done
//! with them is in the Rust tests of `windlass-pipeline-code`, which skip themselves without these
//! programs, and in `harness/generated_pages.mjs`, which leaves its screenshots in the stage's folder.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};

use crate::binary::Binaries;
use crate::process;
use crate::repo::Repo;
use crate::tools::{self, Node};

const SPECS: &str = "examples/pipeline";
const PRESETS: [&str; 2] = ["nextjs-react", "vite-react"];
const SCRIPT: &str = "crates/windlass-xtask/harness/generated_pages.mjs";
const RUN_LIMIT: Duration = Duration::from_secs(120);
const PAGES_LIMIT: Duration = Duration::from_secs(300);

/// Installs what the stage needs.
pub fn prepare(repo: &Repo) -> Result<()> {
    Programs::install(repo).map(drop)
}

struct Programs {
    node: Node,
    postgres: PathBuf,
    chromium: PathBuf,
}

impl Programs {
    fn install(repo: &Repo) -> Result<Programs> {
        tools::require_npm()?;
        Ok(Programs {
            node: tools::node(repo)?,
            postgres: tools::postgres()?,
            chromium: tools::chromium()?,
        })
    }
}

/// Runs the stage.
pub fn run(repo: &Repo, binaries: &Binaries) -> Result<String> {
    let Programs {
        node,
        postgres,
        chromium,
    } = Programs::install(repo)?;
    let scratch = repo.scratch("generated-code")?;
    let (projects, rows) = (scratch.join("projects"), scratch.join("rows"));
    let screenshots = scratch.join("screenshots");
    let binary = binaries.product(repo)?;

    let start = Instant::now();
    let specs = specs(repo)?;
    for preset in PRESETS {
        for spec in &specs {
            let out = projects.join(preset).join(name(spec)?);
            write_project(&binary, spec, preset, &out, &scratch.join("home"))?;
        }
    }
    println!(
        "{} projects written in {:.1} s",
        specs.len() * PRESETS.len(),
        start.elapsed().as_secs_f64()
    );
    process::run(
        tools::tests_of(repo, &["windlass-pipeline-code"])?
            .env("WINDLASS_TEST_NODE", node.path())
            .env("WINDLASS_TEST_POSTGRES", postgres)
            .env("WINDLASS_TEST_PROJECTS", &projects)
            .env("WINDLASS_TEST_ROWS", &rows),
    )?;
    let shown = process::capture(
        node.script(&repo.root.join(SCRIPT))
            .arg(chromium)
            .arg(projects.join("vite-react"))
            .arg(&rows)
            .arg(&screenshots),
        PAGES_LIMIT,
    )?
    .success("the pages in Chromium")?;
    print!("{}", shown.stdout);
    let last = shown.stdout.lines().last().unwrap_or_default();
    Ok(format!("{last}; {}", screenshots.display()))
}

/// The example specs, sorted.
fn specs(repo: &Repo) -> Result<Vec<PathBuf>> {
    let mut specs = Vec::new();
    for entry in fs_err::read_dir(repo.root.join(SPECS))? {
        let path = entry?.path();
        if path.extension().is_some_and(|end| end == "md") {
            specs.push(path);
        }
    }
    specs.sort();
    Ok(specs)
}

fn name(spec: &Path) -> Result<&str> {
    spec.file_stem()
        .and_then(|stem| stem.to_str())
        .with_context(|| format!("{} has no plain name", spec.display()))
}

/// One project, as a user gets it.
fn write_project(binary: &Path, spec: &Path, preset: &str, out: &Path, home: &Path) -> Result<()> {
    process::capture(
        Command::new(binary)
            .args(["pipeline", "run", "--stack", preset, "--spec"])
            .arg(spec)
            .arg("--out")
            .arg(out)
            .env("WINDLASS_HOME", home),
        RUN_LIMIT,
    )?
    .success(&format!("the pipeline for {}", spec.display()))?;
    Ok(())
}
