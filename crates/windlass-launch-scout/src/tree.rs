//! A checked-out directory, read once: every file's path, size, digest and, where it is text
//! that something will read, its text.
//!
//! No symbolic link is followed, in whatever direction it points; a link counts as a file whose
//! content is its target. Nothing is executed. The same files give the same tree, whatever order
//! the directory lists them in.

use std::{
    collections::BTreeMap,
    io::Read as _,
    path::{Path, PathBuf},
    sync::Arc,
};

use ignore::{
    WalkBuilder,
    gitignore::{Gitignore, GitignoreBuilder},
};
use sha2::{Digest as _, Sha256};

use windlass_launch_model::config::GitignoreMode;
use windlass_types::{Digest, Problem};

use crate::kind::{is_below, wants_text};

/// Larger files are listed and hashed, and not read as text.
pub(crate) const MAX_TEXT_BYTES: u64 = 1024 * 1024;

/// Text beyond this sum is not kept, so that a hostile repository cannot fill the memory.
const MAX_TOTAL_TEXT_BYTES: u64 = 256 * 1024 * 1024;

/// A text with a longer line is generated or hostile, and is not read.
const MAX_LINE_BYTES: usize = 20_000;

/// How much of a file decides whether it is binary.
const SNIFF_BYTES: usize = 8 * 1024;

/// A file of the tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct File {
    pub size: u64,
    /// Over path and content.
    pub digest: Digest,
    pub binary: bool,
    pub text: Option<Arc<str>>,
}

/// What was not read, by reason.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Skipped {
    /// Files over 1 MiB.
    pub too_large: u64,
    /// Files with a line too long to be hand-written.
    pub long_lines: u64,
    /// Files that call themselves text and are not UTF-8.
    pub not_utf8: u64,
    /// Files whose name is not UTF-8; they are not listed.
    pub unreadable_names: u64,
    /// Symbolic links; listed, never followed.
    pub symlinks: u64,
    /// Files left unread because the sum of all text is too large.
    pub over_total: u64,
    /// Entries that could not be opened; they are not listed.
    pub unreadable: u64,
}

/// What is left out of a tree.
#[derive(Clone, Debug, Default)]
pub(crate) struct TreeRules<'a> {
    pub gitignore: GitignoreMode,
    pub scan: &'a [String],
    pub exclude: &'a [String],
}

/// A checked-out directory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Tree {
    /// By path, with `/` between components.
    pub files: BTreeMap<String, File>,
    pub skipped: Skipped,
}

impl Tree {
    /// Reads a directory.
    pub(crate) fn read(root: &Path, rules: &TreeRules<'_>) -> Result<Self, Problem> {
        let metadata = fs_err::symlink_metadata(root).map_err(|error| {
            // The kind alone: the path is the machine's own business.
            let cause = format!("the checkout cannot be read: {}", error.kind());
            Problem::internal("scout_io", cause).next("check that the checkout exists")
        })?;
        if !metadata.is_dir() {
            return Err(Problem::internal(
                "scout_io",
                "the checkout is not a directory",
            ));
        }
        let excluded = exclusions(rules.exclude)?;
        let mut skipped = Skipped::default();
        let mut found = BTreeMap::new();
        list(
            root,
            rules.gitignore != GitignoreMode::Ignore,
            &mut found,
            &mut skipped,
        );
        if rules.gitignore == GitignoreMode::Strict {
            refuse_ignored(root, &found)?;
        }
        let mut tree = Self {
            files: BTreeMap::new(),
            skipped,
        };
        let mut kept_bytes = 0;
        for (path, absolute) in found {
            if in_scope(&path, rules.scan)
                && !excluded
                    .matched_path_or_any_parents(&path, false)
                    .is_ignore()
            {
                tree.add(path, &absolute, &mut kept_bytes);
            }
        }
        Ok(tree)
    }

    fn add(&mut self, path: String, absolute: &Path, kept_bytes: &mut u64) {
        let Ok(metadata) = fs_err::symlink_metadata(absolute) else {
            self.skipped.unreadable += 1;
            return;
        };
        if metadata.is_symlink() {
            self.skipped.symlinks += 1;
            let target = fs_err::read_link(absolute).unwrap_or_default();
            let bytes = target.as_os_str().as_encoded_bytes();
            let file = File {
                size: bytes.len() as u64,
                digest: Digest::of_parts(&[path.as_bytes(), bytes]),
                binary: false,
                text: None,
            };
            self.files.insert(path, file);
            return;
        }
        if metadata.len() > MAX_TEXT_BYTES {
            match hash_large(&path, absolute, metadata.len()) {
                Ok((digest, binary)) => {
                    if !binary {
                        self.skipped.too_large += 1;
                    }
                    let file = File {
                        size: metadata.len(),
                        digest,
                        binary,
                        text: None,
                    };
                    self.files.insert(path, file);
                }
                Err(_) => self.skipped.unreadable += 1,
            }
            return;
        }
        let Ok(bytes) = fs_err::read(absolute) else {
            self.skipped.unreadable += 1;
            return;
        };
        let digest = Digest::of_parts(&[path.as_bytes(), &bytes]);
        let size = bytes.len() as u64;
        let binary = is_binary(&bytes);
        let text = if binary || !wants_text(&path) {
            None
        } else {
            self.keep_text(bytes, kept_bytes)
        };
        let file = File {
            size,
            digest,
            binary,
            text,
        };
        self.files.insert(path, file);
    }

    fn keep_text(&mut self, bytes: Vec<u8>, kept_bytes: &mut u64) -> Option<Arc<str>> {
        let Ok(text) = String::from_utf8(bytes) else {
            self.skipped.not_utf8 += 1;
            return None;
        };
        if text.lines().any(|line| line.len() > MAX_LINE_BYTES) {
            self.skipped.long_lines += 1;
            return None;
        }
        if *kept_bytes + text.len() as u64 > MAX_TOTAL_TEXT_BYTES {
            self.skipped.over_total += 1;
            return None;
        }
        *kept_bytes += text.len() as u64;
        Some(Arc::from(text))
    }

    /// A file's text without its byte order mark, where it was read.
    pub(crate) fn text(&self, path: &str) -> Option<&str> {
        self.files.get(path)?.text.as_deref().map(without_mark)
    }

    /// The digest of a file's content alone, where it was read.
    pub(crate) fn content_digest(&self, path: &str) -> Option<Digest> {
        let text = self.files.get(path)?.text.as_deref()?;
        Some(Digest::of(text.as_bytes()))
    }

    /// Every file with text, sorted by path.
    pub(crate) fn texts(&self) -> impl Iterator<Item = (&str, &str)> {
        self.files
            .iter()
            .filter_map(|(path, file)| Some((path.as_str(), without_mark(file.text.as_deref()?))))
    }

    /// Whether a file or folder of this path exists.
    pub(crate) fn exists(&self, path: &str) -> bool {
        self.files.contains_key(path) || self.has_folder(path)
    }

    /// Whether a folder of this path holds a file.
    pub(crate) fn has_folder(&self, path: &str) -> bool {
        let prefix = format!("{}/", path.trim_end_matches('/'));
        self.files
            .range(prefix.clone()..)
            .next()
            .is_some_and(|(first, _)| first.starts_with(&prefix))
    }

    /// Over the digests of every file, in the order of their paths.
    pub(crate) fn fingerprint(&self) -> Digest {
        let mut all = Vec::with_capacity(self.files.len() * 32);
        for file in self.files.values() {
            all.extend_from_slice(file.digest.as_bytes());
        }
        Digest::of(&all)
    }
}

fn without_mark(text: &str) -> &str {
    text.strip_prefix('\u{feff}').unwrap_or(text)
}

/// Adds every file below `root` to `found`.
fn list(
    root: &Path,
    gitignore: bool,
    found: &mut BTreeMap<String, PathBuf>,
    skipped: &mut Skipped,
) {
    // Only what the repository itself says counts: a machine's global ignore file, or one in a
    // parent folder of the checkout, would make two machines read different products.
    let walk = WalkBuilder::new(root)
        .standard_filters(false)
        .git_ignore(gitignore)
        .require_git(false)
        .follow_links(false)
        .filter_entry(|entry| entry.file_name() != ".git")
        .build();
    add_entries(walk, root, found, skipped);
}

/// In mode strict a file that is checked out and ignored is a fault of the repository: it is
/// tracked, and still says it is not.
fn refuse_ignored(root: &Path, read: &BTreeMap<String, PathBuf>) -> Result<(), Problem> {
    const MOST_NAMED: usize = 10;
    let mut all = BTreeMap::new();
    list(root, false, &mut all, &mut Skipped::default());
    let hidden: Vec<String> = all
        .into_keys()
        .filter(|path| !read.contains_key(path))
        .take(MOST_NAMED)
        .collect();
    let Some(first) = hidden.first() else {
        return Ok(());
    };
    Err(Problem::invalid(
        "/ingestion/gitignore_mode",
        "in mode strict no checked-out file is ignored",
        format!(
            "{first:?} is in the repository and ignored by its .gitignore; \
             set gitignore_mode to respect or ignore, or fix the repository"
        ),
    )
    .with("paths", hidden))
}

fn add_entries(
    walk: ignore::Walk,
    root: &Path,
    found: &mut BTreeMap<String, PathBuf>,
    skipped: &mut Skipped,
) {
    for entry in walk {
        let Ok(entry) = entry else {
            skipped.unreadable += 1;
            continue;
        };
        let listed = entry
            .file_type()
            .is_some_and(|kind| kind.is_file() || kind.is_symlink());
        // A checkout's own root is never a link's target here: depth 0 is the root itself.
        if !listed || entry.depth() == 0 {
            continue;
        }
        match relative(root, entry.path()) {
            Some(path) => {
                found.insert(path, entry.into_path());
            }
            None => skipped.unreadable_names += 1,
        }
    }
}

fn relative(root: &Path, path: &Path) -> Option<String> {
    let mut parts = Vec::new();
    for component in path.strip_prefix(root).ok()?.components() {
        parts.push(component.as_os_str().to_str()?);
    }
    Some(parts.join("/"))
}

fn in_scope(path: &str, scan: &[String]) -> bool {
    scan.is_empty() || scan.iter().any(|folder| is_below(path, folder))
}

fn exclusions(patterns: &[String]) -> Result<Gitignore, Problem> {
    let mut builder = GitignoreBuilder::new("");
    for pattern in patterns {
        builder.add_line(None, pattern).map_err(|error| {
            Problem::invalid(
                "/ingestion/exclude_patterns",
                "a pattern as in a .gitignore file",
                format!("the pattern {pattern:?} cannot be read: {error}"),
            )
        })?;
    }
    builder
        .build()
        .map_err(|error| Problem::internal("scout_patterns", error))
}

/// The digest of a file too large to hold, and whether it is binary.
fn hash_large(path: &str, absolute: &Path, size: u64) -> std::io::Result<(Digest, bool)> {
    let mut file = fs_err::File::open(absolute)?;
    // The same framing as `Digest::of_parts`, so that a file's digest does not depend on its size.
    let mut hasher = Sha256::new();
    hasher.update((path.len() as u64).to_be_bytes());
    hasher.update(path.as_bytes());
    hasher.update(size.to_be_bytes());
    let mut buffer = vec![0_u8; 64 * 1024];
    let mut binary = None;
    loop {
        let count = file.read(&mut buffer)?;
        if count == 0 {
            break;
        }
        binary.get_or_insert_with(|| is_binary(&buffer[..count]));
        hasher.update(&buffer[..count]);
    }
    Ok((
        Digest::from_bytes(hasher.finalize().into()),
        binary.unwrap_or(false),
    ))
}

/// A NUL byte near the beginning, or a beginning that is mostly control characters.
fn is_binary(bytes: &[u8]) -> bool {
    let head = &bytes[..bytes.len().min(SNIFF_BYTES)];
    if head.contains(&0) {
        return true;
    }
    let control = head
        .iter()
        .filter(|byte| **byte < 0x20 && !matches!(**byte, b'\t' | b'\n' | b'\r' | 0x0c | 0x1b))
        .count();
    control * 10 > head.len()
}
