//! What the artifacts promise about evidence.

use windlass_launch_scout::{excerpt, scout};
use windlass_types::Digest;

use super::support::{PYTHON, folder, input, look};

/// Words of four letters or more outside what is composed around a value.
fn key_words(text: &str) -> Vec<String> {
    text.split(|c: char| !c.is_alphanumeric())
        .filter(|word| word.chars().count() >= 4)
        .map(str::to_lowercase)
        .collect()
}

#[test]
fn cited_lines_support_the_claim() {
    let scouted = look(PYTHON);
    assert!(scouted.facts.claims.len() > 8);
    for claim in &scouted.facts.claims {
        let evidence = &scouted.evidence.claims[&claim.claim_id];
        assert!(!evidence.citations.is_empty(), "{}", claim.claim_text);
        for citation in &evidence.citations {
            let (_, text) = PYTHON
                .iter()
                .find(|(path, _)| *path == citation.path)
                .expect("a file of the product");
            let lines = excerpt(text, citation.start_line, citation.end_line).expect("the lines");
            assert_eq!(
                citation.excerpt_sha256,
                Digest::of(lines.as_bytes()).to_string()
            );
            let said = lines.to_lowercase();
            // Composed sentences quote their value; the words around it are the sentence's own.
            let composed = ["manifest", "source"].contains(&citation.source_type.as_str());
            let quoted: Vec<String> = claim
                .claim_text
                .split('`')
                .skip(1)
                .step_by(2)
                .map(|value| {
                    value
                        .rsplit([' ', '.'])
                        .next()
                        .unwrap_or(value)
                        .to_lowercase()
                })
                .collect();
            let wanted = if composed && !quoted.is_empty() {
                // The last part of a command or a range is what the manifest holds.
                quoted
            } else if composed && claim.claim_text.contains("supports the") {
                vec!["pdf".to_owned(), "docx".to_owned()]
            } else {
                key_words(
                    claim
                        .claim_text
                        .trim_start_matches(|c| c != ':')
                        .trim_start_matches(':'),
                )
            };
            for word in wanted {
                assert!(
                    said.contains(&word),
                    "{word:?} of {:?} in {said:?}",
                    claim.claim_text
                );
            }
        }
    }
}

#[test]
fn the_manifest_wins_over_the_readme() {
    let scouted = look(PYTHON);
    let [one] = scouted.evidence.contradictions.as_slice() else {
        panic!(
            "one contradiction, not {:?}",
            scouted.evidence.contradictions
        );
    };
    assert_eq!(one.resolution, "prefer");
    let winner = one.winning_claim_id.as_ref().expect("a winner");
    let loser = if *winner == one.claim_a_id {
        &one.claim_b_id
    } else {
        &one.claim_a_id
    };
    let is_fact = |id: &str| {
        scouted
            .facts
            .claims
            .iter()
            .any(|claim| claim.claim_id == id)
    };
    assert!(is_fact(winner));
    assert!(!is_fact(loser), "what lost may not be used");
    assert!(
        scouted.evidence.claims.contains_key(loser),
        "and is still on record"
    );
    assert!(scouted.notes.minimal_because.is_empty());
}

#[test]
fn equal_sources_that_disagree_are_withheld_and_make_the_launch_minimal() {
    let scouted = look(&[
        (
            "README.md",
            "# Acme PDF\n\n## Limitations\n\nAcme PDF does not support encrypted files.\n",
        ),
        ("docs/a.md", "# A\n\nAcme PDF renders charts quickly.\n"),
        (
            "docs/b.md",
            "# B\n\n## Support\n\nAcme PDF does not support vector charts.\n",
        ),
        (
            "docs/c.md",
            "# C\n\n## Support\n\nAcme PDF supports vector charts.\n",
        ),
    ]);
    let [one] = scouted.evidence.contradictions.as_slice() else {
        panic!(
            "one contradiction, not {:?}",
            scouted.evidence.contradictions
        );
    };
    assert_eq!(one.resolution, "unresolved");
    assert!(
        scouted
            .facts
            .claims
            .iter()
            .all(|claim| !claim.claim_text.contains("vector"))
    );
    assert_eq!(scouted.notes.minimal_because.len(), 2);
}

#[test]
fn every_group_names_facts_only() {
    let scouted = look(PYTHON);
    let facts = &scouted.facts;
    let groups: Vec<&str> = facts.claim_groups.keys().map(String::as_str).collect();
    assert_eq!(
        groups,
        [
            "compatibility_notes",
            "dependencies",
            "install_steps",
            "key_features",
            "limitations",
            "quickstart_steps",
            "workflow_claims"
        ]
    );
    for (name, ids) in facts.claim_groups.iter().chain(&facts.workflows) {
        for id in ids {
            assert!(
                facts.claims.iter().any(|claim| claim.claim_id == *id),
                "{name}"
            );
        }
    }
    for wanted in [
        "install_steps",
        "limitations",
        "quickstart_steps",
        "key_features",
    ] {
        assert!(!facts.claim_groups[wanted].is_empty(), "{wanted}");
    }
}

#[test]
fn a_product_without_facts_is_minimal_and_not_a_failure() {
    let product = folder(&[("a.bin", "x")]);
    let site = folder(&[]);
    let scouted = scout(product.path(), site.path(), &input()).expect("no failure");
    assert!(scouted.facts.claims.is_empty());
    assert_eq!(
        scouted.notes.minimal_because,
        ["only 0 claims are backed by the repository"]
    );
    assert_eq!(scouted.inventory.repo_profile.platform_family, "unknown");
}

#[test]
fn the_manifest_wins_over_the_readme_for_version_runtime_and_licence() {
    let manifest = "[project]\nname = \"acme-pdf\"\nversion = \"2.3.1\"\nlicense = \"Apache-2.0\"\nrequires-python = \">=3.9\"\n";
    for (sentence, stands) in [
        ("Acme PDF 2.1.0 is the current release.", false),
        ("The latest version of Acme PDF is 2.4.", false),
        ("The latest version of Acme PDF is 2.3.", true),
        ("Acme PDF supports Python 3.7 and later.", false),
        ("Acme PDF needs Python 3.7.", false),
        ("Acme PDF requires Python 3.9 or newer.", true),
        ("Acme PDF is released under the MIT license.", false),
        ("Acme PDF is licensed under Apache-2.0.", true),
    ] {
        for heading in ["Installation", "License"] {
            let readme = format!("# Acme PDF\n\n## {heading}\n\n{sentence}\n");
            let scouted = look(&[("pyproject.toml", manifest), ("README.md", &readme)]);
            let is_claim = scouted
                .facts
                .claims
                .iter()
                .any(|claim| claim.claim_text == sentence);
            // A section on the licence is about the licence alone.
            let is_read = heading == "Installation"
                || sentence.contains("licens")
                || sentence.contains("released");
            assert_eq!(is_claim, stands && is_read, "{heading}: {sentence}");
            let lost = scouted
                .evidence
                .contradictions
                .iter()
                .filter(|one| one.resolution == "prefer" && one.winning_claim_id.is_some())
                .count();
            assert_eq!(
                lost,
                usize::from(!stands && is_read),
                "{heading}: {sentence}"
            );
            assert!(
                scouted
                    .notes
                    .minimal_because
                    .iter()
                    .all(|why| !why.contains("contradict"))
            );
        }
    }
}
