//! TruthLock: every factual sentence names a claim, and every claim stands on evidence.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;
use windlass_launch_model::{
    TruthStatus, claim,
    markdown::{
        Document, Sentence,
        frontmatter::{Format, key_of},
    },
};
use windlass_types::Digest;

use crate::{
    gates::{
        finding::{Checked, Finding, Limit},
        input::GateInput,
        outside::GateFault,
        prose,
        run::Gate,
    },
    support::{self, Unsupported},
};

/// A factual sentence has no marker.
pub const UNCITED: &str = "GATE_TRUTHLOCK_UNCITED_FACT";
/// A marker names no claim.
pub const INVALID: &str = "GATE_TRUTHLOCK_INVALID_CLAIM_ID";
/// A sentence says more than the claims it names.
pub const UNSUPPORTED: &str = "GATE_TRUTHLOCK_UNSUPPORTED";
const REFUSED: &str = "GATE_TRUTHLOCK_REWRITE_REFUSED";
const CONTRADICTION: &str = "GATE_TRUTHLOCK_UNRESOLVED_CONTRADICTION";
const EVIDENCE: &str = "GATE_TRUTHLOCK_EVIDENCE_MISSING";
const INFERENCE: &str = "GATE_TRUTHLOCK_FORBIDDEN_INFERENCE";

/// Keys of the front matter that readers see as text.
pub const TEXT_KEYS: [&str; 2] = ["description", "summary"];

/// The gate.
pub struct TruthLock;

impl Gate for TruthLock {
    fn name(&self) -> &'static str {
        "TruthLock"
    }

    fn limit(&self) -> Limit {
        Limit::Total(60, 120)
    }

    fn check(&self, input: &GateInput) -> Result<Checked, GateFault> {
        let mut judge = Judge::new(input);
        let mut findings = Vec::new();
        for (path, document) in input.changed_pages() {
            findings.extend(uncited(input, path, document));
            findings.extend(unsupported(input, path, document));
            for marker in document.markers() {
                for (code, why) in judge.claim(&marker.claim_id) {
                    let id = &marker.claim_id;
                    findings.push(Finding::at(code, path, marker.line, id, why));
                }
            }
        }
        for refused in &input.refused_rewrites {
            let message = format!(
                "A model's wording was not used, because {}; the original stands.",
                refused.why
            );
            findings.push(Finding::file(
                REFUSED,
                &refused.path,
                &refused.sentence,
                message,
            ));
        }
        Ok(Checked::Ran(findings))
    }
}

/// The sentences that do not follow from the claims they name.
fn unsupported(input: &GateInput, path: &str, document: &Document) -> Vec<Finding> {
    let mut found = Vec::new();
    for sentence in document
        .sentences
        .iter()
        .filter(|one| !one.markers.is_empty())
    {
        if let Some(why) = not_supported(input, sentence) {
            let message = format!("A sentence says more than its claim: {why}.");
            found.push(Finding::at(
                UNSUPPORTED,
                path,
                sentence.line,
                &sentence.text,
                message,
            ));
        }
    }
    found
}

/// Why a sentence does not follow from the claims it names; none where a claim is unknown, which
/// is a finding of its own.
pub fn not_supported(input: &GateInput, sentence: &Sentence) -> Option<Unsupported> {
    let claims = sentence
        .markers
        .iter()
        .map(|marker| input.claim(&marker.claim_id));
    let claims: Option<Vec<&str>> = claims
        .map(|claim| claim.map(|claim| claim.claim_text.as_str()))
        .collect();
    support::check(&sentence.text, &claims?, &input.facts.product_name).err()
}

fn uncited(input: &GateInput, path: &str, document: &Document) -> Vec<Finding> {
    let sentences = document.uncited(&input.registered);
    let mut found: Vec<Finding> = sentences
        .map(|sentence| {
            let message = "A sentence states a fact and names no claim.".to_owned();
            Finding::at(UNCITED, path, sentence.line, &sentence.text, message)
        })
        .collect();
    for key in TEXT_KEYS {
        let Some(text) = document.key(key).and_then(Value::as_str) else {
            continue;
        };
        if !text.trim().is_empty() && !is_backed(input, text) {
            let line = key_line(document, key);
            let message =
                format!("{key} in the front matter equals no claim and no registered text.");
            found.push(Finding::at(UNCITED, path, line, text, message));
        }
    }
    found
}

/// Whether a text is a claim or registered.
pub fn is_backed(input: &GateInput, text: &str) -> bool {
    let normal = |text: &str| claim::normalise(text, &input.facts.product_name);
    let wanted = normal(text);
    input.registered.contains(&prose::digest(text))
        || input
            .facts
            .claims
            .iter()
            .any(|claim| normal(&claim.claim_text) == wanted)
}

/// The line of a key of the front matter.
pub fn key_line(document: &Document, key: &str) -> u64 {
    let Some(block) = &document.front else {
        return 1;
    };
    let inner = &document.text[block.inner.clone()];
    let at = inner.lines().position(|line| {
        let line = match block.format {
            Format::Json => line.trim_start_matches(['{', ' ', '\t']),
            Format::Yaml | Format::Toml => line,
        };
        key_of(block.format, line) == Some(key)
    });
    document.line(block.inner.start) + at.unwrap_or(0) as u64
}

/// Whether a claim may be shown: it exists, has evidence, and nothing contradicts it.
pub fn stands(input: &GateInput, id: &str) -> bool {
    Judge::new(input).judge(id).is_empty()
}

/// Judges claims, each once.
struct Judge<'a> {
    input: &'a GateInput,
    known: BTreeMap<String, Vec<(&'static str, String)>>,
    withheld: BTreeSet<&'a str>,
    files: BTreeMap<String, Option<Vec<u8>>>,
}

impl<'a> Judge<'a> {
    fn new(input: &'a GateInput) -> Self {
        let mut withheld = BTreeSet::new();
        for contradiction in &input.evidence.contradictions {
            for id in [&contradiction.claim_a_id, &contradiction.claim_b_id] {
                if contradiction.winning_claim_id.as_ref() != Some(id) {
                    withheld.insert(id.as_str());
                }
            }
        }
        Self {
            input,
            known: BTreeMap::new(),
            withheld,
            files: BTreeMap::new(),
        }
    }

    fn claim(&mut self, id: &str) -> Vec<(&'static str, String)> {
        if let Some(known) = self.known.get(id) {
            return known.clone();
        }
        let faults = self.judge(id);
        self.known.insert(id.to_owned(), faults.clone());
        faults
    }

    fn judge(&mut self, id: &str) -> Vec<(&'static str, String)> {
        let Some(found) = self.input.claim(id) else {
            return vec![(
                INVALID,
                "A marker names a claim that does not exist.".to_owned(),
            )];
        };
        let text = found.claim_text.as_str();
        let mut faults = Vec::new();
        if self.withheld.contains(id) {
            faults.push((
                CONTRADICTION,
                format!("Another claim contradicts “{text}”."),
            ));
        }
        if found.truth_status == TruthStatus::Inference && !self.input.settings.allow_inference {
            faults.push((INFERENCE, format!("“{text}” is concluded, not read.")));
        }
        if let Some(why) = self.evidence(id) {
            faults.push((EVIDENCE, format!("“{text}” has no evidence: {why}.")));
        }
        faults
    }

    /// Why a claim's evidence does not stand.
    fn evidence(&mut self, id: &str) -> Option<String> {
        let citations = self
            .input
            .evidence
            .claims
            .get(id)
            .map(|found| &found.citations);
        let Some(citations) = citations.filter(|citations| !citations.is_empty()) else {
            return Some("nothing is cited".to_owned());
        };
        for citation in citations {
            let product = &self.input.product;
            let path = citation.path.as_str();
            let bytes = self
                .files
                .entry(path.to_owned())
                .or_insert_with(|| product.read(path));
            let Some(bytes) = bytes else {
                return Some(format!("{path} is not in the product repository"));
            };
            let text = String::from_utf8_lossy(bytes);
            let lines: Vec<&str> = text.lines().collect();
            let range = usize::try_from(citation.start_line.saturating_sub(1)).unwrap_or(usize::MAX)
                ..usize::try_from(citation.end_line).unwrap_or(usize::MAX);
            let Some(cited) = lines
                .get(range)
                .filter(|cited| !cited.is_empty() && citation.start_line > 0)
            else {
                return Some(format!(
                    "{path} has no lines {} to {}",
                    citation.start_line, citation.end_line
                ));
            };
            let joined = cited.join("\n");
            let same = [joined.clone(), joined + "\n"]
                .iter()
                .any(|text| Digest::of(text.as_bytes()).to_string() == citation.excerpt_sha256);
            if !same {
                return Some(format!(
                    "{path} line {} reads differently",
                    citation.start_line
                ));
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use windlass_launch_model::{claim::marker, facts::Contradiction};

    use super::*;
    use crate::gates::sample::{self, GUIDE, codes, page_with, subject, with_text};

    fn on_page(body: &str) -> crate::gates::input::Subject {
        let mut subject = with_text(GUIDE, &page_with(body));
        subject
            .site
            .insert(sample::LANDING, page_with("See the overview."));
        subject
    }

    #[test]
    fn sentences_need_markers() {
        let reads = marker(&sample::id(sample::READS));
        let cases: [(String, &[&str]); 9] = [
            (format!("{} {reads}", sample::READS), &[]),
            (sample::READS.to_owned(), &[UNCITED]),
            (format!("It is fast. {} {reads}", sample::READS), &[UNCITED]),
            (
                "## A fact in a heading\n\nWhat does it read?".to_owned(),
                &[],
            ),
            ("- [Only a link](/docs/acme/)".to_owned(), &[]),
            ("```py\n# It is fast.\n```".to_owned(), &[]),
            (
                "| A | B |\n|---|---|\n| It is fast. | |".to_owned(),
                &[UNCITED, UNCITED, UNCITED],
            ),
            ("See the overview.".to_owned(), &[]),
            (
                format!("{} <!-- claim_id: {} -->", sample::READS, "0".repeat(64)),
                &[INVALID],
            ),
        ];
        for (body, expected) in cases {
            assert_eq!(codes(&TruthLock, on_page(&body)), expected, "{body}");
        }
    }

    #[test]
    fn sentences_say_no_more_than_their_claims() {
        let reads = marker(&sample::id(sample::READS));
        let limit = marker(&sample::id(sample::LIMIT));
        let cases: [(String, &[&str]); 7] = [
            (format!("DOCX files are read by Acme PDF. {reads}"), &[]),
            (format!("Acme PDF doesn't write XLSX files. {limit}"), &[]),
            (
                format!("Acme PDF writes XLSX files. {limit}"),
                &[UNSUPPORTED],
            ),
            (
                format!("Acme PDF reads DOCX files securely. {reads}"),
                &[UNSUPPORTED],
            ),
            (
                format!("It encrypts all traffic and stores passwords in PostgreSQL. {reads}"),
                &[UNSUPPORTED],
            ),
            (format!("{} {limit}", sample::READS), &[UNSUPPORTED]),
            (
                format!("Does Acme PDF encrypt traffic? {reads}"),
                &[UNSUPPORTED],
            ),
        ];
        for (body, expected) in cases {
            assert_eq!(codes(&TruthLock, on_page(&body)), expected, "{body}");
        }
    }

    #[test]
    fn descriptions_are_claims_or_registered() {
        for (text, expected) in [
            ("acme pdf  reads docx files.", vec![]),
            ("See the overview.", vec![]),
            ("The best tool there is.", vec![UNCITED]),
        ] {
            let page = format!("---\ntitle: T\ndescription: {text}\n---\n\nSee the overview.\n");
            assert_eq!(
                codes(&TruthLock, with_text(GUIDE, &page)),
                expected,
                "{text}"
            );
        }
    }

    #[test]
    fn claims_have_evidence() {
        assert!(codes(&TruthLock, subject()).is_empty());
        let id = sample::id(sample::READS);
        let cited = format!("{} {}", sample::READS, marker(&id));

        let mut inferred = on_page(&cited);
        for claim in inferred
            .facts
            .claims
            .iter_mut()
            .filter(|claim| claim.claim_id == id)
        {
            claim.truth_status = TruthStatus::Inference;
        }
        assert_eq!(codes(&TruthLock, inferred), [INFERENCE]);

        let mut allowed = on_page(&cited);
        allowed.settings.allow_inference = true;
        assert!(codes(&TruthLock, allowed).is_empty());

        let mut none = on_page(&cited);
        none.evidence.claims.clear();
        assert_eq!(codes(&TruthLock, none), [EVIDENCE]);

        for change in [
            |citation: &mut windlass_launch_model::Citation| citation.path = "gone.md".to_owned(),
            |citation: &mut windlass_launch_model::Citation| citation.end_line = 99,
            |citation: &mut windlass_launch_model::Citation| citation.start_line = 0,
            |citation: &mut windlass_launch_model::Citation| {
                citation.excerpt_sha256 = "0".repeat(64)
            },
        ] {
            let mut broken = on_page(&cited);
            broken
                .evidence
                .claims
                .get_mut(&id)
                .unwrap()
                .citations
                .iter_mut()
                .for_each(change);
            assert_eq!(codes(&TruthLock, broken), [EVIDENCE]);
        }
    }

    #[test]
    fn contradicted_claims_are_not_shown() {
        let id = sample::id(sample::READS);
        let cited = format!("{} {}", sample::READS, marker(&id));
        for (winner, expected) in [
            (None, vec![CONTRADICTION]),
            (Some("other".to_owned()), vec![CONTRADICTION]),
            (Some(id.clone()), vec![]),
        ] {
            let mut subject = on_page(&cited);
            subject.evidence.contradictions = vec![Contradiction {
                claim_a_id: id.clone(),
                claim_b_id: "other".to_owned(),
                resolution: "x".to_owned(),
                winning_claim_id: winner,
                reasoning: String::new(),
            }];
            assert_eq!(codes(&TruthLock, subject), expected);
        }
    }
}
