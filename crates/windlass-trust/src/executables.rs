//! What a directory could run, as the files that decide it.
//!
//! - of a git repository: its settings, hooks, attributes, and files these include;
//! - code at the top of the directory, with the files of the project it imports;
//! - configs of stacks, and files that these name (entry files of workloads apart: they are packaged,
//!   not run);
//! - manifests and lock files of packages, here and above up to the repository's top;
//! - folders of scripts and hooks; the project's own bundler.
//!
//! Installed packages count by their lock file. The walk is bounded, so that it can be done before
//! every program that is about to run.

use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};

use windlass_ports::Executables;
use windlass_types::{Digest, Problem, code};

use crate::imports;

/// How many files count.
const MOST_FILES: usize = 4_000;
/// How many bytes they have together.
const MOST_BYTES: u64 = 128 << 20;
/// How deep folders are looked into.
const DEEPEST: usize = 12;
/// How far up manifests are looked for.
const HIGHEST: usize = 16;

/// Manifests and lock files: they say which packages and scripts run.
const MANIFESTS: [&str; 23] = [
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
    "package-lock.json",
    "package.json",
    "pnpm-lock.yaml",
    "pnpm-workspace.yaml",
    "poetry.lock",
    "poetry.toml",
    "pyproject.toml",
    "requirements.txt",
    "setup.cfg",
    "uv.lock",
    "yarn.lock",
];

/// Configs of stacks: their scripts and directives are run.
const CONFIGS: [&str; 2] = ["stacktape.yml", "stacktape.yaml"];

/// Folders that hold programs.
const FOLDERS: [&str; 4] = [".githooks", ".husky", "bin", "scripts"];

/// Programs that packages installed and Windlass runs.
const INSTALLED: [&str; 1] = ["node_modules/.bin/esbuild"];

/// What a directory could run.
pub fn find(directory: &Path) -> Result<Executables, Problem> {
    let directory = fs_err::canonicalize(directory)
        .map_err(|error| Problem::invalid("directory", "exists", error.to_string()))?;
    let mut found = Found {
        directory: directory.clone(),
        files: BTreeMap::new(),
        bytes: 0,
    };
    found.git(&directory)?;
    found.project(&directory)?;
    let files = found.files.into_iter();
    Ok(Executables {
        files: files
            .map(|(path, digest)| (shown(&directory, &path), digest))
            .collect(),
        directory,
    })
}

struct Found {
    directory: PathBuf,
    files: BTreeMap<PathBuf, Digest>,
    bytes: u64,
}

impl Found {
    /// Adds a file, if there is one; its content where it is new.
    fn file(&mut self, path: &Path) -> Result<Option<Vec<u8>>, Problem> {
        let path = plain(path);
        if self.files.contains_key(&path) || !path.is_file() {
            return Ok(None);
        }
        let size = fs_err::metadata(&path).map_err(|it| unreadable(&it))?.len();
        self.bytes = self.bytes.saturating_add(size);
        if self.files.len() >= MOST_FILES || self.bytes > MOST_BYTES {
            return Err(self.too_much());
        }
        let content = fs_err::read(&path).map_err(|it| unreadable(&it))?;
        self.files.insert(path, Digest::of(&content));
        Ok(Some(content))
    }

    /// Adds every file of a folder, whatever it holds.
    fn folder(&mut self, folder: &Path, depth: usize) -> Result<(), Problem> {
        if depth > DEEPEST {
            return Err(self.too_much());
        }
        for path in entries(folder)? {
            let is_link = path.is_symlink();
            let is_sample = path.extension().is_some_and(|it| it == "sample");
            let name = path.file_name().unwrap_or_default();
            if path.is_file() && !is_sample {
                self.code(&path)?;
            } else if path.is_dir() && !is_link && name != "node_modules" && name != ".git" {
                self.folder(&path, depth + 1)?;
            }
        }
        Ok(())
    }

    /// Adds a file of code with what it imports from the project.
    fn code(&mut self, path: &Path) -> Result<(), Problem> {
        let mut open = vec![path.to_owned()];
        while let Some(path) = open.pop() {
            let Some(content) = self.file(&path)? else {
                continue;
            };
            open.extend(imports::of(&path, &String::from_utf8_lossy(&content)));
        }
        Ok(())
    }

    /// Settings, hooks and attributes of the repository that the directory is the top of.
    fn git(&mut self, directory: &Path) -> Result<(), Problem> {
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
        self.folder(&git.join("hooks"), 0)?;
        let mut open = vec![git.join("config"), git.join("config.worktree")];
        while let Some(file) = open.pop() {
            let Some(content) = self.file(&file)? else {
                continue;
            };
            let text = String::from_utf8_lossy(&content);
            for (key, value) in text.lines().filter_map(|line| line.split_once('=')) {
                let value = value.trim().trim_matches('"');
                match key.trim().to_ascii_lowercase().as_str() {
                    "path" => open.push(file.parent().unwrap_or(git).join(value)),
                    "hookspath" => self.folder(&top.join(value), 0)?,
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

    fn project(&mut self, directory: &Path) -> Result<(), Problem> {
        for path in entries(directory)? {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            if imports::is_code(&path) {
                self.code(&path)?;
            } else if MANIFESTS.contains(&&*name) || is_requirements(&name) {
                self.file(&path)?;
            } else if CONFIGS.contains(&&*name) {
                let text = self.file(&path)?.unwrap_or_default();
                for named in imports::named_by_config(&String::from_utf8_lossy(&text)) {
                    self.code(&directory.join(named))?;
                }
            } else if FOLDERS.contains(&&*name) && path.is_dir() && !path.is_symlink() {
                self.folder(&path, 0)?;
            }
        }
        for above in above(directory) {
            for name in MANIFESTS.iter().chain(&INSTALLED) {
                self.file(&above.join(name))?;
            }
        }
        Ok(())
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
        .next("trust the folder of the config instead")
    }
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

fn is_requirements(name: &str) -> bool {
    name.starts_with("requirements") && name.ends_with(".txt")
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
mod tests {
    use super::*;

    fn project(files: &[(&str, &str)]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for (path, text) in files {
            let path = folder.path().join(path);
            fs_err::create_dir_all(path.parent().unwrap()).unwrap();
            fs_err::write(path, text).unwrap();
        }
        folder
    }

    fn names(directory: &Path) -> Vec<String> {
        find(directory).unwrap().files.into_keys().collect()
    }

    #[test]
    fn files_that_decide_what_runs() {
        let folder = project(&[
            (".git/HEAD", "ref: refs/heads/main\n"),
            (
                ".git/config",
                "[core]\n\thooksPath = tools/hooks\n[include]\n\tpath = ../shared\n",
            ),
            (".git/hooks/pre-commit", "#!/bin/sh\n"),
            (".git/hooks/pre-push.sample", "#!/bin/sh\n"),
            (".git/info/attributes", ""),
            (".git/modules/a/b/HEAD", ""),
            (".git/modules/a/b/config", "[filter \"x\"]\n"),
            (".gitattributes", "* filter=x\n"),
            ("shared", "[alias]\n"),
            ("tools/hooks/post-merge", "#!/bin/sh\n"),
            (
                "stacktape.ts",
                "import { a } from './lib/a'\nimport b from \"pkg\"\n",
            ),
            ("lib/a.ts", "export * from '../deep/b.js'\n"),
            ("deep/b.ts", ""),
            ("lib/unused.ts", ""),
            (
                "stacktape.yml",
                "scripts:\n  a:\n    executeScript: ops/run.py\nx:\n  entryfilePath: src/f.ts\n",
            ),
            ("ops/run.py", "import helper\n"),
            ("ops/helper.py", ""),
            ("src/f.ts", ""),
            ("setup.py", ""),
            ("package.json", "{}"),
            ("requirements-dev.txt", ""),
            ("node_modules/.bin/esbuild", ""),
            ("node_modules/pkg/index.js", ""),
            ("scripts/deep/x.sh", ""),
            ("README.md", ""),
        ]);
        let found = names(folder.path());
        assert_eq!(
            found,
            [
                ".git/config",
                ".git/hooks/pre-commit",
                ".git/info/attributes",
                ".git/modules/a/b/config",
                ".gitattributes",
                "deep/b.ts",
                "lib/a.ts",
                "node_modules/.bin/esbuild",
                "ops/helper.py",
                "ops/run.py",
                "package.json",
                "requirements-dev.txt",
                "scripts/deep/x.sh",
                "setup.py",
                "shared",
                "stacktape.ts",
                "stacktape.yml",
                "tools/hooks/post-merge",
            ]
        );
    }

    #[test]
    fn manifests_above_count_up_to_the_top_of_the_repository() {
        let folder = project(&[
            ("package.json", ""),
            ("repo/.git/HEAD", ""),
            ("repo/.git/config", ""),
            ("repo/pnpm-lock.yaml", ""),
            ("repo/stacktape.ts", ""),
            ("repo/node_modules/.bin/esbuild", ""),
            ("repo/app/stacktape.ts", ""),
            ("loose/app/stacktape.js", ""),
        ]);
        let root = fs_err::canonicalize(folder.path()).unwrap();
        let above = |name: &str| root.join("repo").join(name).display().to_string();
        assert_eq!(
            names(&root.join("repo/app")),
            [
                above("node_modules/.bin/esbuild"),
                above("pnpm-lock.yaml"),
                "stacktape.ts".to_owned()
            ]
        );
        assert_eq!(names(&root.join("loose/app")), ["stacktape.js"]);
    }

    #[test]
    fn too_many_files_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        fs_err::create_dir(folder.path().join("scripts")).unwrap();
        for number in 0..=MOST_FILES {
            fs_err::write(folder.path().join(format!("scripts/{number}")), "").unwrap();
        }
        let refused = find(folder.path()).unwrap_err();
        assert_eq!(refused.code().name, "PAYLOAD_TOO_LARGE");
        let absent = find(&folder.path().join("absent")).unwrap_err();
        assert_eq!(absent.code().name, "INVALID_INPUT");
    }
}
