//! Feasibility: it can be installed, it can be filled with rows, it fits what is prescribed.

use std::collections::{BTreeMap, BTreeSet};

use crate::model::architecture::Architecture;
use crate::model::naming;
use crate::model::quality::Level;
use crate::quality::checks::defect;
use crate::quality::finding::{Dimension, Findings};
use crate::quality::outputs::Outputs;

const OF: Dimension = Dimension::Feasibility;

/// What no preset is built with.
const ELSEWHERE: &[&str] = &[
    "angular",
    "android",
    "aws",
    "azure",
    "cassandra",
    "cobol",
    "django",
    "dynamodb",
    "ember",
    "express",
    "fastapi",
    "firebase",
    "flask",
    "flutter",
    "golang",
    "graphql",
    "gcp",
    "java",
    "kotlin",
    "kubernetes",
    "laravel",
    "mongodb",
    "mysql",
    "nuxt",
    "oracle",
    "php",
    "rails",
    "ruby",
    "spring",
    "sqlite",
    "svelte",
    "swift",
    "symfony",
    "vue",
    "wordpress",
];

pub(crate) fn check(outputs: &Outputs<'_>, findings: &mut Findings) {
    if let Some(dependencies) = outputs.dependencies {
        for (name, version) in dependencies
            .production
            .iter()
            .chain(&dependencies.development)
        {
            if !is_exact(version) {
                findings.add(
                    OF,
                    "version_not_exact",
                    Level::High,
                    format!("dependency:{name}"),
                    format!("{name} has the version {version:?}, which is not exact"),
                );
            }
        }
    }
    for problem in outputs.code_problems {
        findings.add(
            OF,
            "code_check",
            Level::High,
            format!("file:{}", problem.split(':').next().unwrap_or_default()),
            problem,
        );
    }
    for one in &outputs.requirements.constraints {
        let text = naming::words(&one.description);
        let refused = text
            .iter()
            .any(|word| matches!(word.as_str(), "no" | "not" | "without" | "never" | "avoid"));
        for word in text
            .iter()
            .filter(|word| ELSEWHERE.contains(&word.as_str()) && !refused)
        {
            findings.add(
                OF,
                "constraint_not_met",
                Level::Medium,
                format!("req:{}", one.id),
                format!("{} asks for {word}, and no preset is built with it", one.id),
            );
        }
    }
    if let Some(architecture) = outputs.architecture {
        circles(outputs, architecture, findings);
    }
}

/// `1.2.3`, with or without a pre-release.
fn is_exact(version: &str) -> bool {
    let core = version.split(['-', '+']).next().unwrap_or_default();
    let parts: Vec<&str> = core.split('.').collect();
    parts.len() == 3 && parts.iter().all(|part| part.parse::<u64>().is_ok())
}

/// A row that needs a row that needs it can never be made.
fn circles(outputs: &Outputs<'_>, architecture: &Architecture, findings: &mut Findings) {
    let mut needs: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for entity in &architecture.data_model.entities {
        for field in &entity.fields {
            if let Some(target) = field.references.as_deref().filter(|_| !field.nullable) {
                needs.entry(&entity.name).or_default().insert(target);
            }
        }
    }
    for name in needs.keys().copied() {
        let mut open: Vec<&str> = needs.get(name).into_iter().flatten().copied().collect();
        let mut seen: BTreeSet<&str> = BTreeSet::new();
        while let Some(at) = open.pop() {
            if seen.insert(at) {
                open.extend(needs.get(at).into_iter().flatten().copied());
            }
        }
        if seen.contains(name) {
            findings.add(
                OF,
                "circular_relation",
                defect(outputs.given.architecture),
                format!("entity:{name}"),
                format!("a {name} needs a row that needs a {name}; one side must be optional"),
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_not_exact() {
        for (version, exact) in [
            ("1.2.3", true),
            ("1.2.3-beta.1", true),
            ("^1.2.3", false),
            ("~1.2.3", false),
            ("1.x", false),
            ("latest", false),
            ("", false),
        ] {
            assert_eq!(is_exact(version), exact, "{version}");
        }
    }
}
