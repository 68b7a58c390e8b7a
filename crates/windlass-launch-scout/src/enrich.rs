//! What can be concluded about claims: their audience, how much they presume, what comes
//! before them, which workflows they serve.
//!
//! Rules of thumb over the claims alone: the same facts give the same conclusions. They put
//! claims in order and never change one, and no page shows them as facts.

use std::collections::{BTreeMap, BTreeSet};

use windlass_launch_model::{
    Claim, ClaimKind, ProductFacts,
    facts::{Audience, Complexity, Enrichment},
};

use crate::words::{content, words};

/// No more claims are named as coming before one.
const MOST_PREREQUISITES: usize = 4;

/// A sentence of more words takes some knowledge to read.
const LONG: usize = 30;

/// Words that show the audience of a claim.
const AUDIENCE_WORDS: &[(Audience, &[&str])] = &[
    (
        Audience::Developer,
        &[
            "api",
            "apis",
            "class",
            "classes",
            "function",
            "functions",
            "method",
            "methods",
            "library",
            "sdk",
            "import",
            "code",
            "developer",
            "developers",
            "package",
            "module",
            "callback",
            "type",
            "types",
        ],
    ),
    (
        Audience::Operator,
        &[
            "deploy",
            "deployment",
            "docker",
            "container",
            "server",
            "cluster",
            "install",
            "installation",
            "configure",
            "configuration",
            "environment",
            "monitor",
            "production",
            "administrator",
            "administrators",
            "operator",
            "operators",
        ],
    ),
    (
        Audience::EndUser,
        &[
            "user", "users", "click", "window", "dialog", "menu", "screen", "editor", "browser",
        ],
    ),
    (
        Audience::Evaluator,
        &[
            "license",
            "licensed",
            "compatible",
            "requires",
            "supports",
            "free",
            "performance",
        ],
    ),
];

/// Words of claims that presume much.
const ADVANCED: &[&str] = &[
    "async",
    "asynchronous",
    "concurrency",
    "concurrent",
    "thread",
    "threads",
    "custom",
    "customize",
    "extend",
    "extension",
    "plugin",
    "plugins",
    "tune",
    "tuning",
    "internals",
    "low-level",
    "unsafe",
    "streaming",
    "callback",
    "callbacks",
    "optimize",
    "cache",
    "caching",
    "protocol",
    "serialization",
    "encryption",
];

/// Concludes about every claim.
pub(crate) fn enrich(facts: &ProductFacts) -> BTreeMap<String, Enrichment> {
    let topics: BTreeMap<&str, BTreeSet<String>> = facts
        .workflows
        .iter()
        .map(|(name, ids)| {
            let said = ids.iter().filter_map(|id| facts.claim(id));
            let words = said.flat_map(|claim| content(&claim.claim_text)).collect();
            (name.as_str(), words)
        })
        .collect();
    facts
        .claims
        .iter()
        .map(|claim| {
            let enrichment = Enrichment {
                audience: audience(claim),
                complexity: complexity(facts, claim),
                prerequisites: prerequisites(facts, claim),
                use_cases: use_cases(facts, &topics, claim),
            };
            (claim.claim_id.clone(), enrichment)
        })
        .collect()
}

fn audience(claim: &Claim) -> Vec<Audience> {
    let said: BTreeSet<String> = words(&claim.claim_text).collect();
    let mut found: BTreeSet<Audience> = AUDIENCE_WORDS
        .iter()
        .filter(|(_, signs)| signs.iter().any(|sign| said.contains(*sign)))
        .map(|(audience, _)| *audience)
        .collect();
    if claim.claim_kind == ClaimKind::Api {
        found.insert(Audience::Developer);
    }
    if found.is_empty() {
        found.insert(Audience::Evaluator);
    }
    found.into_iter().collect()
}

fn complexity(facts: &ProductFacts, claim: &Claim) -> Complexity {
    let in_group = |name: &str| {
        let group = facts.claim_groups.get(name);
        group.is_some_and(|ids| ids.contains(&claim.claim_id))
    };
    let said: Vec<String> = words(&claim.claim_text).collect();
    if in_group("install_steps")
        || in_group("quickstart_steps")
        || facts.positioning_claim_id.as_ref() == Some(&claim.claim_id)
    {
        Complexity::Basic
    } else if said.iter().any(|word| ADVANCED.contains(&word.as_str())) {
        Complexity::Advanced
    } else if claim.claim_kind == ClaimKind::Api
        || claim.claim_kind == ClaimKind::Workflow
        || said.len() > LONG
    {
        Complexity::Intermediate
    } else {
        Complexity::Basic
    }
}

/// Who follows a step has installed the product and taken the step before.
fn prerequisites(facts: &ProductFacts, claim: &Claim) -> Vec<String> {
    let id = &claim.claim_id;
    let empty = Vec::new();
    let installing = facts.claim_groups.get("install_steps").unwrap_or(&empty);
    let acts = matches!(claim.claim_kind, ClaimKind::Workflow | ClaimKind::Api);
    let mut before: Vec<String> = Vec::new();
    if acts && !installing.contains(id) {
        before.extend(installing.iter().take(MOST_PREREQUISITES - 1).cloned());
    }
    for steps in facts.workflows.values() {
        let place = steps.iter().position(|step| step == id);
        let last = place.and_then(|place| place.checked_sub(1));
        before.extend(last.and_then(|at| steps.get(at)).cloned());
    }
    let mut seen = BTreeSet::new();
    before.retain(|other| other != id && seen.insert(other.clone()));
    before.truncate(MOST_PREREQUISITES);
    before
}

/// The workflows a claim is part of; for others, those about the same things.
fn use_cases(
    facts: &ProductFacts,
    topics: &BTreeMap<&str, BTreeSet<String>>,
    claim: &Claim,
) -> Vec<String> {
    let part_of = facts
        .workflows
        .iter()
        .filter(|(_, ids)| ids.contains(&claim.claim_id))
        .map(|(name, _)| name.clone());
    let part_of: Vec<String> = part_of.collect();
    if !part_of.is_empty() {
        return part_of;
    }
    let said = content(&claim.claim_text);
    topics
        .iter()
        .filter(|(_, topic)| {
            let shared = said.intersection(topic).count();
            shared >= 2 && shared * 2 >= said.len()
        })
        .map(|(name, _)| (*name).to_owned())
        .collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn facts() -> ProductFacts {
        let claim = |id: &str, kind: &str, text: &str| {
            json!({
                "claim_id": id, "claim_text": text, "claim_kind": kind,
                "truth_status": "fact", "confidence": "high"
            })
        };
        serde_json::from_value(json!({
            "schema_version": "1.0", "product_name": "Acme", "product_slug": "acme",
            "repo_url": "https://example.org/acme", "positioning_claim_id": "a",
            "claims": [
                claim("a", "feature", "Acme turns documents into pages."),
                claim("b", "workflow", "Install the package with pip."),
                claim("c", "workflow", "Open the document with `open`."),
                claim("d", "workflow", "Save the document as PDF."),
                claim("e", "api", "`Reader.parse` takes a callback."),
                claim("f", "format", "Acme can open a document in DOCX."),
                claim("g", "feature", "Plugins extend every stage."),
            ],
            "claim_groups": {"install_steps": ["b"]},
            "supported_formats": [],
            "workflows": {"installation": ["b"], "save-a-document": ["c", "d"]},
            "api_surface_summary": {"classes": [], "functions": [], "modules": []},
            "license": null, "distribution": [], "runtime_requirements": [], "dependencies": []
        }))
        .unwrap()
    }

    #[test]
    fn conclusions() {
        let shown: Vec<String> = enrich(&facts())
            .iter()
            .map(|(id, found)| {
                format!(
                    "{id} {:?} {:?} after {:?} for {:?}",
                    found.audience, found.complexity, found.prerequisites, found.use_cases
                )
            })
            .collect();
        insta::assert_snapshot!(shown.join("\n"), @r#"
        a [Evaluator] Basic after [] for []
        b [Developer, Operator] Basic after [] for ["installation"]
        c [Evaluator] Intermediate after ["b"] for ["save-a-document"]
        d [Evaluator] Intermediate after ["b", "c"] for ["save-a-document"]
        e [Developer] Advanced after ["b"] for []
        f [Evaluator] Basic after [] for ["save-a-document"]
        g [Evaluator] Advanced after [] for []
        "#);
    }

    #[test]
    fn claims_are_named_and_never_changed() {
        let facts = facts();
        let found = enrich(&facts);
        assert_eq!(found, enrich(&facts));
        let ids: Vec<&String> = facts.claims.iter().map(|claim| &claim.claim_id).collect();
        assert_eq!(found.keys().collect::<Vec<_>>(), ids);
        for (id, enrichment) in &found {
            assert!(!enrichment.audience.is_empty());
            assert!(!enrichment.prerequisites.contains(id));
            assert!(enrichment.prerequisites.iter().all(|id| ids.contains(&id)));
            let known = |name: &String| facts.workflows.contains_key(name);
            assert!(enrichment.use_cases.iter().all(known));
        }
    }
}
