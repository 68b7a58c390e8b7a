//! What the manifest lacks for what was found to be deployed where it was found.

use std::collections::{BTreeMap, BTreeSet};

use windlass_pack_model::{ConfigScope, Manifest, Target};

use super::scan::Candidate;

/// One sentence for each target, and for each of its options, that is off.
pub(super) fn of<'a>(
    manifest: &Manifest,
    found: impl Iterator<Item = &'a Candidate>,
) -> Vec<String> {
    let mut without_target: BTreeMap<Target, usize> = BTreeMap::new();
    let mut without_option: BTreeMap<(Target, &str), usize> = BTreeMap::new();
    let mut into_home: BTreeSet<Target> = BTreeSet::new();
    for candidate in found {
        let evidence: BTreeSet<_> = candidate.evidence.iter().collect();
        for place in evidence {
            let Some(config) = manifest.targets.get(&place.target) else {
                *without_target.entry(place.target).or_default() += 1;
                continue;
            };
            if let Some((option, default)) = place.option
                && !config.flag(option, default)
            {
                *without_option.entry((place.target, option)).or_default() += 1;
            }
            if candidate.of_project && config.scope == ConfigScope::Both {
                into_home.insert(place.target);
            }
        }
    }
    let mut advice = Vec::new();
    for (target, count) in without_target {
        let scope = match target.is_project_only() {
            true => "project",
            false => "both",
        };
        advice.push(format!(
            "{} for {target}, which is not a target of agentpack.yaml; to deploy to it, add `{target}: {{mode: files, scope: {scope}}}` to its targets",
            modules(count)
        ));
    }
    for ((target, option), count) in without_option {
        advice.push(format!(
            "{} where {target} does not deploy to; to deploy there, set {option}: true in the options of {target}",
            modules(count)
        ));
    }
    for target in into_home {
        advice.push(format!(
            "{target} has scope both, so a deploy writes what was found in the project into your home as well; set scope: project to keep it in the project"
        ));
    }
    advice
}

fn modules(count: usize) -> String {
    match count {
        1 => "1 module was found".to_owned(),
        count => format!("{count} modules were found"),
    }
}
