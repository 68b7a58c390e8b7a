//! Universality: a launch promises no more than the product and its tier hold.

use std::collections::BTreeSet;

use windlass_launch_model::{PageRole, Section, markdown::Document};

use crate::gates::{
    finding::{Checked, Finding, Limit},
    input::GateInput,
    outside::GateFault,
    prose,
    run::Gate,
};

const TIER: &str = "GATE_UNIVERSALITY_TIER";
const LIMITATIONS: &str = "GATE_UNIVERSALITY_LIMITATIONS_MISSING";
const INSTALL: &str = "GATE_UNIVERSALITY_INSTALL_COMMAND";
const HIDDEN: &str = "GATE_UNIVERSALITY_HIDDEN_INFERENCE";

/// How installing begins, by package manager.
const INSTALLERS: [&str; 20] = [
    "pip install",
    "pip3 install",
    "python -m pip install",
    "pipx install",
    "uv add",
    "poetry add",
    "npm install",
    "npm i",
    "yarn add",
    "pnpm add",
    "cargo add",
    "cargo install",
    "dotnet add package",
    "go get",
    "go install",
    "gem install",
    "bundle add",
    "composer require",
    "brew install",
    "conda install",
];

/// Words that judge or foretell; a fact has them only when its source does.
const JUDGING: [&str; 16] = [
    "best",
    "fastest",
    "easiest",
    "leading",
    "unique",
    "revolutionary",
    "seamless",
    "seamlessly",
    "effortlessly",
    "guaranteed",
    "guarantees",
    "probably",
    "presumably",
    "likely",
    "always",
    "unlimited",
];

/// The gate.
pub struct Universality;

impl Gate for Universality {
    fn name(&self) -> &'static str {
        "Universality"
    }

    fn limit(&self) -> Limit {
        Limit::Total(60, 120)
    }

    fn check(&self, input: &GateInput) -> Result<Checked, GateFault> {
        let mut findings = over_tier(input);
        findings.extend(limitations(input));
        for (path, document) in input.changed_pages() {
            findings.extend(install_commands(input, path, document));
            findings.extend(hidden(input, path, document));
        }
        Ok(Checked::Ran(findings))
    }
}

/// No section has more pages than its tier allows.
fn over_tier(input: &GateInput) -> Vec<Finding> {
    let mut found = Vec::new();
    for section in Section::ALL {
        let Some(quota) = input.plan.effective_quotas.get(&section) else {
            continue;
        };
        let locales: BTreeSet<&str> = input
            .plan
            .pages
            .iter()
            .map(|page| page.locale.as_str())
            .collect();
        for locale in locales {
            let pages = input.plan.pages.iter();
            let count = pages
                .filter(|page| page.section == section && page.locale == locale)
                .count();
            if count > quota.max as usize {
                let name = section.as_str();
                let message = format!(
                    "{name} has {count} pages, and tier {} allows {}.",
                    input.plan.launch_tier, quota.max
                );
                found.push(Finding::artifact(TIER, "page_plan.json", name, message));
            }
        }
    }
    found
}

/// Where limitations are known, a page that introduces the product names one.
fn limitations(input: &GateInput) -> Vec<Finding> {
    let known = input.facts.claim_groups.get("limitations");
    let Some(known) = known.filter(|known| !known.is_empty()) else {
        return Vec::new();
    };
    // A page that an earlier launch wrote and this one does not change counts as well.
    let planned = input.plan.pages.iter();
    let planned = planned.filter_map(|page| input.document(&page.output_path));
    let changed = input.changed_pages().map(|(_, document)| document);
    let is_mentioned = planned.chain(changed).any(|document| {
        let cited = document.claim_ids();
        known.iter().any(|id| cited.contains(id.as_str()))
    });
    let introduces = |role| matches!(role, PageRole::ComprehensiveGuide | PageRole::Landing);
    let page = input
        .plan
        .pages
        .iter()
        .find(|page| introduces(page.page_role));
    match page.filter(|_| !is_mentioned) {
        Some(page) => {
            let message = format!(
                "{} limitations are known and no page mentions one.",
                known.len()
            );
            vec![Finding::file(LIMITATIONS, &page.output_path, "", message)]
        }
        None => Vec::new(),
    }
}

/// Commands that install something are the manifest's, or from the product's own code.
fn install_commands(input: &GateInput, path: &str, document: &Document) -> Vec<Finding> {
    let right: BTreeSet<String> = input
        .facts
        .distribution
        .iter()
        .flat_map(|way| &way.install_commands)
        .map(|command| plain(command))
        .collect();
    let mut found = Vec::new();
    for range in &document.verbatim {
        let source = &document.text[range.clone()];
        let quoted =
            input.snippets.snippets.iter().any(|snippet| {
                !snippet.code.trim().is_empty() && source.contains(snippet.code.trim())
            });
        if quoted {
            continue;
        }
        let mut at = range.start;
        for line in source.split_inclusive('\n') {
            let command = plain(line.trim_matches('`'));
            let installs = INSTALLERS.iter().any(|start| {
                command
                    .strip_prefix(start)
                    .is_some_and(|rest| rest.starts_with(' '))
            });
            if installs && !right.contains(&command) {
                let message = format!("“{command}” is not how the manifest says it is installed.");
                found.push(Finding::at(
                    INSTALL,
                    path,
                    document.line(at),
                    &command,
                    message,
                ));
            }
            at += line.len();
        }
    }
    found
}

fn plain(command: &str) -> String {
    let words = command.split_whitespace().collect::<Vec<_>>().join(" ");
    words
        .trim_start_matches("$ ")
        .trim_start_matches("> ")
        .to_owned()
}

/// A cited sentence says nothing its claims do not: no other numbers, no judgement of its own.
fn hidden(input: &GateInput, path: &str, document: &Document) -> Vec<Finding> {
    let mut found = Vec::new();
    for sentence in &document.sentences {
        let claims: Vec<&str> = sentence
            .markers
            .iter()
            .filter_map(|marker| input.claim(&marker.claim_id))
            .map(|claim| claim.claim_text.as_str())
            .collect();
        if claims.is_empty() {
            continue;
        }
        let source = claims.join(" ");
        if let Some(extra) = extra(input, &sentence.text, &source) {
            let message = format!("The sentence says “{extra}”, and its claim does not.");
            found.push(Finding::at(
                HIDDEN,
                path,
                sentence.line,
                &sentence.text,
                message,
            ));
        }
    }
    found
}

/// The first word of a sentence that shares too little with its source to be about the same.
fn off_topic(words: &BTreeSet<String>, known: &BTreeSet<String>) -> Option<String> {
    let distinctive: Vec<&String> = words
        .iter()
        .filter(|word| word.chars().count() > 3)
        .collect();
    let shared = distinctive
        .iter()
        .filter(|word| known.contains(**word))
        .count();
    let strange = distinctive.iter().find(|word| !known.contains(**word));
    strange
        .filter(|_| shared * 3 < distinctive.len())
        .map(|word| (*word).clone())
}

/// What a sentence says that its source does not: a number, a judgement, or another matter.
pub fn extra(input: &GateInput, sentence: &str, source: &str) -> Option<String> {
    let source = format!("{source} {}", input.facts.product_name);
    let known = prose::words(&source);
    let numbers = prose::numbers(&source);
    let number = prose::numbers(sentence)
        .into_iter()
        .find(|n| !numbers.contains(n));
    let words = prose::words(sentence);
    let judging = JUDGING
        .iter()
        .find(|word| words.contains(**word) && !known.contains(**word));
    number
        .or_else(|| judging.map(|word| (*word).to_owned()))
        .or_else(|| off_topic(&words, &known))
}

#[cfg(test)]
mod tests {
    use windlass_launch_model::{claim::marker, page::Quota};

    use super::*;
    use crate::gates::sample::{self, GUIDE, LANDING, codes, page_with, subject, with_text};

    #[test]
    fn tiers_are_respected() {
        let mut subject = subject();
        assert!(codes(&Universality, sample::subject()).is_empty());
        subject
            .plan
            .effective_quotas
            .insert(Section::Docs, Quota { min: 0, max: 1 });
        assert_eq!(codes(&Universality, subject), [TIER]);
    }

    #[test]
    fn known_limitations_are_mentioned() {
        let mut silent = with_text(GUIDE, &page_with("Nothing."));
        silent.site.insert(LANDING, page_with("Nothing."));
        assert_eq!(codes(&Universality, silent), [LIMITATIONS]);
        let mut unchanged = crate::gates::sample::subject();
        unchanged.changed.clear();
        assert!(codes(&Universality, unchanged).is_empty());
        let mut unknown = with_text(GUIDE, &page_with("Nothing."));
        unknown.facts.claim_groups.clear();
        assert!(codes(&Universality, unknown).is_empty());
    }

    fn distinctive(body: &str) -> crate::gates::input::Subject {
        let limit = marker(&sample::id(sample::LIMIT));
        with_text(
            GUIDE,
            &page_with(&format!("{} {limit}\n\n{body}", sample::LIMIT)),
        )
    }

    #[test]
    fn install_commands_match_the_manifest() {
        let cases: [(&str, &[&str]); 6] = [
            ("```sh\n$ pip install acme-pdf\n```", &[]),
            ("Run `pip install acme-pdf` first.", &[]),
            ("```sh\npip install acme\n```", &[INSTALL]),
            ("Run `npm install acme-pdf` first.", &[INSTALL]),
            ("`pip install` needs a name.", &[]),
            ("`pip list` shows it.", &[]),
        ];
        for (body, expected) in cases {
            assert_eq!(codes(&Universality, distinctive(body)), expected, "{body}");
        }
    }

    #[test]
    fn cited_sentences_add_nothing() {
        let reads = marker(&sample::id(sample::READS));
        let cases: [(&str, &[&str]); 5] = [
            ("Acme PDF reads DOCX files.", &[]),
            ("With Acme PDF you read files of the DOCX kind.", &[]),
            ("Acme PDF reads 40 DOCX files.", &[HIDDEN]),
            ("Acme PDF is the best reader of DOCX files.", &[HIDDEN]),
            ("Everybody who tried it wants more.", &[HIDDEN]),
        ];
        for (sentence, expected) in cases {
            let body = format!("{sentence} {reads}");
            assert_eq!(codes(&Universality, distinctive(&body)), expected, "{body}");
        }
    }
}
