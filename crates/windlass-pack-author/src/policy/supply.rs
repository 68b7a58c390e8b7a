//! The rules of `agentpack.org.yaml` about where modules come from.

use std::path::Path;

use serde_json::{Value, json};
use windlass_pack_model::{
    GitSource, LockedModule, Lockfile, Module, Source, fault,
    lockfile::{LOCKFILE, LOCKFILE_VERSION, is_commit},
    manifest::MANIFEST_FILE,
    org::{ORG_FILE, OrgConfig, is_allowed_remote, normalise_remote},
};
use windlass_types::Problem;

use super::{
    issue::Issue,
    lint::LintRequest,
    org::{named, unusable_manifest},
};
use crate::{ManifestFile, authored::shown, repository::read_text};

/// Checks remotes and the lockfile.
pub(super) fn lint(
    request: &LintRequest<'_>,
    config: &OrgConfig,
    manifest: &Result<ManifestFile, Problem>,
    issues: &mut Vec<Issue>,
) {
    let Some(policy) = &config.supply_chain_policy else {
        return;
    };
    let field = "supply_chain_policy.allowed_git_remotes";
    let mut allowed: Vec<String> = named(field, &policy.allowed_git_remotes, issues)
        .into_iter()
        .map(normalise_remote)
        .collect();
    allowed.sort();
    allowed.dedup();
    if allowed.is_empty() && !policy.require_lockfile {
        return;
    }
    if let Ok(Source::Git(pack)) = config.policy_source()
        && !is_allowed_remote(&pack.url, &allowed)
    {
        issues.push(
            Issue::new(
                "policy_pack_allowed_git_remotes",
                Path::new(ORG_FILE),
                "the policy pack comes from a git address that is not allowed",
            )
            .with(remote(&pack, &allowed)),
        );
    }
    let manifest = match manifest {
        Ok(file) => &file.manifest,
        Err(problem) => {
            issues.push(unusable_manifest("supply_chain_policy", problem));
            return;
        }
    };
    let git = manifest
        .modules
        .iter()
        .filter_map(|module| match &module.source {
            Source::Git(git) => Some((module, git)),
            Source::LocalPath { .. } => None,
        });
    let git: Vec<(&Module, &GitSource)> = git.collect();
    for (module, source) in &git {
        if !is_allowed_remote(&source.url, &allowed) {
            let mut details = remote(source, &allowed);
            details["module_id"] = module.id.as_str().into();
            let message = format!(
                "module {} comes from a git address that is not allowed",
                module.id
            );
            issues.push(
                Issue::new(
                    "supply_chain_allowed_git_remotes",
                    Path::new(MANIFEST_FILE),
                    message,
                )
                .with(details),
            );
        }
    }
    if policy.require_lockfile {
        let enabled: Vec<_> = git
            .into_iter()
            .filter(|(module, _)| module.enabled)
            .collect();
        if !enabled.is_empty() {
            lint_lockfile(request, &enabled, issues);
        }
    }
}

fn remote(source: &GitSource, allowed: &[String]) -> Value {
    json!({
        "remote": source.url,
        "remote_normalized": normalise_remote(&source.url),
        "allowed_git_remotes": allowed,
    })
}

fn issue(rule: &'static str, message: String, details: Value) -> Issue {
    Issue::new(rule, Path::new(LOCKFILE), message).with(details)
}

/// Every enabled git module must be locked, at a commit of the configured address.
fn lint_lockfile(
    request: &LintRequest<'_>,
    modules: &[(&Module, &GitSource)],
    issues: &mut Vec<Issue>,
) {
    let path = request.repo.join(LOCKFILE);
    let lockfile = match read(&path) {
        Ok(Some(lockfile)) => lockfile,
        Ok(None) => {
            let ids: Vec<&str> = modules
                .iter()
                .map(|(module, _)| module.id.as_str())
                .collect();
            issues.push(issue(
                "supply_chain_lockfile_missing",
                format!("a lockfile is required; run `{} lock`", request.program),
                json!({ "path": shown(&path), "enabled_git_modules": ids }),
            ));
            return;
        }
        Err(error) => {
            issues.push(issue(
                "supply_chain_lockfile_invalid",
                format!("a lockfile is required, but this one is not usable: {error}"),
                json!({ "path": shown(&path), "error": error }),
            ));
            return;
        }
    };
    let locked = lockfile.by_id();
    for (module, source) in modules {
        match locked.get(module.id.as_str()) {
            Some(locked) => lint_locked(request, module, source, locked, issues),
            None => issues.push(issue(
                "supply_chain_lockfile_missing_module",
                format!(
                    "module {} is not locked; run `{} lock`",
                    module.id, request.program
                ),
                json!({ "module_id": module.id }),
            )),
        }
    }
}

fn lint_locked(
    request: &LintRequest<'_>,
    module: &Module,
    source: &GitSource,
    locked: &LockedModule,
    issues: &mut Vec<Issue>,
) {
    let id = &module.id;
    let Some(git) = &locked.resolved_source.git else {
        issues.push(issue(
            "supply_chain_lockfile_source_mismatch",
            format!("module {id} comes from git, but is locked as something else"),
            json!({
                "module_id": id,
                "config": { "git_url": source.url },
                "lock": { "resolved_source": locked.resolved_source },
            }),
        ));
        return;
    };
    let [configured, recorded] = [&source.url, &git.url].map(|url| normalise_remote(url));
    if configured != recorded {
        issues.push(issue(
            "supply_chain_lockfile_url_mismatch",
            format!("module {id} is locked from another git address than configured"),
            json!({
                "module_id": id,
                "config_url": source.url,
                "config_url_normalized": configured,
                "lock_url": git.url,
                "lock_url_normalized": recorded,
                "hint": format!("run `{} lock`", request.program),
            }),
        ));
    }
    if !is_commit(&git.commit) {
        issues.push(issue(
            "supply_chain_lockfile_unpinned_commit",
            format!(
                "module {id} is locked at {:?}, which is not a commit",
                git.commit
            ),
            json!({ "module_id": id, "commit": git.commit }),
        ));
    }
}

/// Reads the lockfile more leniently than those who use it: a commit that is none is a rule of
/// its own here.
fn read(path: &Path) -> Result<Option<Lockfile>, String> {
    let text =
        read_text(path, fault::lockfile_invalid).map_err(|problem| problem.message().to_owned())?;
    let Some(text) = text else {
        return Ok(None);
    };
    let lockfile: Lockfile = serde_json::from_str(&text).map_err(|error| error.to_string())?;
    match lockfile.version {
        LOCKFILE_VERSION => Ok(Some(lockfile)),
        version => Err(format!("its version is {version}, not {LOCKFILE_VERSION}")),
    }
}
