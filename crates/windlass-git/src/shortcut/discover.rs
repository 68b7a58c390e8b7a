//! The way up from a directory to its repository, by git's rules for plain ones.

use std::fs::Metadata;
use std::io::{self, ErrorKind};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use windlass_ports::git::is_commit_id;

use super::config::Config;

/// A repository with a plain `.git` directory at the top of its only work tree.
pub struct Repository {
    pub top: PathBuf,
    pub git_dir: PathBuf,
    pub config: Config,
    /// The content of `HEAD`, trimmed.
    pub head: String,
}

pub enum Found {
    Repository(Repository),
    Nothing,
    Unsure,
}

pub fn discover(directory: &Path) -> Found {
    search(directory).unwrap_or(Found::Unsure)
}

/// Any error is a doubt.
fn search(directory: &Path) -> io::Result<Found> {
    let start = directory.canonicalize()?;
    let start_metadata = fs_err::metadata(&start)?;
    if !start_metadata.is_dir() {
        return Ok(Found::Unsure);
    }
    for level in start.ancestors() {
        let metadata = fs_err::metadata(level)?;
        // git does not search on another file system.
        if metadata.dev() != start_metadata.dev() {
            return Ok(Found::Nothing);
        }
        let git_dir = level.join(".git");
        match look(&git_dir)? {
            Some(found) if found.is_dir() => {
                return Ok(match plain(level, &metadata, git_dir, &found)? {
                    Some(repository) => Found::Repository(repository),
                    None => Found::Unsure,
                });
            }
            // A file or a link that points elsewhere.
            Some(_) => return Ok(Found::Unsure),
            None => {}
        }
        // A bare repository, or the inside of a `.git`.
        if look(&level.join("HEAD"))?.is_some() {
            return Ok(Found::Unsure);
        }
    }
    Ok(Found::Nothing)
}

/// The entry itself, links not followed; `None` when there is none.
fn look(path: &Path) -> io::Result<Option<Metadata>> {
    match fs_err::symlink_metadata(path) {
        Ok(metadata) => Ok(Some(metadata)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// `None` when anything about the repository is not plain.
fn plain(
    top: &Path,
    top_metadata: &Metadata,
    git_dir: PathBuf,
    git_metadata: &Metadata,
) -> io::Result<Option<Repository>> {
    // git refuses repositories of other users by default.
    let user = rustix::process::geteuid().as_raw();
    if top_metadata.uid() != user || git_metadata.uid() != user {
        return Ok(None);
    }
    let is_dir = |name: &str| -> io::Result<bool> {
        Ok(look(&git_dir.join(name))?.is_some_and(|found| found.is_dir()))
    };
    if !is_dir("objects")? || !is_dir("refs")? || look(&git_dir.join("commondir"))?.is_some() {
        return Ok(None);
    }
    let head_path = git_dir.join("HEAD");
    if !look(&head_path)?.is_some_and(|found| found.is_file()) {
        return Ok(None);
    }
    let head = fs_err::read_to_string(head_path)?;
    let head = head.trim_end_matches('\n').to_owned();
    if !head.starts_with("ref: refs/heads/") && !is_commit_id(&head) {
        return Ok(None);
    }
    let config = Config::read(&fs_err::read_to_string(git_dir.join("config"))?);
    let Some(config) = config.filter(Config::is_plain) else {
        return Ok(None);
    };
    Ok(Some(Repository {
        top: top.to_owned(),
        git_dir,
        config,
        head,
    }))
}
