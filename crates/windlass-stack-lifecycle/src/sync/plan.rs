//! A directory as a manifest: every file with its digest, headers and tags.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use sha2::{Digest as _, Sha256};
use windlass_ports::aws::ObjectBody;
use windlass_types::{Digest, Problem, code};

use crate::package::{Kind, Links, Node, Walk};
use crate::sync::content_type::is_page;
use crate::sync::headers::invalid;
use crate::sync::inject::inject;
use crate::sync::manifest::{Entry, Manifest};
use crate::sync::source::SyncSource;

/// What no bucket is meant to hold: histories of sources, and what file managers leave behind.
const NEVER: [&str; 4] = [".git", ".hg", ".svn", ".DS_Store"];
/// S3's limit for one upload.
const LARGEST: u64 = 5 << 30;
/// S3's limit for a key, in bytes.
const LONGEST_KEY: usize = 1024;
/// Up to this size contents are sent from memory, just as they were checked.
const IN_MEMORY: u64 = 8 << 20;

/// A manifest, and where the contents are.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The manifest.
    pub manifest: Manifest,
    /// Key → contents.
    pub(crate) contents: BTreeMap<String, Content>,
    /// Paths that are never put into a bucket and were left out (`.git`, `.DS_Store`).
    pub left_out: Vec<String>,
}

/// Contents of a file.
#[derive(Clone, Debug)]
pub(crate) enum Content {
    /// As they are on disk.
    File(PathBuf),
    /// With values put into them.
    Made(Vec<u8>),
}

/// Walks a directory. Links that leave it are refused. Blocks; nothing is changed.
pub fn plan(source: &SyncSource, injected: &BTreeMap<String, String>) -> Result<Plan, Problem> {
    let name = &source.resource;
    let shown = source.directory.display();
    let Ok(root) = fs_err::canonicalize(&source.directory) else {
        let problem = unusable(
            name,
            "directory_missing",
            format!("there is no directory {shown}"),
        );
        return Err(match &source.build {
            Some(build) => problem.next(format!("make `{}` write its files there", build.command)),
            None => problem.next("paths are relative to the config"),
        });
    };
    let left_out = RefCell::new(Vec::new());
    let wanted = |path: &str, _: Kind| {
        if path
            .rsplit('/')
            .next()
            .is_some_and(|it| NEVER.contains(&it))
        {
            left_out.borrow_mut().push(path.to_owned());
            return false;
        }
        !source.excluded.is_match(path)
    };
    let walk = Walk {
        project: &root,
        links: Links::Followed,
        wanted: &wanted,
    };
    let found = walk.files(&root).map_err(|cause| {
        unusable(name, "directory_unusable", format!("{shown}: {cause}"))
            .next("leave it out with excludeFilesPatterns, or put a copy into the directory")
    })?;
    let mut manifest = Manifest {
        bucket_id: source.bucket_id.clone(),
        distribution_id: source.distribution_id.clone(),
        ownership: source.ownership,
        files: BTreeMap::new(),
    };
    let mut contents = BTreeMap::new();
    for file in found {
        // Links are followed, so there are only files.
        let Node::File { source: place, .. } = file.node else {
            continue;
        };
        let content = Content::read(&place, &file.path, injected)
            .map_err(|error| unusable(name, "file_unreadable", error))?;
        let (sha256, size) = content
            .digest()
            .map_err(|error| unusable(name, "file_unreadable", error))?;
        let entry = entry(source, &file.path, sha256, size)?;
        manifest.files.insert(file.path.clone(), entry);
        contents.insert(file.path, content);
    }
    if manifest.files.is_empty() {
        let cause = format!("{shown} has no files; nothing would be left in the bucket");
        return Err(unusable(name, "directory_empty", cause)
            .next("check that the build wrote its files, and the patterns that leave files out"));
    }
    Ok(Plan {
        manifest,
        contents,
        left_out: left_out.into_inner(),
    })
}

fn entry(source: &SyncSource, path: &str, sha256: Digest, size: u64) -> Result<Entry, Problem> {
    let name = &source.resource;
    if path.len() > LONGEST_KEY {
        let cause = format!("the name {path} is longer than the {LONGEST_KEY} bytes of a key");
        return Err(unusable(name, "name_too_long", cause));
    }
    if size > LARGEST {
        let cause = format!("{path} has {size} bytes, more than the {LARGEST} of one upload");
        return Err(unusable(name, "file_too_large", cause));
    }
    let given = source.rules.of(name, path)?;
    Ok(Entry {
        sha256,
        size,
        content_type: given.content_type,
        cache_control: given.cache_control,
        content_encoding: given.content_encoding,
        content_disposition: given.content_disposition,
        metadata: given.metadata,
        tags: given.tags,
        e_tag: None,
    })
}

fn unusable(resource: &str, reason: &str, cause: impl std::fmt::Display) -> Problem {
    invalid(resource, "files", reason, cause)
}

impl Content {
    fn read(file: &Path, path: &str, injected: &BTreeMap<String, String>) -> std::io::Result<Self> {
        if injected.is_empty() || !is_page(path) {
            return Ok(Self::File(file.to_owned()));
        }
        Ok(Self::Made(inject(&fs_err::read(file)?, injected)))
    }

    fn digest(&self) -> std::io::Result<(Digest, u64)> {
        let file = match self {
            Self::Made(bytes) => return Ok((Digest::of(bytes), bytes.len() as u64)),
            Self::File(file) => file,
        };
        let mut open = fs_err::File::open(file)?;
        let mut hash = Sha256::new();
        let mut size = 0;
        let mut chunk = vec![0; 64 * 1024];
        loop {
            match open.read(&mut chunk)? {
                0 => break,
                count => {
                    hash.update(chunk.get(..count).unwrap_or_default());
                    size += count as u64;
                }
            }
        }
        Ok((Digest::from_bytes(hash.finalize().into()), size))
    }

    /// What is sent, proven to be what was planned. Blocks.
    pub fn body(&self, path: &str, entry: &Entry) -> Result<ObjectBody, Problem> {
        let unreadable = |error: std::io::Error| Problem::internal("bucket sync", error);
        let (body, sha256) = match self {
            Self::Made(bytes) => (ObjectBody::Bytes(bytes.clone()), Digest::of(bytes)),
            Self::File(file) if entry.size <= IN_MEMORY => {
                let bytes = fs_err::read(file).map_err(unreadable)?;
                let sha256 = Digest::of(&bytes);
                (ObjectBody::Bytes(bytes), sha256)
            }
            Self::File(file) => {
                let (sha256, _) = self.digest().map_err(unreadable)?;
                (ObjectBody::File(file.clone()), sha256)
            }
        };
        if sha256 == entry.sha256 {
            return Ok(body);
        }
        let message = format!("{path} changed while its directory was put into the bucket");
        Err(Problem::new(&code::ILLEGAL_STATE, message)
            .with("reason", "file_changed")
            .with("path", path)
            .next("repeat the deploy once nothing writes to the directory"))
    }
}

#[cfg(test)]
#[path = "plan_tests.rs"]
mod tests;
