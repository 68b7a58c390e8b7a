//! `lock`: settles which content of each enabled module is meant.

use std::{collections::BTreeSet, path::Path};

use serde::Serialize;
use windlass_pack_deploy::render::Checkouts as _;
use windlass_pack_model::{
    GitSource, LockedModule, Lockfile, Module, ResolvedGit, ResolvedLocalPath, ResolvedSource,
    Source, fault,
    lockfile::{LOCKFILE, module_hash},
};
use windlass_types::{Problem, Timestamp};

use crate::{
    Authored, ModuleSources,
    authored::{shown, stamp},
    parallel,
    repository::{put, read_bytes},
};

/// What a source that is no git source has for a version.
pub(crate) const LOCAL_VERSION: &str = "local";

/// The `data` of `lock`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LockData {
    /// The lockfile.
    pub lockfile: String,
    /// The same with `/`.
    pub lockfile_posix: String,
    /// How many modules are in it.
    pub modules: usize,
}

impl LockData {
    fn new(repo: &Path, modules: usize) -> Self {
        let path = repo.join(LOCKFILE);
        Self {
            lockfile: shown(&path),
            lockfile_posix: fault::posix(&path),
            modules,
        }
    }
}

/// The modules settled.
#[derive(Clone, Debug)]
pub struct Locked {
    /// The lockfile as it will be: the old one when nothing differs.
    pub lockfile: Lockfile,
    /// The answer; it writes nothing when nothing differs.
    pub outcome: Authored<LockData>,
}

/// Looks up every reference and hashes every enabled module.
pub fn lock(sources: &ModuleSources<'_>, now: Timestamp) -> Result<Locked, Problem> {
    let enabled = || {
        sources
            .manifest
            .modules
            .iter()
            .filter(|module| module.enabled)
    };
    make_checkouts(sources, enabled())?;
    let modules = enabled()
        .map(|module| {
            settle(sources, module).map_err(|problem| problem.with("module_id", module.id.as_str()))
        })
        .collect::<Result<Vec<_>, _>>()?;
    let new = Lockfile::new(stamp(now), modules);

    let path = sources.repo.join(LOCKFILE);
    let before = read_bytes(&path)?;
    let mut warnings = Vec::new();
    let old = before.as_deref().and_then(|bytes| {
        let text = String::from_utf8_lossy(bytes);
        let old = Lockfile::parse(&text, &path);
        old.map_err(|problem| {
            warnings.push(format!("{}; it is rewritten", problem.message()));
        })
        .ok()
    });
    let data = LockData::new(sources.repo, new.modules.len());
    Ok(match old {
        Some(old) if old.same_content(&new) => Locked {
            lockfile: old,
            outcome: Authored::inside(sources.repo, data, Vec::new()),
        },
        _ => {
            let write = put(path, before.as_deref(), new.render().into_bytes());
            Locked {
                lockfile: new,
                outcome: Authored::inside(sources.repo, data, vec![write]).warned(warnings),
            }
        }
    })
}

/// Looks every reference up and makes every checkout, several at a time, each once.
fn make_checkouts<'a>(
    sources: &ModuleSources<'_>,
    modules: impl Iterator<Item = &'a Module>,
) -> Result<(), Problem> {
    let git: Vec<(&Module, &GitSource)> = modules
        .filter_map(|module| match &module.source {
            Source::Git(git) => Some((module, git)),
            Source::LocalPath { .. } => None,
        })
        .collect();
    let mut seen = BTreeSet::new();
    let once: Vec<_> = git
        .into_iter()
        .filter(|(_, git)| seen.insert((&git.url, &git.reference)))
        .collect();
    parallel::try_map(&once, |(module, git)| {
        sources.checkouts.checkout(&module.id, git, None)
    })?;
    Ok(())
}

fn settle(sources: &ModuleSources<'_>, module: &Module) -> Result<LockedModule, Problem> {
    let (resolved_source, resolved_version) = resolve(sources, &module.source)?;
    let file_manifest = sources.records(module, resolved_source.git.as_ref())?;
    Ok(LockedModule {
        id: module.id.clone(),
        module_type: module.module_type,
        resolved_source,
        resolved_version,
        sha256: module_hash(&file_manifest),
        file_manifest,
    })
}

/// What a source is settled as, and its version.
pub(crate) fn resolve(
    sources: &ModuleSources<'_>,
    source: &Source,
) -> Result<(ResolvedSource, String), Problem> {
    let mut resolved = ResolvedSource::default();
    let version = match source {
        Source::LocalPath { path } => {
            resolved.local_path = Some(ResolvedLocalPath {
                path: path.replace('\\', "/"),
            });
            LOCAL_VERSION.to_owned()
        }
        Source::Git(git) => {
            let commit = sources.checkouts.commit(git)?;
            resolved.git = Some(ResolvedGit {
                url: git.url.clone(),
                commit: commit.clone(),
                subdir: git.subdir.clone(),
            });
            commit
        }
    };
    Ok((resolved, version))
}
