//! `cargo xtask generate`: the documents that the binary writes about itself.
//!
//! The binary writes into an empty folder; this verb compares that folder with the
//! checkout, then either brings the checkout up to date or lists the differences.
//! Not here: what the documents say (`windlass internal generate`), and those of a release archive (`dist`).

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use anyhow::{Context as _, Result, bail};

use crate::args::Args;
use crate::binary::Binaries;
use crate::process;
use crate::repo::Repo;

const USAGE: &str = "\
Usage: cargo xtask generate [--check]

Writes the generated documents into the checkout; with --check, only compares.";

/// Folders that hold generated files and nothing else.
const OWNED_FOLDERS: [&str; 3] = ["docs/reference", "docs/stack/config-ref", "schemas"];
/// What the program writes for a release archive; not committed.
pub(super) const RELEASE: &str = "release/";
const LIMIT: Duration = Duration::from_secs(120);

/// Files by their path from the root.
pub(super) type Files = BTreeMap<String, Vec<u8>>;

pub fn run(mut args: Args) -> Result<()> {
    if args.take_flag("--help") {
        println!("{USAGE}");
        return Ok(());
    }
    let check_only = args.take_flag("--check");
    args.finish()?;
    let repo = Repo::load()?;
    let binaries = Binaries::new(None)?;
    if check_only {
        println!("{}", check(&repo, &binaries)?);
        return Ok(());
    }
    let produced = for_the_checkout(produce(&repo, &binaries)?);
    let drift = compare(&produced, &committed(&repo, &produced)?);
    for (path, kind) in &drift {
        let target = repo.root.join(path);
        match kind {
            Drift::Stale => fs_err::remove_file(&target)?,
            Drift::Missing | Drift::Changed => {
                if let Some(folder) = target.parent() {
                    fs_err::create_dir_all(folder)?;
                }
                fs_err::write(&target, &produced[path])?;
            }
        }
        println!("{} {path}", kind.done());
    }
    println!(
        "{} generated files, {} updated",
        produced.len(),
        drift.len()
    );
    Ok(())
}

/// The comparison as a stage of `cargo xtask test`.
pub fn check(repo: &Repo, binaries: &Binaries) -> Result<String> {
    let produced = for_the_checkout(produce(repo, binaries)?);
    let drift = compare(&produced, &committed(repo, &produced)?);
    if drift.is_empty() {
        return Ok(format!("{} generated files are up to date", produced.len()));
    }
    for (path, kind) in &drift {
        println!("{path} {}", kind.finding());
    }
    bail!(
        "{} generated files drifted; run `cargo xtask generate` and commit the result",
        drift.len()
    )
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Drift {
    /// Generated now, but not in the checkout.
    Missing,
    /// In the checkout with other contents.
    Changed,
    /// In an owned folder, but no longer generated.
    Stale,
}

impl Drift {
    fn finding(self) -> &'static str {
        match self {
            Drift::Missing => "is missing",
            Drift::Changed => "is out of date",
            Drift::Stale => "is no longer generated",
        }
    }

    fn done(self) -> &'static str {
        match self {
            Drift::Missing => "added",
            Drift::Changed => "updated",
            Drift::Stale => "removed",
        }
    }
}

/// Everything that the program generates.
pub(super) fn produce(repo: &Repo, binaries: &Binaries) -> Result<Files> {
    let binary = binaries.product(repo)?;
    let scratch = repo.scratch("generate")?;
    let folder = scratch.join("files");
    fs_err::create_dir_all(&folder)?;
    process::capture(
        Command::new(binary)
            .args(["internal", "generate"])
            .arg(&folder)
            .env("WINDLASS_HOME", scratch.join("home")),
        LIMIT,
    )?
    .success("`windlass internal generate`")?;
    let mut produced = Files::new();
    collect(&folder, "", &mut produced)?;
    if produced.is_empty() {
        bail!("`windlass internal generate` wrote no file");
    }
    Ok(produced)
}

fn for_the_checkout(mut produced: Files) -> Files {
    produced.retain(|path, _| !path.starts_with(RELEASE));
    produced
}

/// What the checkout has: every file of the owned folders, and every other path that was produced.
fn committed(repo: &Repo, produced: &Files) -> Result<Files> {
    let mut files = Files::new();
    for folder in OWNED_FOLDERS {
        let path = repo.root.join(folder);
        if path.is_dir() {
            collect(&path, folder, &mut files)?;
        }
    }
    for path in produced.keys() {
        let file = repo.root.join(path);
        if file.is_file() && !files.contains_key(path) {
            files.insert(path.clone(), fs_err::read(&file)?);
        }
    }
    Ok(files)
}

fn collect(folder: &Path, prefix: &str, files: &mut Files) -> Result<()> {
    for entry in fs_err::read_dir(folder)? {
        let entry = entry?;
        let name = entry
            .file_name()
            .into_string()
            .ok()
            .with_context(|| format!("{} holds a name that is not UTF-8", folder.display()))?;
        let path = if prefix.is_empty() {
            name
        } else {
            format!("{prefix}/{name}")
        };
        if entry.file_type()?.is_dir() {
            collect(&entry.path(), &path, files)?;
        } else {
            files.insert(path, fs_err::read(entry.path())?);
        }
    }
    Ok(())
}

fn compare(produced: &Files, committed: &Files) -> Vec<(String, Drift)> {
    let mut drift = Vec::new();
    for (path, bytes) in produced {
        match committed.get(path) {
            None => drift.push((path.clone(), Drift::Missing)),
            Some(old) if old != bytes => drift.push((path.clone(), Drift::Changed)),
            Some(_) => {}
        }
    }
    for path in committed.keys() {
        if !produced.contains_key(path) {
            drift.push((path.clone(), Drift::Stale));
        }
    }
    drift
}

#[cfg(test)]
mod tests {
    use super::*;

    fn files(entries: &[(&str, &str)]) -> Files {
        entries
            .iter()
            .map(|(path, text)| ((*path).to_owned(), text.as_bytes().to_vec()))
            .collect()
    }

    #[test]
    fn every_kind_of_drift_is_found() {
        let produced = files(&[("a.md", "1"), ("b.md", "2"), ("c.md", "3")]);
        let committed = files(&[("b.md", "old"), ("c.md", "3"), ("d.md", "4")]);
        assert_eq!(
            compare(&produced, &committed),
            [
                ("a.md".to_owned(), Drift::Missing),
                ("b.md".to_owned(), Drift::Changed),
                ("d.md".to_owned(), Drift::Stale),
            ]
        );
        assert!(compare(&produced, &produced).is_empty());
    }

    #[test]
    fn what_a_release_carries_is_not_committed() {
        let produced = files(&[("docs/a.md", "1"), ("release/man/windlass.1", "2")]);
        assert_eq!(for_the_checkout(produced), files(&[("docs/a.md", "1")]));
    }
}
