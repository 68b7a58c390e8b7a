//! The files of modules as their authors wrote them, for those who lock and verify.

use std::path::{Path, PathBuf};

use windlass_pack_deploy::render::{Places, RenderInput, load_upstream};
use windlass_pack_model::{
    FileRecord, HashCache, LockedModule, Lockfile, Manifest, Module, ResolvedGit, ResolvedSource,
    manifest::DEFAULT_PROFILE,
};
use windlass_types::{Digest, Problem};

use crate::GitCheckouts;

/// Where modules are read from.
#[derive(Clone, Copy)]
pub struct ModuleSources<'a> {
    /// The config repository.
    pub repo: &'a Path,
    /// Its manifest.
    pub manifest: &'a Manifest,
    /// Its git sources.
    pub checkouts: &'a GitCheckouts<'a>,
    /// Digests that are known already.
    pub hashes: &'a dyn HashCache,
}

impl ModuleSources<'_> {
    /// The files of a module, by path; those of a git source at a commit.
    pub(crate) fn records(
        &self,
        module: &Module,
        at: Option<&ResolvedGit>,
    ) -> Result<Vec<FileRecord>, Problem> {
        // One entry: readers look nothing else up.
        let lockfile = at.map(|git| Lockfile::new("", vec![locked_at(module, git)]));
        let places = Places {
            home_dir: PathBuf::new(),
            codex_home: None,
        };
        let input = RenderInput {
            repo: self.repo,
            manifest: self.manifest,
            profile: DEFAULT_PROFILE,
            target: None,
            machine_id: "",
            project: None,
            places: &places,
            checkouts: self.checkouts,
            lockfile: lockfile.as_ref(),
            hashes: self.hashes,
        };
        Ok(load_upstream(&input, module)?.records())
    }
}

/// A module that is settled as far as its commit goes.
fn locked_at(module: &Module, git: &ResolvedGit) -> LockedModule {
    LockedModule {
        id: module.id.clone(),
        module_type: module.module_type,
        resolved_source: ResolvedSource {
            local_path: None,
            git: Some(git.clone()),
        },
        resolved_version: git.commit.clone(),
        sha256: Digest::ZERO,
        file_manifest: Vec::new(),
    }
}
