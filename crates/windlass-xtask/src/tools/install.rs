//! Install once, try three times, and leave a stamp only when it worked.
//!
//! Not here: how a given tool is installed. Called by the other files of this folder.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use anyhow::{Context as _, Result};

use crate::repo::Repo;

/// Pauses between tries: a registry that fails for a moment has usually recovered by then.
const PAUSES: [Duration; 2] = [Duration::from_secs(2), Duration::from_secs(10)];

/// One tool at one version.
pub struct Tool<'a> {
    /// The folder below `target/tools`.
    pub folder: &'a str,
    /// What is written into the stamp: the exact version, and anything else that must match.
    pub version: &'a str,
    /// A file below the folder that exists once the tool is there.
    pub entry: &'a str,
    /// What the machine must have before installing makes sense; asked once, not retried.
    pub needs: fn() -> Result<()>,
}

/// Makes sure the tool is there in exactly this version; returns the path of its entry.
pub fn ensure(
    repo: &Repo,
    tool: &Tool<'_>,
    install: impl Fn(&Path) -> Result<()>,
) -> Result<PathBuf> {
    let tools = repo.target.join("tools");
    fs_err::create_dir_all(&tools)?;
    // Two processes at once would otherwise remove each other's half-finished folders.
    let lock = tools.join(format!("{}.lock", tool.folder));
    let lock =
        File::create(&lock).with_context(|| format!("could not create {}", lock.display()))?;
    lock.lock()
        .with_context(|| format!("could not lock {}", tool.folder))?;

    let folder = tools.join(tool.folder);
    let entry = folder.join(tool.entry);
    let stamp = folder.join("installed-version");
    if is_installed(&stamp, tool.version) && entry.exists() {
        return Ok(entry);
    }
    (tool.needs)()?;
    println!("installing {} {}", tool.folder, tool.version);
    let what = format!("installing {} {}", tool.folder, tool.version);
    retry(&what, || {
        if folder.exists() {
            fs_err::remove_dir_all(&folder)?;
        }
        fs_err::create_dir_all(&folder)?;
        install(&folder)?;
        if !entry.exists() {
            anyhow::bail!("{} is missing afterwards", entry.display());
        }
        Ok(())
    })?;
    fs_err::write(&stamp, tool.version)?;
    Ok(entry)
}

/// Tries up to three times, with a growing pause, and says what to check when all fail.
pub fn retry<T>(what: &str, work: impl Fn() -> Result<T>) -> Result<T> {
    attempt(what, &PAUSES, work)
}

fn attempt<T>(what: &str, all: &[Duration], work: impl Fn() -> Result<T>) -> Result<T> {
    let mut pauses = all.iter();
    loop {
        match (work(), pauses.next()) {
            (Ok(value), _) => return Ok(value),
            (Err(error), Some(pause)) => {
                println!(
                    "{what} failed, next try in {} s: {error:#}",
                    pause.as_secs()
                );
                thread::sleep(*pause);
            }
            (Err(error), None) => {
                return Err(error).with_context(|| {
                    format!(
                        "{what} failed {} times; check that this machine reaches the package registry",
                        all.len() + 1
                    )
                });
            }
        }
    }
}

fn is_installed(stamp: &Path, version: &str) -> bool {
    fs_err::read_to_string(stamp).is_ok_and(|text| text == version)
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    const TOOL: Tool<'_> = Tool {
        folder: "tool",
        version: "1.0.0",
        entry: "bin/tool",
        needs: || Ok(()),
    };

    fn repo(folder: &Path) -> Repo {
        Repo {
            root: folder.into(),
            target: folder.join("target"),
            metadata: serde_json::Value::Null,
        }
    }

    #[test]
    fn a_tool_is_installed_once_per_version() {
        let folder = tempfile::tempdir().unwrap();
        let repo = repo(folder.path());
        let installs = Cell::new(0);
        let install = |folder: &Path| {
            installs.set(installs.get() + 1);
            fs_err::create_dir_all(folder.join("bin"))?;
            Ok(fs_err::write(folder.join("bin/tool"), "x")?)
        };
        for _ in 0..2 {
            let entry = ensure(&repo, &TOOL, install).unwrap();
            assert_eq!(entry, folder.path().join("target/tools/tool/bin/tool"));
        }
        assert_eq!(installs.get(), 1);

        let newer = Tool {
            version: "1.0.1",
            ..TOOL
        };
        ensure(&repo, &newer, install).unwrap();
        assert_eq!(installs.get(), 2);

        fs_err::remove_file(folder.path().join("target/tools/tool/bin/tool")).unwrap();
        ensure(&repo, &newer, install).unwrap();
        assert_eq!(installs.get(), 3);
    }

    #[test]
    fn a_missing_need_is_reported_without_trying() {
        let folder = tempfile::tempdir().unwrap();
        let tool = Tool {
            needs: || anyhow::bail!("npm is needed"),
            ..TOOL
        };
        let error = ensure(&repo(folder.path()), &tool, |_| Ok(())).unwrap_err();
        assert_eq!(error.to_string(), "npm is needed");
    }

    #[test]
    fn a_failure_is_retried_and_a_lasting_one_is_explained() {
        let pauses = [Duration::ZERO; 2];
        let tries = Cell::new(0);
        let outcome = attempt("installing x", &pauses, || {
            tries.set(tries.get() + 1);
            if tries.get() < 3 {
                anyhow::bail!("refused");
            }
            Ok(tries.get())
        });
        assert_eq!(outcome.unwrap(), 3);

        let error = attempt::<()>("installing x", &pauses, || anyhow::bail!("refused"));
        assert_eq!(
            format!("{:#}", error.unwrap_err()),
            "installing x failed 3 times; check that this machine reaches the package registry: \
             refused"
        );
    }
}
