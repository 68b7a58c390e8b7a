//! The written samples: at least 97 % of the secrets are hidden, ordinary text stays.

use std::collections::{BTreeMap, BTreeSet};

use windlass_secrets::{
    Redactor,
    samples::{Sample, negatives},
};

const POSITIVES: &str = include_str!("../data/positives.txt");
const NEGATIVES: &str = include_str!("../data/negatives.txt");

#[test]
fn the_set_is_as_broad_as_it_says() {
    let samples = Sample::read(POSITIVES);
    let kinds: BTreeSet<_> = samples.iter().map(|sample| &sample.kind).collect();
    assert!(samples.len() >= 600, "{} positives", samples.len());
    assert!(kinds.len() >= 200, "{} kinds", kinds.len());
    assert!(negatives(NEGATIVES).len() >= 600);
}

#[test]
fn at_least_97_percent_of_the_secrets_are_hidden() {
    let redactor = Redactor::new();
    let samples = Sample::read(POSITIVES);
    let mut missed: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for sample in &samples {
        if !sample.is_found(&redactor) {
            missed.entry(&sample.kind).or_default().push(&sample.text);
        }
    }
    let count: usize = missed.values().map(Vec::len).sum();
    let recall = 1.0 - count as f64 / samples.len() as f64;
    assert!(recall >= 0.97, "recall {recall:.4}: {missed:#?}");
}

#[test]
fn ordinary_text_stays() {
    let redactor = Redactor::new();
    let hits: Vec<String> = negatives(NEGATIVES)
        .into_iter()
        .filter_map(|text| {
            let redacted = redactor.redact(text);
            (redacted != text).then(|| format!("{text}\n  {redacted}"))
        })
        .collect();
    assert!(hits.is_empty(), "{} false hits: {hits:#?}", hits.len());
}
