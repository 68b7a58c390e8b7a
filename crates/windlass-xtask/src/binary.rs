//! The `windlass` programs that the drift check and the end-to-end stages run.
//!
//! Two debug builds, the product and the same code with the feature `conformance-fixtures`, are
//! copied out of Cargo's folder, because Cargo puts both under one name. The release build is what a
//! user gets. Not here: what is done with them.

use std::cell::OnceCell;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};

use crate::process;
use crate::repo::Repo;

/// Builds each binary at most once per run of this tool.
pub struct Binaries {
    /// A binary named on the command line, used instead of building either.
    given: Option<PathBuf>,
    product: OnceCell<Option<PathBuf>>,
    fixtures: OnceCell<Option<PathBuf>>,
}

impl Binaries {
    pub fn new(given: Option<PathBuf>) -> Result<Binaries> {
        let given = match given {
            Some(path) => Some(
                fs_err::canonicalize(&path).context("--binary must name an existing program")?,
            ),
            None => None,
        };
        Ok(Binaries {
            given,
            product: OnceCell::new(),
            fixtures: OnceCell::new(),
        })
    }

    /// The program named on the command line.
    pub fn given(&self) -> Option<&Path> {
        self.given.as_deref()
    }

    /// The product, as the tests have built it.
    pub fn product(&self, repo: &Repo) -> Result<PathBuf> {
        self.built(&self.product, || build(repo, "product", &[]))
    }

    /// The product plus the tools, resources and prompts of the conformance suite.
    pub fn with_fixtures(&self, repo: &Repo) -> Result<PathBuf> {
        self.built(&self.fixtures, || {
            let path = build(
                repo,
                "fixtures",
                &["--features", "windlass/conformance-fixtures"],
            )?;
            // Leave the product, not the one with fixtures, under the name that people run.
            build(repo, "product", &[])?;
            Ok(path)
        })
    }

    fn built(
        &self,
        cell: &OnceCell<Option<PathBuf>>,
        work: impl FnOnce() -> Result<PathBuf>,
    ) -> Result<PathBuf> {
        if let Some(path) = &self.given {
            return Ok(path.clone());
        }
        if let Some(known) = cell.get() {
            return known
                .clone()
                .context("the windlass binary did not build, see above");
        }
        let outcome = work();
        // Remembered also when it failed: one compiler error is enough to read.
        let _ = cell.set(outcome.as_ref().ok().cloned());
        outcome
    }
}

/// The program of `cargo build --release`.
pub fn build_release(repo: &Repo) -> Result<PathBuf> {
    process::run(repo.cargo().args(["build", "--release", "--quiet"]))?;
    existing(repo.target.join("release/windlass"))
}

fn build(repo: &Repo, kind: &str, options: &[&str]) -> Result<PathBuf> {
    // With the package that asks most of shared dependencies: their features are then those of the
    // tests' build, and nothing is compiled a second time.
    process::run(
        repo.cargo()
            .args(["build", "--quiet", "--bin", "windlass"])
            .args(["--package", "windlass", "--package", "windlass-bench"])
            .args(options),
    )?;
    let built = existing(repo.target.join("debug/windlass"))?;
    let copy = repo.target.join("xtask/bin").join(kind).join("windlass");
    replace(&built, &copy)?;
    Ok(copy)
}

fn existing(program: PathBuf) -> Result<PathBuf> {
    if !program.is_file() {
        bail!(
            "the build succeeded but left no program at {}",
            program.display()
        );
    }
    Ok(program)
}

/// Copies over a program that may be running: the old file keeps its inode.
fn replace(from: &Path, to: &Path) -> Result<()> {
    if let Some(folder) = to.parent() {
        fs_err::create_dir_all(folder)?;
    }
    if to.exists() {
        fs_err::remove_file(to)?;
    }
    fs_err::copy(from, to)?;
    Ok(())
}
