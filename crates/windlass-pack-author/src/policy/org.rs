//! The rules of `agentpack.org.yaml` about the policy pack and about what every repository has.

use std::path::Path;

use serde_json::json;
use windlass_pack_model::{
    Manifest, fault,
    manifest::MANIFEST_FILE,
    org::{ORG_FILE, ORG_LOCKFILE, OrgConfig, OrgLockfile, SourceRecord},
};
use windlass_types::Problem;

use super::{issue::Issue, lint::LintRequest};
use crate::{ManifestFile, authored::shown, repository::read_text};

/// The policy pack must be pinned, to what is configured.
pub(super) fn lint_pack(request: &LintRequest<'_>, config: &OrgConfig, issues: &mut Vec<Issue>) {
    let Some(pack) = &config.policy_pack else {
        return;
    };
    let source = match config.policy_source() {
        Ok(source) => source,
        Err(problem) => {
            issues.push(policy_config(problem.message()).with(json!({
                "field": "policy_pack.source",
                "value": pack.source,
                "error": problem.details().get("error"),
            })));
            return;
        }
    };
    let path = request.repo.join(ORG_LOCKFILE);
    let issue = |message: String| Issue::new("policy_pack_lock", Path::new(ORG_LOCKFILE), message);
    let advice = format!("run `{} policy lock`", request.program);
    let text = match read_text(&path, fault::policy_config_invalid) {
        Ok(Some(text)) => text,
        Ok(None) => {
            let missing = issue(format!("the policy pack is not locked; {advice}"));
            issues.push(missing.with(json!({ "path": shown(&path) })));
            return;
        }
        Err(problem) => {
            let details = json!({ "path": shown(&path), "error": problem.message() });
            issues.push(issue(problem.message().to_owned()).with(details));
            return;
        }
    };
    let lockfile = match OrgLockfile::parse(&text) {
        Ok(lockfile) => lockfile,
        Err(error) => {
            let details = json!({ "path": shown(&path), "error": error.to_string() });
            issues.push(issue(format!("{error}; {advice}")).with(details));
            return;
        }
    };
    let configured = SourceRecord::from(&source);
    let locked = &lockfile.policy_pack.source;
    if configured != *locked {
        let other = issue(format!(
            "another policy pack is locked than configured; {advice}"
        ));
        issues.push(other.with(json!({
            "config_source": configured,
            "lock_source": locked,
        })));
    }
}

/// The targets and modules every repository must have.
pub(super) fn lint_distribution(
    config: &OrgConfig,
    manifest: &Result<ManifestFile, Problem>,
    issues: &mut Vec<Issue>,
) {
    let Some(policy) = &config.distribution_policy else {
        return;
    };
    let manifest = match manifest {
        Ok(file) => &file.manifest,
        Err(problem) => {
            issues.push(unusable_manifest("distribution_policy", problem));
            return;
        }
    };
    let targets = named(
        "distribution_policy.required_targets",
        &policy.required_targets,
        issues,
    );
    let modules = named(
        "distribution_policy.required_modules",
        &policy.required_modules,
        issues,
    );
    let missing = sorted(targets.iter().filter(|name| {
        !manifest
            .targets
            .keys()
            .any(|target| target.as_str() == **name)
    }));
    if !missing.is_empty() {
        let message = format!("required targets are missing: {}", missing.join(", "));
        issues.push(
            Issue::new(
                "distribution_required_targets",
                Path::new(MANIFEST_FILE),
                message,
            )
            .with(json!({ "required": targets, "missing": missing })),
        );
    }
    lint_modules(manifest, &modules, issues);
}

fn lint_modules(manifest: &Manifest, required: &[&str], issues: &mut Vec<Issue>) {
    let missing = sorted(required.iter().filter(|id| manifest.module(id).is_none()));
    let disabled = sorted(
        required
            .iter()
            .filter(|id| manifest.module(id).is_some_and(|module| !module.enabled)),
    );
    if missing.is_empty() && disabled.is_empty() {
        return;
    }
    let mut parts = Vec::new();
    if !missing.is_empty() {
        parts.push(format!("missing: {}", missing.join(", ")));
    }
    if !disabled.is_empty() {
        parts.push(format!("disabled: {}", disabled.join(", ")));
    }
    let message = format!(
        "required modules are not all there and enabled ({})",
        parts.join("; ")
    );
    issues.push(
        Issue::new(
            "distribution_required_modules",
            Path::new(MANIFEST_FILE),
            message,
        )
        .with(json!({
            "required": required,
            "missing": missing,
            "disabled": disabled,
        })),
    );
}

/// The entries of a list; an empty one is an issue.
pub(super) fn named<'a>(
    field: &str,
    entries: &'a [String],
    issues: &mut Vec<Issue>,
) -> Vec<&'a str> {
    let mut named = Vec::new();
    for entry in entries {
        match entry.trim() {
            "" => issues.push(
                policy_config(&format!("{field} has an empty entry"))
                    .with(json!({ "field": field })),
            ),
            entry => named.push(entry),
        }
    }
    named
}

pub(super) fn policy_config(message: &str) -> Issue {
    Issue::new("policy_config", Path::new(ORG_FILE), message)
}

/// A policy about a manifest that cannot be read.
pub(super) fn unusable_manifest(rule: &'static str, problem: &Problem) -> Issue {
    let message = format!("{rule} cannot be checked: {}", problem.message());
    Issue::new(rule, Path::new(MANIFEST_FILE), message).with(json!({ "error": problem.message() }))
}

fn sorted<'a>(names: impl Iterator<Item = &'a &'a str>) -> Vec<&'a str> {
    let mut names: Vec<&str> = names.copied().collect();
    names.sort_unstable();
    names.dedup();
    names
}
