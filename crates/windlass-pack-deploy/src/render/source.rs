//! Finds a module's own files and reads them: a file or directory of the repository, or of a
//! git checkout.

use std::{
    collections::HashMap,
    path::{Path, PathBuf},
};

use windlass_pack_model::{
    FileRecord, GitSource, Layer, Module, ModuleType, ResolvedGit, Source, Tree, fault,
    lockfile::file_records, source::leaves_repository,
};
use windlass_types::Problem;

use crate::render::{
    RenderInput,
    fence::{Fence, RealParents},
    unmerged::Unmerged,
    walk::{Found, Walk, follow, not_a_file},
};

/// A module as its author wrote it.
#[derive(Clone, Debug)]
pub struct SourceTree {
    /// The file or directory it was read from.
    pub path: PathBuf,
    /// The commit it was checked out at, when the lockfile settles one.
    pub locked_commit: Option<String>,
    /// Its files.
    pub tree: Tree,
    /// Its files below `.agentpack`: never copied, but part of its hash.
    pub hidden: Tree,
    /// Files of the repository with conflict markers.
    pub(crate) unmerged: Vec<Unmerged>,
}

impl SourceTree {
    /// The files as lockfiles and baselines list them, by path.
    pub fn records(&self) -> Vec<FileRecord> {
        let mut records = file_records(&self.tree);
        if !self.hidden.is_empty() {
            records.extend(file_records(&self.hidden));
            records.sort_by(|left, right| left.path.cmp(&right.path));
        }
        records
    }
}

/// Reads a module without its overlays.
pub fn load_upstream(input: &RenderInput<'_>, module: &Module) -> Result<SourceTree, Problem> {
    Sources::new(input)?.load(module)
}

/// Reads modules of one repository.
pub(crate) struct Sources<'a> {
    input: &'a RenderInput<'a>,
    real_repo: PathBuf,
    /// The git sources the lockfile settles, by module.
    locked: HashMap<&'a str, &'a ResolvedGit>,
    /// What modules of the repository and overlays may link to.
    pub(crate) fence: Fence,
    parents: RealParents,
}

impl<'a> Sources<'a> {
    pub(crate) fn new(input: &'a RenderInput<'a>) -> Result<Self, Problem> {
        let real_repo = std::fs::canonicalize(input.repo)
            .map_err(|error| fault::io("open the repository", input.repo, &error))?;
        let locked = input.lockfile.map(|lockfile| lockfile.modules.as_slice());
        Ok(Self {
            input,
            locked: locked
                .unwrap_or_default()
                .iter()
                .filter_map(|module| {
                    Some((module.id.as_str(), module.resolved_source.git.as_ref()?))
                })
                .collect(),
            fence: Fence::new(
                vec![real_repo.clone()],
                input.manifest.allow_external_symlinks,
            ),
            real_repo,
            parents: RealParents::default(),
        })
    }

    pub(crate) fn load(&self, module: &Module) -> Result<SourceTree, Problem> {
        self.find_and_read(module)
            .map_err(|problem| problem.with("module_id", module.id.as_str()))
    }

    fn find_and_read(&self, module: &Module) -> Result<SourceTree, Problem> {
        match &module.source {
            Source::LocalPath { path } => {
                let path = self.input.repo.join(path);
                let (path, found) = self.local(module, path)?;
                Ok(upstream(path, None, found))
            }
            Source::Git(source) => self.git(module, source),
        }
    }

    /// A path the manifest names. Where it leaves the repository in plain sight, that was
    /// decided when it was written; links inside it stay inside it, or inside the repository.
    fn local(&self, module: &Module, path: PathBuf) -> Result<(PathBuf, Found), Problem> {
        let written_outside = match &module.source {
            Source::LocalPath { path } => leaves_repository(path).is_some(),
            Source::Git(_) => false,
        };
        let real = self
            .parents
            .resolve(&path)
            .map_err(|error| missing(module, &path, &error))?;
        if written_outside {
            let whole =
                std::fs::canonicalize(&real).map_err(|error| missing(module, &path, &error))?;
            let fence = Fence::new(
                vec![self.real_repo.clone(), whole],
                self.input.manifest.allow_external_symlinks,
            );
            return self.read(module, real, &path, &fence);
        }
        self.keep_inside(&path, &real)?;
        self.read(module, real, &path, &self.fence)
    }

    /// The real path of an overlay's directory, its last component not followed yet.
    pub(crate) fn overlay_dir(&self, dir: &Path) -> Result<PathBuf, Problem> {
        let real = self
            .parents
            .resolve(dir)
            .map_err(|error| fault::io("open overlay", dir, &error))?;
        self.keep_inside(dir, &real)?;
        Ok(real)
    }

    /// Refuses a path of the repository whose parents lead out of it by a link.
    fn keep_inside(&self, path: &Path, real: &Path) -> Result<(), Problem> {
        if real.starts_with(&self.real_repo) {
            return Ok(());
        }
        self.fence.admit(path, real)
    }

    fn git(&self, module: &Module, source: &GitSource) -> Result<SourceTree, Problem> {
        let pinned;
        let (source, commit) = match self.locked.get(module.id.as_str()) {
            Some(locked) => {
                // The branch may be gone by now, and with it a shallow clone of it.
                pinned = locked.source(false);
                (&pinned, Some(locked.commit.as_str()))
            }
            None => (source, None),
        };
        let subdir = source.subdir_path().map_err(|error| {
            fault::config_invalid(format!(
                "source.git.subdir of module {}: {error}; name a directory inside the git repository",
                module.id
            ))
            .with("field", "source.git.subdir")
            .with("subdir", source.subdir.as_str())
        })?;
        let checkout = self.input.checkouts.checkout(&module.id, source, commit)?;
        let checkout =
            std::fs::canonicalize(&checkout).map_err(|error| missing(module, &checkout, &error))?;
        let path = match &subdir {
            Some(subdir) => subdir.under(&checkout),
            None => checkout.clone(),
        };
        let fence = Fence::new(vec![checkout], self.input.manifest.allow_external_symlinks);
        let real = self
            .parents
            .resolve(&path)
            .map_err(|error| missing(module, &path, &error))?;
        fence.admit(&path, &real)?;
        let (path, mut found) = self.read(module, real, &path, &fence)?;
        // What is published with markers is published that way on purpose.
        found.unmerged.clear();
        Ok(upstream(path, commit.map(str::to_owned), found))
    }

    /// Reads what is at a path whose parents are real; the path as written is for messages.
    fn read(
        &self,
        module: &Module,
        mut real: PathBuf,
        written: &Path,
        fence: &Fence,
    ) -> Result<(PathBuf, Found), Problem> {
        let mut metadata =
            std::fs::symlink_metadata(&real).map_err(|error| missing(module, written, &error))?;
        let link = metadata.is_symlink();
        if link {
            real = follow(&real)?;
            fence.admit(written, &real)?;
            metadata =
                std::fs::metadata(&real).map_err(|error| fault::io("look at", &real, &error))?;
        }
        let kind = module.module_type;
        let walk = Walk {
            fence,
            hashes: self.input.hashes,
            layer: Layer::Upstream,
            keep_text: &|path| keeps_text(kind, path),
            read_hidden: true,
        };
        let found = if metadata.is_dir() {
            walk.directory(&real)?
        } else if metadata.is_file() {
            // The name as written, not that of what a link leads to.
            let name = written.file_name().filter(|_| link);
            walk.single(real.clone(), name, &metadata)?
        } else {
            return Err(not_a_file(&real));
        };
        Ok((real, found))
    }
}

fn upstream(path: PathBuf, locked_commit: Option<String>, found: Found) -> SourceTree {
    SourceTree {
        path,
        locked_commit,
        tree: found.tree,
        hidden: found.hidden,
        unmerged: found.unmerged,
    }
}

/// Whether a file's text is needed to check or render a module; all others stay on disk.
pub(crate) fn keeps_text(kind: ModuleType, path: &str) -> bool {
    match kind {
        ModuleType::Instructions => path == "AGENTS.md",
        ModuleType::Skill => path == "SKILL.md",
        ModuleType::Prompt => false,
        ModuleType::Command | ModuleType::McpServer | ModuleType::Hook | ModuleType::Subagent => {
            true
        }
    }
}

fn missing(module: &Module, path: &Path, error: &std::io::Error) -> Problem {
    match error.kind() {
        std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory => fault::unexpected(
            "module_source_missing",
            &["fix_config", "retry_command"],
            format!(
                "module {} has no source: {} does not exist; correct its source in agentpack.yaml or restore the files",
                module.id,
                path.display()
            ),
        )
        .with("path", path.display().to_string())
        .with("path_posix", fault::posix(path)),
        _ => fault::io("open the source of a module", path, error),
    }
}
