//! `policy lint`: reads the repository and lists every rule that is broken. Clones nothing.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use windlass_pack_deploy::render::{Places, RenderInput, compose_module};
use windlass_pack_model::{
    Manifest, NoHashCache, Source, fault,
    manifest::{DEFAULT_PROFILE, MANIFEST_FILE},
    org::{ORG_FILE, OrgConfig, parse_org},
};
use windlass_types::Problem;

use super::{
    files::Found,
    issue::{Issue, LintReport},
    org, supply,
};
use crate::{
    ManifestFile,
    checkouts::NoCheckouts,
    repository::{is_free, read_manifest, read_text},
};

/// What to lint.
#[derive(Clone, Copy, Debug)]
pub struct LintRequest<'a> {
    /// The config repository.
    pub repo: &'a Path,
    /// Whether unknown keys and names are issues.
    pub strict: bool,
    /// The name the program was started under, for advice.
    pub program: &'a str,
}

/// Checks a repository against every rule.
pub fn lint(request: &LintRequest<'_>) -> Result<LintReport, Problem> {
    let repo = request.repo;
    if is_free(repo)? {
        let message = format!("{} does not exist", repo.display());
        return Err(fault::at(
            fault::unexpected("io_error", &["retry_with_repo", "retry_command"], message),
            repo,
        ));
    }
    let mut issues = Vec::new();
    let found = Found::walk(repo, &mut issues);
    found.lint(repo, &mut issues);
    let manifest = read_manifest(repo);
    if let Some(config) = read_org(request, &mut issues)? {
        org::lint_pack(request, &config, &mut issues);
        org::lint_distribution(&config, &manifest, &mut issues);
        supply::lint(request, &config, &manifest, &mut issues);
    }
    if let Ok(manifest) = &manifest {
        lint_definitions(repo, &manifest.manifest, &mut issues);
    }
    if request.strict {
        lint_strictly(&manifest, &mut issues);
    }
    Ok(LintReport::new(
        repo,
        issues,
        found.skills.len(),
        found.commands.len(),
    ))
}

/// The policy configuration, if there is one and it can be used.
fn read_org(
    request: &LintRequest<'_>,
    issues: &mut Vec<Issue>,
) -> Result<Option<OrgConfig>, Problem> {
    let path = request.repo.join(ORG_FILE);
    let parsed = match read_text(&path, fault::policy_config_invalid) {
        Ok(None) => return Ok(None),
        Ok(Some(text)) => parse_org(&text),
        Err(problem) => Err(problem),
    };
    Ok(match parsed {
        Ok((config, warnings)) => {
            let unknown = warnings
                .iter()
                .filter(|warning| warning.kind.fails_strict());
            if request.strict {
                issues.extend(unknown.map(|warning| {
                    Issue::new("unknown_key", Path::new(ORG_FILE), warning.to_string())
                        .with(json!({ "line": warning.line }))
                }));
            }
            Some(config)
        }
        Err(problem) => {
            let mut details = json!({ "error": problem.message() });
            for key in ["version", "supported"] {
                if let Some(value) = problem.details().get(key) {
                    details[key] = value.clone();
                }
            }
            issues.push(
                Issue::new("policy_config", Path::new(ORG_FILE), problem.message()).with(details),
            );
            None
        }
    })
}

/// Unknown keys and names of the manifest, and a manifest that cannot be read at all.
fn lint_strictly(manifest: &Result<ManifestFile, Problem>, issues: &mut Vec<Issue>) {
    let path = Path::new(MANIFEST_FILE);
    match manifest {
        Ok(manifest) => {
            let warnings = manifest.warnings.iter();
            for warning in warnings.filter(|warning| warning.kind.fails_strict()) {
                let issue = Issue::new("unknown_key", path, warning.to_string());
                issues.push(issue.with(json!({ "line": warning.line })));
            }
        }
        Err(problem) => issues.push(Issue::new("manifest", path, problem.message())),
    }
}

/// The types that are defined by a file of values (servers, hooks, sub-agents): one that is
/// wrong, or holds what looks like a secret, is an issue before it is deployed.
fn lint_definitions(repo: &Path, manifest: &Manifest, issues: &mut Vec<Issue>) {
    let places = Places {
        home_dir: PathBuf::new(),
        codex_home: None,
    };
    let input = RenderInput {
        repo,
        manifest,
        profile: DEFAULT_PROFILE,
        target: None,
        machine_id: "",
        project: None,
        places: &places,
        checkouts: &NoCheckouts,
        lockfile: None,
        hashes: &NoHashCache,
    };
    for module in &manifest.modules {
        let Source::LocalPath { path } = &module.source else {
            continue;
        };
        if module.module_type.is_v1() || !module.enabled {
            continue;
        }
        if let Err(problem) = compose_module(&input, module) {
            let details = Value::Object(problem.details().clone());
            issues.push(
                Issue::new("module_definition", Path::new(path), problem.message()).with(details),
            );
        }
    }
}
