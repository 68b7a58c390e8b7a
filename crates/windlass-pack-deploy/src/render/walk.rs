//! Reads a directory tree: one pass over each directory, one look at each file's metadata, and
//! the bytes only of files whose digest is not known or whose text is needed.
//!
//! Knows nothing of modules and layers beyond the label it puts on what it finds.

use std::{
    ffi::OsStr,
    fs::{File, Metadata},
    io::Read,
    path::{Path, PathBuf},
};

use sha2::Digest as _;
use windlass_pack_model::{Body, Content, HashCache, Layer, RelPath, Tree, fault};
use windlass_types::{Digest, Problem};

use crate::render::{
    fence::{Fence, refuse},
    unmerged::{Unmerged, conflicts},
};

/// Files up to this size are read in one go; larger ones are hashed piece by piece, so that
/// memory does not grow with them.
const WHOLE: u64 = 1 << 20;
const PIECE: usize = 1 << 18;

/// The directory with an overlay's or a module's metadata.
pub(crate) const METADATA: &str = ".agentpack";

/// What a walk found.
#[derive(Debug, Default)]
pub(crate) struct Found {
    /// The files.
    pub(crate) tree: Tree,
    /// Files below a `.agentpack` directory: never copied, but part of a module's hash.
    pub(crate) hidden: Tree,
    /// Files with conflict markers.
    pub(crate) unmerged: Vec<Unmerged>,
}

/// How to walk.
pub(crate) struct Walk<'a> {
    pub(crate) fence: &'a Fence,
    pub(crate) hashes: &'a dyn HashCache,
    pub(crate) layer: Layer,
    /// Whether a file's bytes are kept in memory, by its path.
    pub(crate) keep_text: &'a dyn Fn(&str) -> bool,
    /// Whether `.agentpack` directories are read at all.
    pub(crate) read_hidden: bool,
}

impl Walk<'_> {
    /// Everything below a directory given by its real path.
    pub(crate) fn directory(&self, root: &Path) -> Result<Found, Problem> {
        let mut run = Run {
            walk: self,
            buffer: Vec::new(),
            trail: Vec::new(),
            files: Vec::new(),
            hidden: Vec::new(),
            unmerged: Vec::new(),
        };
        run.directory(root, "", false)?;
        Ok(Found {
            tree: run.files.into_iter().collect(),
            hidden: run.hidden.into_iter().collect(),
            unmerged: run.unmerged,
        })
    }

    /// One file given by its real path, under its own name or another.
    pub(crate) fn single(
        &self,
        path: PathBuf,
        name: Option<&OsStr>,
        metadata: &Metadata,
    ) -> Result<Found, Problem> {
        let name = name.or(path.file_name()).unwrap_or_default();
        let rel = relative(name.to_string_lossy().into_owned(), &path)?;
        let mut buffer = Vec::new();
        let mut unmerged = Vec::new();
        let content = self.content(&mut buffer, path, metadata, rel.as_str(), &mut unmerged)?;
        Ok(Found {
            tree: Tree::from([(rel, content)]),
            hidden: Tree::new(),
            unmerged,
        })
    }

    fn content(
        &self,
        buffer: &mut Vec<u8>,
        path: PathBuf,
        metadata: &Metadata,
        rel: &str,
        unmerged: &mut Vec<Unmerged>,
    ) -> Result<Content, Problem> {
        let executable = is_executable(metadata);
        let mut look = |bytes: &[u8]| {
            let conflicts = conflicts(&path, bytes);
            let found = !conflicts.is_empty();
            if found {
                let path = path.clone();
                unmerged.push(Unmerged { path, conflicts });
            }
            found
        };
        if (self.keep_text)(rel) {
            let bytes = read(buffer, &path, metadata.len())?;
            look(bytes);
            return Ok(Content::of(bytes, executable, self.layer));
        }
        let (digest, len) = match self.hashes.digest(&path, metadata) {
            Some(digest) => (digest, metadata.len()),
            None => {
                let mut conflicted = false;
                let (digest, len) = match metadata.len() <= WHOLE {
                    true => {
                        let bytes = read(buffer, &path, metadata.len())?;
                        conflicted = look(bytes);
                        let digest = Digest::of(bytes);
                        self.hashes.read(digest, bytes);
                        (digest, bytes.len() as u64)
                    }
                    false => hash_large(buffer, &path)?,
                };
                // A file that grew or shrank since the metadata were taken is still changing. One
                // with conflicts is read again, so that they are found again.
                if len == metadata.len() && !conflicted {
                    self.hashes.remember(&path, metadata, digest);
                }
                (digest, len)
            }
        };
        Ok(Content {
            digest,
            len,
            executable,
            body: Body::File(path),
            layer: self.layer,
        })
    }
}

struct Run<'a> {
    walk: &'a Walk<'a>,
    buffer: Vec<u8>,
    /// The real directories in which links that are being followed were found.
    trail: Vec<PathBuf>,
    files: Vec<(RelPath, Content)>,
    hidden: Vec<(RelPath, Content)>,
    unmerged: Vec<Unmerged>,
}

impl Run<'_> {
    fn directory(&mut self, dir: &Path, below: &str, hidden: bool) -> Result<(), Problem> {
        let entries =
            std::fs::read_dir(dir).map_err(|error| fault::io("read directory", dir, &error))?;
        for entry in entries {
            let entry = entry.map_err(|error| fault::io("read directory", dir, &error))?;
            let name = entry.file_name();
            if name == ".git" {
                continue;
            }
            let hidden = hidden || name == METADATA;
            if hidden && !self.walk.read_hidden {
                continue;
            }
            let Some(name) = name.to_str() else {
                let path = entry.path();
                return Err(fault::config_invalid(format!(
                    "file name {} is not UTF-8; rename it",
                    path.display()
                ))
                .with("path", path.display().to_string()));
            };
            let rel = match below {
                "" => name.to_owned(),
                below => format!("{below}/{name}"),
            };
            let kind = entry
                .file_type()
                .map_err(|error| fault::io("look at", &entry.path(), &error))?;
            if kind.is_dir() {
                self.directory(&entry.path(), &rel, hidden)?;
            } else if kind.is_symlink() {
                self.link(dir, &entry.path(), rel, hidden)?;
            } else {
                // Relative to the open directory: no path to resolve again.
                let metadata = entry
                    .metadata()
                    .map_err(|error| fault::io("look at", &entry.path(), &error))?;
                self.file(entry.path(), &metadata, rel, hidden)?;
            }
        }
        Ok(())
    }

    fn link(&mut self, dir: &Path, link: &Path, rel: String, hidden: bool) -> Result<(), Problem> {
        let target = follow(link)?;
        self.walk.fence.admit(link, &target)?;
        let metadata =
            std::fs::metadata(&target).map_err(|error| fault::io("look at", &target, &error))?;
        if !metadata.is_dir() {
            return self.file(target, &metadata, rel, hidden);
        }
        if dir.starts_with(&target) || self.trail.iter().any(|seen| seen.starts_with(&target)) {
            return Err(refuse(
                link,
                &target,
                format!(
                    "symbolic link {} leads back to {}: the module would never end",
                    link.display(),
                    target.display()
                ),
            ));
        }
        self.trail.push(dir.to_owned());
        self.directory(&target, &rel, hidden)?;
        self.trail.pop();
        Ok(())
    }

    fn file(
        &mut self,
        path: PathBuf,
        metadata: &Metadata,
        rel: String,
        hidden: bool,
    ) -> Result<(), Problem> {
        if !metadata.is_file() {
            return Err(not_a_file(&path));
        }
        let rel = relative(rel, &path)?;
        let mut own = Vec::new();
        let content =
            self.walk
                .content(&mut self.buffer, path, metadata, rel.as_str(), &mut own)?;
        if !hidden {
            self.unmerged.append(&mut own);
        }
        let list = if hidden {
            &mut self.hidden
        } else {
            &mut self.files
        };
        list.push((rel, content));
        Ok(())
    }
}

/// The real path behind a link.
pub(crate) fn follow(link: &Path) -> Result<PathBuf, Problem> {
    std::fs::canonicalize(link).map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound => fault::config_invalid(format!(
            "symbolic link {} leads nowhere; remove it or restore what it points to",
            link.display()
        ))
        .with("path", link.display().to_string()),
        _ => fault::io("follow symbolic link", link, &error),
    })
}

/// Something that is neither a file nor a directory.
pub(crate) fn not_a_file(path: &Path) -> Problem {
    fault::config_invalid(format!(
        "{} is neither a file nor a directory; remove it from the module",
        path.display()
    ))
    .with("path", path.display().to_string())
}

fn relative(rel: String, path: &Path) -> Result<RelPath, Problem> {
    RelPath::new(rel).map_err(|error| {
        fault::config_invalid(format!("{}: {error}; rename it", path.display()))
            .with("path", path.display().to_string())
    })
}

#[cfg(unix)]
fn is_executable(metadata: &Metadata) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    metadata.permissions().mode() & 0o100 != 0
}

#[cfg(not(unix))]
fn is_executable(_: &Metadata) -> bool {
    false
}

fn hash_large(buffer: &mut Vec<u8>, path: &Path) -> Result<(Digest, u64), Problem> {
    let mut file = File::open(path).map_err(|error| fault::io("read", path, &error))?;
    buffer.resize(buffer.len().max(PIECE), 0);
    let mut hasher = sha2::Sha256::new();
    let mut len = 0;
    loop {
        match file.read(buffer) {
            Ok(0) => break,
            Ok(count) => {
                hasher.update(&buffer[..count]);
                len += count as u64;
            }
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(error) => return Err(fault::io("read", path, &error)),
        }
    }
    Ok((Digest::from_bytes(hasher.finalize().into()), len))
}

/// All bytes of a file, in a buffer that is used again. Where the size is as expected this
/// takes one `read`, not the `fstat` and second `read` of the general way.
fn read<'b>(buffer: &'b mut Vec<u8>, path: &Path, expected: u64) -> Result<&'b [u8], Problem> {
    let failed = |error: std::io::Error| fault::io("read", path, &error);
    let mut file = File::open(path).map_err(failed)?;
    let expected =
        usize::try_from(expected).map_err(|_| failed(std::io::ErrorKind::FileTooLarge.into()))?;
    if buffer.len() <= expected {
        buffer.resize(expected + 1, 0);
    }
    let mut filled = 0;
    loop {
        match file.read(&mut buffer[filled..]) {
            Ok(0) => break,
            Ok(count) => filled += count,
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(failed(error)),
        }
        if filled == expected {
            break;
        }
        if filled == buffer.len() {
            buffer.resize(filled * 2, 0);
        }
    }
    Ok(&buffer[..filled])
}

#[cfg(test)]
#[path = "walk_tests.rs"]
mod tests;
