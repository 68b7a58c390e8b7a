//! `doctor`: whether the places pack deploys to are in order, and what would help.
//!
//! Inspects and reports. The one thing it fixes, on request, is that git ignores the manifests.

mod advice;
mod ignored;
mod overlays;
mod roots;

use std::path::Path;

use serde::Serialize;
use windlass_pack_model::{
    Desired, FileWarning, Manifest, PackHome, Project, fault,
    manifest::MANIFEST_FILE,
    next_actions::{Action, Caller, NextAction, ordered},
};
use windlass_ports::{git::Git, trust};
use windlass_types::Problem;

use crate::Authored;
pub use ignored::GitignoreFix;
pub use roots::RootCheck;

/// What to look at.
#[derive(Clone, Copy)]
pub struct DoctorInput<'a> {
    /// The config repository.
    pub repo: &'a Path,
    /// Its manifest.
    pub manifest: &'a Manifest,
    /// What is odd about the manifest.
    pub manifest_warnings: &'a [FileWarning],
    /// What the manifest resolves to. Its own warnings are the caller's to report.
    pub desired: &'a Desired,
    /// The machine.
    pub machine_id: &'a str,
    /// The project.
    pub project: Option<&'a Project>,
    /// The pack home.
    pub home: &'a PackHome,
    /// Repositories.
    pub git: &'a dyn Git,
    /// How the program was called.
    pub caller: &'a Caller,
    /// Whether suggested commands are for a program.
    pub json: bool,
    /// Whether ignore files are fixed.
    pub fix: bool,
    /// Whether unknown keys and names fail.
    pub strict: bool,
}

/// The `data` of `doctor`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct DoctorData {
    /// The machine.
    pub machine_id: String,
    /// Every root that is switched on.
    pub roots: Vec<RootCheck>,
    /// The ignore files that are fixed.
    pub gitignore_fixes: Vec<GitignoreFix>,
    /// Commands that help.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub next_actions: Vec<String>,
    /// What is worth knowing and is no problem.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub information: Vec<String>,
}

/// Examines the places pack deploys to.
pub fn doctor(input: &DoctorInput<'_>) -> Result<Authored<DoctorData>, Problem> {
    if input.strict {
        refuse_unknown(input.manifest_warnings)?;
    }
    let mut actions: Vec<NextAction> = Vec::new();
    let checks: Vec<RootCheck> = input
        .desired
        .roots
        .iter()
        .map(|root| {
            let (check, action) = roots::check(root);
            actions.extend(action);
            check
        })
        .collect();
    let mut warnings = overlays::examine(input)?;
    warnings.extend(advice::skills_in_two_places(input.desired));
    // Without git or a repository there is nothing to skip.
    let skipped = input.git.skipped(input.repo).unwrap_or_default();
    warnings.extend(trust::skipped(input.repo, &skipped));
    let ignores = ignored::examine(input)?;
    warnings.extend(ignores.warnings);
    if ignores.due && !input.fix {
        let arguments = match input.json {
            true => "doctor --fix --yes --json",
            false => "doctor --fix",
        };
        actions.push(input.caller.suggest(Action::Doctor, arguments));
    }
    let data = DoctorData {
        machine_id: input.machine_id.to_owned(),
        roots: checks,
        gitignore_fixes: ignores.fixes,
        next_actions: ordered(actions)
            .into_iter()
            .map(|action| action.command)
            .collect(),
        information: advice::information(input),
    };
    Ok(Authored {
        data,
        writes: ignores.writes,
        roots: ignores.roots,
        warnings,
    })
}

/// Fails on unknown keys and unknown names.
fn refuse_unknown(warnings: &[FileWarning]) -> Result<(), Problem> {
    let unknown: Vec<String> = warnings
        .iter()
        .filter(|warning| warning.kind.fails_strict())
        .map(ToString::to_string)
        .collect();
    match unknown.first() {
        None => Ok(()),
        Some(first) => Err(fault::config_invalid(format!(
            "{MANIFEST_FILE} has {} unknown keys or names; the first: {first}",
            unknown.len()
        ))
        .with("unknown", unknown)),
    }
}
