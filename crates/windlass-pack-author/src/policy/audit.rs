//! `policy audit`: what is locked, and what changed since the commit before.

use std::{collections::BTreeMap, path::Path};

use serde::Serialize;
use windlass_pack_model::{
    FileRecord, LockedModule, Lockfile, ModuleType, ResolvedSource, fault,
    lockfile::{LOCKFILE, LOCKFILE_VERSION},
    org::{ORG_LOCKFILE, OrgLockfile, SourceRecord},
};
use windlass_ports::git::{Git, GitError};
use windlass_types::{Digest, Problem};

use crate::{
    Authored,
    authored::shown,
    git_fault::git_problem,
    repository::{read_text, require_lockfile},
};

/// The revision that is compared with.
const BASE: &str = "HEAD^";

/// The `data` of `policy audit`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct AuditData {
    /// The repository.
    pub root: String,
    /// The same with `/`.
    pub root_posix: String,
    /// The lockfile.
    pub lockfile: AuditLockfile,
    /// The modules, by id.
    pub modules: Vec<AuditModule>,
    /// The policy pack, when one is locked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub org_policy_pack: Option<AuditPolicyPack>,
    /// What changed, when there is something to compare with.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub change_summary: Option<ChangeSummary>,
}

/// The lockfile.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct AuditLockfile {
    /// Where it is.
    pub lockfile_path: String,
    /// The same with `/`.
    pub lockfile_path_posix: String,
    /// Its version.
    pub version: u32,
    /// When it was made.
    pub generated_at: String,
    /// How many modules it has.
    pub modules: usize,
}

/// A locked module without its list of files.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct AuditModule {
    /// The id.
    pub id: String,
    /// What it is.
    #[serde(rename = "type")]
    pub module_type: ModuleType,
    /// Where it came from.
    pub resolved_source: ResolvedSource,
    /// The commit, or `local`.
    pub resolved_version: String,
    /// The hash over its files.
    pub sha256: Digest,
    /// How many files it has.
    pub files: usize,
    /// How many bytes they have.
    pub bytes: u64,
}

/// The locked policy pack without its list of files.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct AuditPolicyPack {
    /// The lockfile it is in.
    pub lockfile_path: String,
    /// The same with `/`.
    pub lockfile_path_posix: String,
    /// The source as configured then.
    pub source: SourceRecord,
    /// Where it came from.
    pub resolved_source: ResolvedSource,
    /// The commit, or `local`.
    pub resolved_version: String,
    /// The hash over its files.
    pub sha256: Digest,
    /// How many files it has.
    pub files: usize,
    /// How many bytes they have.
    pub bytes: u64,
}

/// What changed since another revision.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ChangeSummary {
    /// The revision.
    pub base_ref: &'static str,
    /// Its commit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub base_commit: Option<String>,
    /// Modules that are new.
    pub modules_added: Vec<String>,
    /// Modules that are gone.
    pub modules_removed: Vec<String>,
    /// Modules that differ.
    pub modules_changed: Vec<ModuleChange>,
}

/// How a module differs; what is the same is left out.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ModuleChange {
    /// The id.
    pub id: String,
    /// What it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub module_type: Option<FieldChange<ModuleType>>,
    /// Where it came from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resolved_source: Option<FieldChange<ResolvedSource>>,
    /// The commit, or `local`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resolved_version: Option<FieldChange<String>>,
    /// The hash over its files.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sha256: Option<FieldChange<Digest>>,
    /// How many files it has.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub files: Option<FieldChange<usize>>,
    /// How many bytes they have.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bytes: Option<FieldChange<u64>>,
}

/// A value then and now.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FieldChange<T> {
    /// Then.
    pub before: T,
    /// Now.
    pub after: T,
}

impl<T: Clone + PartialEq> FieldChange<T> {
    fn of(before: &T, after: &T) -> Option<Self> {
        (before != after).then(|| Self {
            before: before.clone(),
            after: after.clone(),
        })
    }
}

impl ModuleChange {
    fn of(before: &AuditModule, after: &AuditModule) -> Option<Self> {
        (before != after).then(|| Self {
            id: after.id.clone(),
            module_type: FieldChange::of(&before.module_type, &after.module_type),
            resolved_source: FieldChange::of(&before.resolved_source, &after.resolved_source),
            resolved_version: FieldChange::of(&before.resolved_version, &after.resolved_version),
            sha256: FieldChange::of(&before.sha256, &after.sha256),
            files: FieldChange::of(&before.files, &after.files),
            bytes: FieldChange::of(&before.bytes, &after.bytes),
        })
    }
}

/// Reports what a repository locks.
pub fn audit(repo: &Path, git: &dyn Git) -> Result<Authored<AuditData>, Problem> {
    let lockfile = require_lockfile(repo)?;
    let path = repo.join(LOCKFILE);
    let modules = audited(&lockfile);
    let mut warnings = Vec::new();
    let data = AuditData {
        root: shown(repo),
        root_posix: fault::posix(repo),
        lockfile: AuditLockfile {
            lockfile_path: shown(&path),
            lockfile_path_posix: fault::posix(&path),
            version: lockfile.version,
            generated_at: lockfile.generated_at,
            modules: modules.len(),
        },
        org_policy_pack: policy_pack(repo, &mut warnings),
        change_summary: match before(repo, git) {
            Ok(Some(before)) => Some(ChangeSummary {
                base_commit: git.commit_of(repo, BASE).ok().flatten(),
                ..compare(&before, &modules)
            }),
            Ok(None) => None,
            Err(why) => {
                warnings.push(format!("policy audit: nothing to compare with: {why}"));
                None
            }
        },
        modules,
    };
    Ok(Authored::inside(repo, data, Vec::new()).warned(warnings))
}

fn audited(lockfile: &Lockfile) -> Vec<AuditModule> {
    let mut modules: Vec<AuditModule> = lockfile
        .modules
        .iter()
        .map(|module: &LockedModule| AuditModule {
            id: module.id.clone(),
            module_type: module.module_type,
            resolved_source: module.resolved_source.clone(),
            resolved_version: module.resolved_version.clone(),
            sha256: module.sha256,
            files: module.file_manifest.len(),
            bytes: bytes(&module.file_manifest),
        })
        .collect();
    modules.sort_by(|left, right| left.id.cmp(&right.id));
    modules
}

fn bytes(files: &[FileRecord]) -> u64 {
    files.iter().map(|file| file.bytes).sum()
}

fn policy_pack(repo: &Path, warnings: &mut Vec<String>) -> Option<AuditPolicyPack> {
    let path = repo.join(ORG_LOCKFILE);
    let text = match read_text(&path, fault::policy_config_invalid) {
        Ok(text) => text?,
        Err(problem) => {
            warnings.push(format!("policy audit: {}", problem.message()));
            return None;
        }
    };
    match OrgLockfile::parse(&text) {
        Ok(lockfile) => {
            let pack = lockfile.policy_pack;
            Some(AuditPolicyPack {
                lockfile_path: shown(&path),
                lockfile_path_posix: fault::posix(&path),
                files: pack.file_manifest.len(),
                bytes: bytes(&pack.file_manifest),
                source: pack.source,
                resolved_source: pack.resolved_source,
                resolved_version: pack.resolved_version,
                sha256: pack.sha256,
            })
        }
        Err(error) => {
            warnings.push(format!("policy audit: {error}"));
            None
        }
    }
}

/// The modules of the commit before; none outside of git repositories. The failure says why
/// there is nothing to compare with.
fn before(repo: &Path, git: &dyn Git) -> Result<Option<Vec<AuditModule>>, String> {
    match git.toplevel(repo) {
        Ok(Some(_)) => {}
        Ok(None) | Err(GitError::NotInstalled) => return Ok(None),
        Err(error) => return Err(unreadable(&error, repo)),
    }
    let bytes = match git.blob(repo, BASE, Path::new(LOCKFILE)) {
        Ok(Some(bytes)) => bytes,
        Ok(None) => return Err(format!("{BASE} has no {LOCKFILE}")),
        Err(GitError::Missing { .. }) => return Err(format!("there is no commit {BASE}")),
        Err(error) => return Err(unreadable(&error, repo)),
    };
    let lockfile: Lockfile = serde_json::from_slice(&bytes)
        .map_err(|error| format!("{BASE}:{LOCKFILE} is not a lockfile: {error}"))?;
    if lockfile.version != LOCKFILE_VERSION {
        return Err(format!(
            "{BASE}:{LOCKFILE} has version {}",
            lockfile.version
        ));
    }
    Ok(Some(audited(&lockfile)))
}

fn unreadable(error: &GitError, repo: &Path) -> String {
    let problem = git_problem(error, repo, &["cat-file", "--batch"]);
    problem.message().to_owned()
}

fn compare(before: &[AuditModule], after: &[AuditModule]) -> ChangeSummary {
    let by_id = |modules: &'_ [AuditModule]| -> BTreeMap<String, AuditModule> {
        let pairs = modules
            .iter()
            .map(|module| (module.id.clone(), module.clone()));
        pairs.collect()
    };
    let (old, new) = (by_id(before), by_id(after));
    let only = |left: &BTreeMap<String, AuditModule>, right: &BTreeMap<String, AuditModule>| {
        let ids = left.keys().filter(|id| !right.contains_key(*id));
        ids.cloned().collect::<Vec<_>>()
    };
    ChangeSummary {
        base_ref: BASE,
        base_commit: None,
        modules_added: only(&new, &old),
        modules_removed: only(&old, &new),
        modules_changed: new
            .iter()
            .filter_map(|(id, module)| ModuleChange::of(old.get(id)?, module))
            .collect(),
    }
}
