//! `policy lock`: settles which content of the policy pack is meant.

use std::{collections::BTreeMap, path::Path};

use serde::Serialize;
use windlass_pack_deploy::render::Checkouts as _;
use windlass_pack_model::{
    GitSource, GitignoreMode, HashCache, Manifest, Module, ModuleType, Source, fault,
    lockfile::module_hash,
    manifest::MANIFEST_VERSION,
    org::{
        LockedPolicyPack, ORG_FILE, ORG_LOCKFILE, ORG_VERSION, OrgConfig, OrgLockfile,
        SourceRecord, is_allowed_remote, normalise_remote, parse_org,
    },
};
use windlass_types::{Digest, Problem};

use crate::{
    Authored, GitCheckouts, ModuleSources,
    authored::shown,
    lock::resolve,
    repository::{put, read_bytes, read_text},
};

/// The `data` of `policy lock`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PolicyLockData {
    /// The lockfile.
    pub lockfile_path: String,
    /// The same with `/`.
    pub lockfile_path_posix: String,
    /// The commit, or `local`.
    pub resolved_version: String,
    /// The hash over the pack's files.
    pub sha256: Digest,
    /// How many files it has.
    pub files: usize,
}

/// Pins the policy pack. Nothing is written when the lockfile says so already.
pub fn policy_lock(
    repo: &Path,
    checkouts: &GitCheckouts<'_>,
    hashes: &dyn HashCache,
) -> Result<Authored<PolicyLockData>, Problem> {
    let config_path = repo.join(ORG_FILE);
    let at = |problem| fault::at(problem, &config_path);
    let Some(text) = read_text(&config_path, fault::policy_config_invalid)? else {
        let message = format!(
            "there is no {}; create it with version: 1 and policy_pack.source",
            config_path.display()
        );
        return Err(at(fault::policy_config_missing(message)));
    };
    let (config, warnings) = parse_org(&text).map_err(at)?;
    let source = config.policy_source().map_err(at)?;
    // Before anything is fetched: an address that is not allowed is not contacted.
    if let Source::Git(git) = &source {
        check_remote(&config, git).map_err(at)?;
    }

    let manifest = no_manifest();
    let sources = ModuleSources {
        repo,
        manifest: &manifest,
        checkouts,
        hashes,
    };
    let pack = Module {
        id: "policy_pack".to_owned(),
        module_type: ModuleType::Prompt,
        enabled: true,
        tags: Vec::new(),
        targets: Vec::new(),
        name: None,
        source,
        line: 0,
    };
    let (resolved_source, resolved_version) = resolve(&sources, &pack.source)?;
    if let Source::Git(git) = &pack.source {
        // As the source says, without history or with it; reading then finds it.
        checkouts.checkout(&pack.id, git, Some(&resolved_version))?;
    }
    let file_manifest = sources.records(&pack, resolved_source.git.as_ref())?;
    let data = PolicyLockData {
        lockfile_path: shown(&repo.join(ORG_LOCKFILE)),
        lockfile_path_posix: fault::posix(&repo.join(ORG_LOCKFILE)),
        resolved_version: resolved_version.clone(),
        sha256: module_hash(&file_manifest),
        files: file_manifest.len(),
    };
    let lockfile = OrgLockfile {
        version: ORG_VERSION,
        policy_pack: LockedPolicyPack {
            source: SourceRecord::from(&pack.source),
            resolved_source,
            resolved_version,
            sha256: data.sha256,
            file_manifest,
        },
    };
    let path = repo.join(ORG_LOCKFILE);
    let before = read_bytes(&path)?;
    let after = lockfile.render().into_bytes();
    let writes = match before.as_deref() == Some(after.as_slice()) {
        true => Vec::new(),
        false => vec![put(path, before.as_deref(), after)],
    };
    let warnings = warnings.iter().map(ToString::to_string).collect();
    Ok(Authored::inside(repo, data, writes).warned(warnings))
}

/// Refuses a policy pack from an address that `allowed_git_remotes` does not list.
fn check_remote(config: &OrgConfig, source: &GitSource) -> Result<(), Problem> {
    let allowed = match &config.supply_chain_policy {
        Some(policy) => policy.allowed_git_remotes.as_slice(),
        None => &[],
    };
    if is_allowed_remote(&source.url, allowed) {
        return Ok(());
    }
    Err(fault::policy_config_invalid(format!(
        "the policy pack comes from {}, which supply_chain_policy.allowed_git_remotes does not allow; correct policy_pack.source or add the address to {ORG_FILE}",
        normalise_remote(&source.url)
    ))
    .with("field", "supply_chain_policy.allowed_git_remotes")
    .with("remote_normalized", normalise_remote(&source.url))
    .with("allowed_git_remotes", allowed.to_vec()))
}

/// The policy pack has nothing to do with the repository's own modules.
fn no_manifest() -> Manifest {
    Manifest {
        version: MANIFEST_VERSION,
        profiles: BTreeMap::new(),
        targets: BTreeMap::new(),
        modules: Vec::new(),
        gitignore_outputs: false,
        gitignore_mode: GitignoreMode::default(),
        allow_external_symlinks: false,
    }
}
