//! What a directory could run, as the files that decide it.
//!
//! - of a git repository: its settings, hooks, attributes, and files these include;
//! - every file of the project that an interpreter could load, whatever imports it: all but documents,
//!   pictures and other files that are no code by their name;
//! - manifests, lock files and the bundler, here and above up to the repository's top.
//!
//! The project is the directory; the highest folder of its repository with a package manifest, where
//! there is one; or the whole repository, where a file of the project points further up. Packages and
//! build output that the repository does not track are left out: they count by their lock file and
//! by what made them. No import is resolved, so there is none to miss.
//!
//! The walk is bounded and linear, and contents are read again only where a file's metadata changed,
//! because it is done before every program that is about to run.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Component, Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use windlass_ports::Executables;
use windlass_types::{Digest, Problem, code};

use crate::index::Index;

/// How many files count.
const MOST_FILES: usize = 50_000;
/// How many bytes they have together.
const MOST_BYTES: u64 = 512 << 20;
/// How deep folders are looked into.
const DEEPEST: usize = 40;
/// How far up manifests are looked for.
const HIGHEST: usize = 16;
/// A file that changed less than this before it was read may change again and look the same.
const RECENT: Duration = Duration::from_secs(2);

/// Manifests and lock files: they say which packages and scripts run.
const MANIFESTS: [&str; 26] = [
    ".npmrc",
    ".pnp.cjs",
    ".yarnrc",
    ".yarnrc.yml",
    "Makefile",
    "Pipfile",
    "Pipfile.lock",
    "bun.lock",
    "bun.lockb",
    "go.mod",
    "go.sum",
    "go.work",
    "jsconfig.json",
    "package-lock.json",
    "package.json",
    "pnpm-lock.yaml",
    "pnpm-workspace.yaml",
    "poetry.lock",
    "poetry.toml",
    "pyproject.toml",
    "requirements.txt",
    "setup.cfg",
    "setup.py",
    "tsconfig.json",
    "uv.lock",
    "yarn.lock",
];

/// Manifests that let code below them load files next to them: workspaces, aliases, packages.
const OF_PROJECTS: [&str; 7] = [
    "go.work",
    "jsconfig.json",
    "package.json",
    "pnpm-workspace.yaml",
    "pyproject.toml",
    "setup.py",
    "tsconfig.json",
];

/// Programs that packages installed and Windlass runs.
const INSTALLED: [&str; 1] = ["node_modules/.bin/esbuild"];

/// Folders of programs that hooks run.
const OF_HOOKS: [&str; 4] = [".githooks", ".husky", "bin", "scripts"];

/// Endings of programs that hooks run.
const SCRIPTS: [&str; 13] = [
    "bash", "cjs", "cts", "js", "jsx", "mjs", "mts", "pl", "py", "rb", "sh", "ts", "tsx",
];

/// A longer hook is not searched for names of files.
const LONGEST_HOOK: u64 = 1 << 20;

/// Folders of installed packages, which count by their lock file, and of caches and records that
/// programs write: left out unless the repository tracks files in them.
const PACKAGES: [&str; 20] = [
    ".aws-sam",
    ".cache",
    ".gradle",
    ".mypy_cache",
    ".next",
    ".nuxt",
    ".pytest_cache",
    ".ruff_cache",
    ".serverless",
    ".stacktape",
    ".stacktape-stack-info",
    ".svelte-kit",
    ".terraform",
    ".turbo",
    ".venv",
    ".windlass",
    "__pycache__",
    "node_modules",
    "site-packages",
    "venv",
];

/// Folders that may be build output or sources: left out of a repository that tracks nothing in them.
const OUTPUT: [&str; 8] = [
    ".output", "build", "cdk.out", "coverage", "dist", "htmlcov", "out", "target",
];

/// Endings of files that no interpreter loads as code.
const NO_CODE: [&str; 53] = [
    "adoc", "avi", "avif", "bmp", "css", "csv", "db", "doc", "docx", "eot", "flac", "gif", "htm",
    "html", "ico", "jpeg", "jpg", "less", "log", "map", "markdown", "md", "mdx", "mov", "mp3",
    "mp4", "odt", "ogg", "otf", "parquet", "pdf", "pid", "png", "po", "pot", "psd", "rst", "rtf",
    "sass", "scss", "snap", "sqlite", "sqlite3", "svg", "swp", "tif", "tiff", "tsv", "ttf", "wav",
    "webm", "webp", "woff",
];

/// What is known of files that were read, for as long as their metadata stays the same.
#[derive(Debug, Default)]
pub struct Cache(Mutex<HashMap<PathBuf, (Stamp, Known)>>);

/// What changes with a file: device, inode, size, times of its content and of itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Stamp([i64; 4], u64, u64, u64);

#[derive(Clone, Copy, Debug)]
struct Known {
    digest: Digest,
    /// How many folders up its text points at most.
    ups: usize,
}

impl Cache {
    fn read(&self, path: &Path, metadata: &std::fs::Metadata) -> Result<Known, Problem> {
        let stamp = Stamp(
            [
                metadata.mtime(),
                metadata.mtime_nsec(),
                metadata.ctime(),
                metadata.ctime_nsec(),
            ],
            metadata.dev(),
            metadata.ino(),
            metadata.len(),
        );
        let files = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((of, known)) = files().get(path)
            && *of == stamp
        {
            return Ok(*known);
        }
        #[expect(
            clippy::disallowed_methods,
            reason = "compared with times of files, which come from the machine's clock"
        )]
        let now = SystemTime::now();
        let content = fs_err::read(path).map_err(|it| unreadable(&it))?;
        let known = Known {
            digest: Digest::of(&content),
            ups: ups(&content),
        };
        let changed = Duration::from_secs(u64::try_from(metadata.ctime()).unwrap_or(u64::MAX));
        let settled = changed.checked_add(RECENT);
        let settled = settled.and_then(|it| SystemTime::UNIX_EPOCH.checked_add(it));
        if settled.is_some_and(|it| it < now) && content.len() as u64 == metadata.len() {
            files().insert(path.to_owned(), (stamp, known));
        }
        Ok(known)
    }
}

/// How many folders up a text points: the most `..` on one of its lines.
fn ups(content: &[u8]) -> usize {
    let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || b"._-".contains(byte);
    let of_line = |line: &[u8]| {
        let parts = line.split(|byte| !is_part(byte));
        parts.filter(|part| *part == b"..").count()
    };
    let lines = content.split(|byte| *byte == b'\n');
    lines.map(of_line).max().unwrap_or(0)
}

/// What a directory could run.
pub fn find(directory: &Path, cache: &Cache) -> Result<Executables, Problem> {
    let invalid = |text: String| Problem::invalid("directory", "exists", text);
    let directory = fs_err::canonicalize(directory).map_err(|it| invalid(it.to_string()))?;
    if !directory.is_dir() {
        let message = format!("{} is not a directory", directory.display());
        return Err(Problem::invalid("directory", "directory", message)
            .next("name the folder of the config, or the top of the repository"));
    }
    let mut found = Found::new(directory, cache);
    found.git()?;
    found.project()?;
    Ok(found.executables())
}

/// What decides which installed programs a directory runs.
pub fn find_installed(directory: &Path, cache: &Cache) -> Result<Executables, Problem> {
    let mut found = Found::new(directory.to_owned(), cache);
    found.manifests()?;
    Ok(found.executables())
}

/// What decides which programs git runs in a directory: what the repository names, and where the
/// programs of hooks usually are.
pub fn find_git(directory: &Path, cache: &Cache) -> Result<Executables, Problem> {
    let mut found = Found::new(directory.to_owned(), cache);
    found.git()?;
    for path in entries(directory)? {
        let extension = path.extension().and_then(|it| it.to_str()).unwrap_or("");
        let name = path.file_name().unwrap_or_default();
        if path.is_file() && SCRIPTS.contains(&extension) {
            found.file(&path)?;
        } else if path.is_dir() && OF_HOOKS.iter().any(|it| name == *it) {
            found.folder(directory, &path, 0)?;
        }
    }
    found.manifests()?;
    Ok(found.executables())
}

struct Found<'a> {
    cache: &'a Cache,
    directory: PathBuf,
    files: BTreeMap<PathBuf, Digest>,
    /// Folders that were looked into, as the disk knows them.
    walked: BTreeSet<PathBuf>,
    bytes: u64,
    /// What the repository tracks; none where that is not known.
    index: Option<Index>,
    /// Whether a file points to something outside of the folder that is walked.
    points_out: bool,
}

impl<'a> Found<'a> {
    fn new(directory: PathBuf, cache: &'a Cache) -> Self {
        Self {
            cache,
            directory,
            files: BTreeMap::new(),
            walked: BTreeSet::new(),
            bytes: 0,
            index: None,
            points_out: false,
        }
    }

    fn executables(self) -> Executables {
        let files = self.files.into_iter();
        Executables {
            files: files
                .map(|(path, digest)| (shown(&self.directory, &path), digest))
                .collect(),
            directory: self.directory,
        }
    }

    /// Adds a file, if there is one and it is new.
    fn file(&mut self, path: &Path) -> Result<Option<Known>, Problem> {
        let path = plain(path);
        if self.files.contains_key(&path) || !path.is_file() {
            return Ok(None);
        }
        let metadata = fs_err::metadata(&path).map_err(|it| unreadable(&it))?;
        self.bytes = self.bytes.saturating_add(metadata.len());
        if self.files.len() >= MOST_FILES || self.bytes > MOST_BYTES {
            return Err(self.too_much());
        }
        let known = self.cache.read(&path, &metadata)?;
        self.files.insert(path, known.digest);
        Ok(Some(known))
    }

    /// Adds every file of a folder of hooks, whatever it holds.
    fn hooks(&mut self, folder: &Path, depth: usize) -> Result<(), Problem> {
        if depth > DEEPEST {
            return Err(self.too_much());
        }
        for path in entries(folder)? {
            let is_sample = path.extension().is_some_and(|it| it == "sample");
            if path.is_file() && !is_sample {
                if self.file(&path)?.is_some() {
                    self.named(&path)?;
                }
            } else if path.is_dir() && !path.is_symlink() {
                self.hooks(&path, depth + 1)?;
            }
        }
        Ok(())
    }

    /// Adds the files that a hook or a file of settings names by their path.
    fn named(&mut self, file: &Path) -> Result<(), Problem> {
        if fs_err::metadata(file).is_ok_and(|it| it.len() > LONGEST_HOOK) {
            return Ok(());
        }
        let content = fs_err::read(file).map_err(|it| unreadable(&it))?;
        let text = String::from_utf8_lossy(&content);
        let is_end =
            |letter: char| letter.is_whitespace() || "\"'`,:;=|&<>(){}[]$".contains(letter);
        let directory = self.directory.clone();
        let words: BTreeSet<&str> = text.split(is_end).collect();
        for word in words.into_iter().filter(|it| it.contains(['/', '.'])) {
            self.file(&directory.join(word.trim_start_matches('/')))?;
        }
        Ok(())
    }

    /// Settings, hooks and attributes of the repository that the directory is the top of.
    fn git(&mut self) -> Result<(), Problem> {
        let directory = &self.directory.clone();
        self.file(&directory.join(".gitattributes"))?;
        let Some(git) = git_directory(directory) else {
            return Ok(());
        };
        let common = fs_err::read_to_string(git.join("commondir"));
        let common = common.map_or_else(|_| git.clone(), |text| git.join(text.trim()));
        self.repository(&git, directory)?;
        self.repository(&common, directory)?;
        self.submodules(&common.join("modules"), 0)
    }

    fn repository(&mut self, git: &Path, top: &Path) -> Result<(), Problem> {
        self.file(&git.join("info/attributes"))?;
        self.hooks(&git.join("hooks"), 0)?;
        let mut open = vec![git.join("config"), git.join("config.worktree")];
        while let Some(file) = open.pop() {
            if self.file(&file)?.is_none() {
                continue;
            }
            self.named(&file)?;
            let content = fs_err::read(&file).map_err(|it| unreadable(&it))?;
            let text = String::from_utf8_lossy(&content);
            for (key, value) in text.lines().filter_map(|line| line.split_once('=')) {
                let value = value.trim().trim_matches('"');
                match key.trim().to_ascii_lowercase().as_str() {
                    "path" => open.push(file.parent().unwrap_or(git).join(value)),
                    "hookspath" => self.hooks(&top.join(value), 0)?,
                    _ => {}
                }
            }
        }
        Ok(())
    }

    /// Repositories of submodules, below `.git/modules`.
    fn submodules(&mut self, folder: &Path, depth: usize) -> Result<(), Problem> {
        if depth > DEEPEST {
            return Err(self.too_much());
        }
        for path in entries(folder)? {
            if path.join("HEAD").is_file() {
                self.repository(&path, &path)?;
                self.submodules(&path.join("modules"), depth + 1)?;
            } else if path.is_dir() && !path.is_symlink() {
                self.submodules(&path, depth + 1)?;
            }
        }
        Ok(())
    }

    fn project(&mut self) -> Result<(), Problem> {
        let directory = &self.directory.clone();
        let above = above(directory);
        let top = above.last().copied().unwrap_or(directory);
        if let Some(git) = git_directory(top) {
            let index = fs_err::read(git.join("index")).unwrap_or_default();
            self.index = Index::read(&index);
        }
        let is_project = |folder: &&&Path| OF_PROJECTS.iter().any(|it| folder.join(it).is_file());
        let root = above.iter().rfind(is_project).copied();
        let root = root.unwrap_or(directory);
        self.folder(top, root, 0)?;
        if self.points_out && root != top {
            self.walked.clear();
            self.folder(top, top, 0)?;
        }
        self.manifests()
    }

    /// Adds manifests, lock files and installed programs, here and above.
    fn manifests(&mut self) -> Result<(), Problem> {
        for folder in above(&self.directory.clone()) {
            for name in MANIFESTS.iter().chain(&INSTALLED) {
                self.file(&folder.join(name))?;
            }
        }
        Ok(())
    }

    /// Adds every file of a folder that an interpreter could load.
    fn folder(&mut self, top: &Path, folder: &Path, depth: usize) -> Result<(), Problem> {
        if depth > DEEPEST {
            return Err(self.too_much());
        }
        let place = fs_err::canonicalize(folder).map_err(|it| unreadable(&it))?;
        if !self.walked.insert(place) {
            return Ok(());
        }
        for path in entries(folder)? {
            if path.is_dir() {
                if !self.is_left_out(top, &path) {
                    self.folder(top, &path, depth + 1)?;
                }
            } else if is_code(&path)
                && let Some(known) = self.file(&path)?
            {
                self.points_out |= known.ups > depth;
            }
        }
        Ok(())
    }

    /// Whether a folder is no part of the project: history, packages, output.
    fn is_left_out(&self, top: &Path, folder: &Path) -> bool {
        let name = folder.file_name().unwrap_or_default().to_string_lossy();
        match &*name {
            ".git" | ".hg" | ".svn" => true,
            name if PACKAGES.contains(&name) => !self.is_tracked(top, folder, false),
            name if OUTPUT.contains(&name) => !self.is_tracked(top, folder, true),
            _ => false,
        }
    }

    /// Whether the repository tracks a file of a folder; `otherwise` where that is not known.
    fn is_tracked(&self, top: &Path, folder: &Path, otherwise: bool) -> bool {
        match (&self.index, folder.strip_prefix(top)) {
            (Some(index), Ok(below)) => index.has_below(&below.to_string_lossy()),
            _ => otherwise,
        }
    }

    fn too_much(&self) -> Problem {
        Problem::new(
            &code::PAYLOAD_TOO_LARGE,
            format!(
                "{} has more files that decide what runs than can be looked at ({MOST_FILES} files, \
                 {} MB, {DEEPEST} folders deep)",
                self.directory.display(),
                MOST_BYTES >> 20
            ),
        )
        .next("trust the folder of the config instead, or move data out of the project")
    }
}

/// Whether an interpreter could load a file, by its name.
fn is_code(path: &Path) -> bool {
    let extension = path.extension().and_then(|it| it.to_str()).unwrap_or("");
    let is_document = NO_CODE
        .iter()
        .chain(&["woff2"])
        .any(|it| extension.eq_ignore_ascii_case(it));
    !is_document && path.file_name().is_none_or(|it| it != ".DS_Store")
}

/// The directory and those above it that are part of the same repository.
fn above(directory: &Path) -> Vec<&Path> {
    let mut folders = Vec::new();
    for folder in directory.ancestors().take(HIGHEST) {
        folders.push(folder);
        if folder.join(".git").exists() {
            return folders;
        }
    }
    vec![directory]
}

/// Where the repository of a work tree's top, or of a bare repository, keeps its files.
fn git_directory(directory: &Path) -> Option<PathBuf> {
    let place = directory.join(".git");
    if place.is_dir() {
        return Some(place);
    }
    if place.is_file() {
        let text = fs_err::read_to_string(&place).ok()?;
        return Some(directory.join(text.strip_prefix("gitdir:")?.trim()));
    }
    let is_bare = directory.join("HEAD").is_file() && directory.join("objects").is_dir();
    is_bare.then(|| directory.to_owned())
}

/// What a folder holds, in order; nothing where it does not exist.
fn entries(folder: &Path) -> Result<Vec<PathBuf>, Problem> {
    if !folder.is_dir() {
        return Ok(Vec::new());
    }
    let mut paths = Vec::new();
    for entry in fs_err::read_dir(folder).map_err(|it| unreadable(&it))? {
        paths.push(entry.map_err(|it| unreadable(&it))?.path());
    }
    paths.sort();
    Ok(paths)
}

/// A path without `.` and `..`, by its words alone.
fn plain(path: &Path) -> PathBuf {
    let mut out = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => {
                out.pop();
            }
            Component::CurDir => {}
            other => out.push(other),
        }
    }
    out
}

/// A path as users would name it from the directory.
fn shown(directory: &Path, path: &Path) -> String {
    let below = path.strip_prefix(directory).unwrap_or(path);
    below.display().to_string()
}

fn unreadable(error: &std::io::Error) -> Problem {
    Problem::invalid("directory", "readable", error.to_string())
}

#[cfg(test)]
#[path = "executables_tests.rs"]
mod tests;
