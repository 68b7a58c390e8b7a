//! `fetch`: brings every locked commit into the cache and verifies what is there.

use std::{collections::BTreeSet, path::PathBuf};

use serde::Serialize;
use windlass_pack_deploy::render::Checkouts as _;
use windlass_pack_model::{
    LockedModule, Lockfile, Module, NoHashCache, PackHome, ResolvedGit, Source, fault,
    lockfile::module_hash,
};
use windlass_types::{Digest, Problem};

use crate::{ModuleSources, authored::shown, parallel};

/// The `data` of `fetch`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FetchData {
    /// The cache.
    pub store: String,
    /// The same with `/`.
    pub store_posix: String,
    /// How many modules were brought in or verified.
    pub git_modules_fetched: usize,
}

impl FetchData {
    pub(crate) fn new(home: &PackHome, git_modules_fetched: usize) -> Self {
        let store = store(home);
        Self {
            store: shown(&store),
            store_posix: fault::posix(&store),
            git_modules_fetched,
        }
    }
}

/// The directory everything fetched is in.
fn store(home: &PackHome) -> PathBuf {
    home.root().join("cache")
}

/// Fetches and verifies the git modules of a lockfile.
pub fn fetch(sources: &ModuleSources<'_>, lockfile: &Lockfile) -> Result<FetchData, Problem> {
    let modules: Vec<(&LockedModule, &ResolvedGit)> = lockfile
        .modules
        .iter()
        .filter_map(|module| Some((module, module.resolved_source.git.as_ref()?)))
        .collect();
    let mut seen = BTreeSet::new();
    let once: Vec<_> = modules
        .iter()
        .filter(|(_, git)| seen.insert((&git.url, &git.commit)))
        .collect();
    parallel::try_map(&once, |(module, git)| {
        let source = git.source(shallow(sources, &module.id));
        let commit = Some(git.commit.as_str());
        sources.checkouts.checkout(&module.id, &source, commit)
    })?;
    for (module, git) in &modules {
        verify(sources, module, git)?;
    }
    Ok(FetchData::new(sources.checkouts.home(), modules.len()))
}

/// Whether the manifest wants the module without history. The commit is fetched by its id, so
/// it does not matter whether a branch still has it.
fn shallow(sources: &ModuleSources<'_>, id: &str) -> bool {
    match sources.manifest.module(id).map(|module| &module.source) {
        Some(Source::Git(git)) => git.shallow,
        _ => false,
    }
}

fn verify(
    sources: &ModuleSources<'_>,
    locked: &LockedModule,
    git: &ResolvedGit,
) -> Result<(), Problem> {
    let module = Module {
        id: locked.id.clone(),
        module_type: locked.module_type,
        enabled: true,
        tags: Vec::new(),
        targets: Vec::new(),
        name: None,
        source: Source::Git(git.source(false)),
        line: 0,
    };
    // Read again: the point is to check the cache.
    let uncached = ModuleSources {
        hashes: &NoHashCache,
        ..*sources
    };
    let found = module_hash(&uncached.records(&module, Some(git))?);
    if found == locked.sha256 {
        return Ok(());
    }
    Err(mismatch(sources, locked, git, found))
}

fn mismatch(
    sources: &ModuleSources<'_>,
    locked: &LockedModule,
    git: &ResolvedGit,
    found: Digest,
) -> Problem {
    let checkout = sources.checkouts.home().checkout(&git.url, &git.commit);
    let problem = fault::unexpected(
        "store_hash_mismatch",
        &["delete_checkout", "retry_command"],
        format!(
            "the files of module {} in {} are not what the lockfile says (expected {}, found {}); \
             delete that directory and fetch again, or lock again if the lockfile is wrong",
            locked.id,
            checkout.display(),
            locked.sha256,
            found
        ),
    );
    fault::at(problem, &checkout)
        .with("module_id", locked.id.as_str())
        .with("expected", locked.sha256.to_string())
        .with("actual", found.to_string())
}
