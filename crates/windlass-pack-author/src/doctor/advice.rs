//! What is worth knowing: skills that land twice, newer places, snapshots that grow.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
};

use windlass_pack_model::{Desired, ModuleType, PackHome, RootScope, Target};

use super::DoctorInput;

/// From this much on, snapshots are worth pruning.
const MUCH: u64 = 500 * 1_000_000;

/// Skills of one target that are deployed to two directories of one scope.
pub(super) fn skills_in_two_places(desired: &Desired) -> Vec<String> {
    let roots: Vec<_> = desired
        .roots
        .iter()
        .filter(|root| root.target == Target::Codex && root.path.ends_with("skills"))
        .collect();
    let mut places: BTreeMap<(RootScope, &Path), BTreeSet<&Path>> = BTreeMap::new();
    for file in &desired.files {
        let skill = file
            .path
            .parent()
            .filter(|_| file.path.ends_with("SKILL.md"));
        let Some(skill) = skill.filter(|_| file.target == Target::Codex) else {
            continue;
        };
        for root in &roots {
            if let Ok(name) = skill.strip_prefix(&root.path) {
                places
                    .entry((root.scope, name))
                    .or_default()
                    .insert(&root.path);
            }
        }
    }
    places
        .into_iter()
        .filter(|(_, roots)| roots.len() > 1)
        .map(|((_, name), roots)| {
            let shown: Vec<String> = roots.iter().map(|root| root.display().to_string()).collect();
            format!(
                "the skill {} lands in {}; Codex reads both and would list it twice: switch one of the options off",
                name.display(),
                shown.join(" and in ")
            )
        })
        .collect()
}

/// What is worth knowing and is no problem.
pub(super) fn information(input: &DoctorInput<'_>) -> Vec<String> {
    let mut notes = Vec::new();
    notes.extend(needs_windlass(input));
    notes.extend(newer_places(input));
    notes.extend(much_stored(input.home, &input.caller.program));
    notes
}

/// Module types agentpack 0.9.1 refuses.
fn needs_windlass(input: &DoctorInput<'_>) -> Option<String> {
    let newer: Vec<String> = input
        .manifest
        .modules
        .iter()
        .filter(|module| !module.module_type.is_v1())
        .map(|module| format!("{} ({})", module.id, module.module_type))
        .collect();
    (!newer.is_empty()).then(|| {
        format!(
            "this repository needs Windlass: agentpack 0.9.1 refuses the types of {}",
            newer.join(", ")
        )
    })
}

/// Options that are off and would be of use.
fn newer_places(input: &DoctorInput<'_>) -> Vec<String> {
    let has = |target: Target, kind: ModuleType| {
        let mut modules = input.manifest.modules.iter();
        modules.any(|module| module.enabled && module.module_type == kind && module.is_for(target))
    };
    let mut notes = Vec::new();
    let off = |target: Target, options: &[&str]| {
        let config = input.manifest.targets.get(&target);
        config.is_some_and(|config| !options.iter().any(|option| config.flag(option, false)))
    };
    if has(Target::Codex, ModuleType::Skill)
        && off(
            Target::Codex,
            &["write_agents_skills_user", "write_agents_skills_repo"],
        )
    {
        notes.push(
            "Codex now reads skills from .agents/skills: set write_agents_skills_user and write_agents_skills_repo, and switch write_user_skills and write_repo_skills off"
                .to_owned(),
        );
    }
    if has(Target::ClaudeCode, ModuleType::Instructions)
        && off(
            Target::ClaudeCode,
            &["write_claude_md_repo", "write_claude_md_user"],
        )
    {
        notes.push(
            "Claude Code reads CLAUDE.md and not AGENTS.md: set write_claude_md_repo or write_claude_md_user to give it the instructions"
                .to_owned(),
        );
    }
    notes
}

/// Snapshots are kept until they are pruned.
fn much_stored(home: &PackHome, program: &str) -> Option<String> {
    stores_more_than(&[home.blobs(), home.snapshots()], MUCH).then(|| {
        format!(
            "snapshots in {} take more than {} MB; prune old ones with `{program} snapshots prune --keep 20`",
            home.state().display(),
            MUCH / 1_000_000
        )
    })
}

/// Whether the files below some directories have more bytes than a limit. Stops counting there.
fn stores_more_than(directories: &[PathBuf], limit: u64) -> bool {
    let mut pending = directories.to_vec();
    let mut bytes = 0;
    while let Some(directory) = pending.pop() {
        let Ok(entries) = std::fs::read_dir(&directory) else {
            continue;
        };
        for entry in entries.flatten() {
            match entry.file_type() {
                Ok(kind) if kind.is_dir() => pending.push(entry.path()),
                Ok(kind) if kind.is_file() => {
                    bytes += entry.metadata().map_or(0, |metadata| metadata.len());
                    if bytes > limit {
                        return true;
                    }
                }
                _ => {}
            }
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counting_stops_at_the_limit() {
        let dir = tempfile::tempdir().unwrap();
        fs_err::create_dir_all(dir.path().join("a/b")).unwrap();
        fs_err::write(dir.path().join("a/b/x"), [0; 60]).unwrap();
        fs_err::write(dir.path().join("a/y"), [0; 50]).unwrap();
        let there = [dir.path().to_owned(), dir.path().join("gone")];
        assert!(stores_more_than(&there, 109));
        assert!(!stores_more_than(&there, 110));
    }
}
