//! `cargo xtask dist`: what a release archive carries beside the program.
//!
//! Not here: what the pages say (`windlass internal generate`), and the documents of the checkout
//! (`generate`).

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};

use super::generate::{self, Files, RELEASE};
use crate::args::Args;
use crate::binary::Binaries;
use crate::repo::Repo;

const USAGE: &str = "\
Usage: cargo xtask dist --pages DIR

Writes the manual pages (DIR/man) and the samples of every operation (DIR/samples).";

pub fn run(mut args: Args) -> Result<()> {
    if args.take_flag("--help") {
        println!("{USAGE}");
        return Ok(());
    }
    let folder: PathBuf = args
        .take_value("--pages")?
        .context("no directory given; try --help")?;
    args.finish()?;
    let repo = Repo::load()?;
    let produced = generate::produce(&repo, &Binaries::new(None)?)?;
    let count = write(&produced, &folder)?;
    println!("{count} files written to {}", folder.display());
    Ok(())
}

/// Writes the files of a release below a folder; how many.
fn write(produced: &Files, folder: &Path) -> Result<usize> {
    let mut count = 0;
    for (path, bytes) in produced {
        let Some(path) = path.strip_prefix(RELEASE) else {
            continue;
        };
        let target = folder.join(path);
        if let Some(parent) = target.parent() {
            fs_err::create_dir_all(parent)?;
        }
        fs_err::write(target, bytes)?;
        count += 1;
    }
    if count == 0 {
        bail!("the program generates no file for a release");
    }
    Ok(count)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_files_of_a_release_are_written() {
        let folder = tempfile::tempdir().unwrap();
        let of = |path: &str| (path.to_owned(), b"text".to_vec());
        let produced = Files::from([of("docs/a.md"), of("release/man/windlass.1")]);
        assert_eq!(write(&produced, folder.path()).unwrap(), 1);
        let written = folder.path().join("man/windlass.1");
        assert_eq!(fs_err::read(written).unwrap(), b"text");
        assert!(!folder.path().join("docs").exists());
        assert!(write(&Files::from([of("docs/a.md")]), folder.path()).is_err());
    }
}
