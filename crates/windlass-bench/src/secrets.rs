//! Redaction: how many of the written secrets are hidden, how often ordinary text is taken for
//! one, how fast it is, and whether its time per byte depends on the length of the worst texts.

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
    time::Instant,
};

use anyhow::Result;
use windlass_secrets::{
    Redactor,
    samples::{Sample, negatives},
};

use crate::report;

const POSITIVES: &str = include_str!("../../windlass-secrets/tests/data/positives.txt");
const NEGATIVES: &str = include_str!("../../windlass-secrets/tests/data/negatives.txt");
const ROUNDS: usize = 5;
const MEGABYTE: f64 = 1e6;

/// Texts that once cost, or would cost a careless rule, time that grows with their square.
const WORST: [(&str, &str); 8] = [
    ("-----BEGIN PRIVATE KEY-----", ""),
    ("-----BEGIN PRIVATE KEY-----", "-----END "),
    ("whsec_/", ""),
    ("xoxe.", ""),
    ("token=", "("),
    ("authorization:", ""),
    ("authorization: digest \"", ""),
    ("stripe key ", ""),
];

pub(crate) fn run() -> Result<()> {
    report::heading("secrets: the written samples, ordinary source, the worst texts");
    let redactor = Redactor::new();
    samples(&redactor);
    ordinary(&redactor)?;
    worst(&redactor);
    Ok(())
}

fn samples(redactor: &Redactor) {
    let positives = Sample::read(POSITIVES);
    let kinds: BTreeSet<_> = positives.iter().map(|sample| &sample.kind).collect();
    let found = positives
        .iter()
        .filter(|sample| sample.is_found(redactor))
        .count();
    let negatives = negatives(NEGATIVES);
    let hits = negatives
        .iter()
        .filter(|text| redactor.redact(text) != **text)
        .count();
    println!(
        "  {} positives of {} kinds: {found} hidden; {} negatives: {hits} false hits",
        positives.len(),
        kinds.len(),
        negatives.len()
    );
    let recall = found as f64 / positives.len() as f64;
    report::ratio("recall", recall, "≥ 0.97", recall >= 0.97);
}

/// The sources of this checkout, without those whose subject is secrets and without tests, which
/// are full of invented ones.
fn ordinary(redactor: &Redactor) -> Result<()> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut texts = Vec::new();
    collect(&root.join("crates"), &mut texts)?;
    let bytes: usize = texts.iter().map(String::len).sum();
    let megabytes = bytes as f64 / MEGABYTE;
    let mut speed = report::Samples::default();
    let mut hits = 0;
    for _ in 0..ROUNDS {
        let start = Instant::now();
        let redacted: Vec<_> = texts.iter().map(|text| redactor.redact(text)).collect();
        speed.push(megabytes / start.elapsed().as_secs_f64());
        let count = |text: &str| text.matches("[redacted:").count();
        hits = texts
            .iter()
            .zip(&redacted)
            .map(|(text, redacted)| count(redacted).saturating_sub(count(text)))
            .sum();
    }
    report::value("ordinary source", megabytes, "MB");
    report::figure("speed", &speed, "MB/s");
    let rate = hits as f64 / megabytes;
    report::ratio("false hits per MB", rate, "≤ 1", rate <= 1.0);
    let speed = speed.median() / 100.0;
    report::ratio("speed, of 100 MB/s asked for", speed, "≥ 1", speed >= 1.0);
    Ok(())
}

fn collect(folder: &Path, texts: &mut Vec<String>) -> Result<()> {
    let skipped = [
        "tests",
        "windlass-bench",
        "windlass-secrets",
        "node_modules",
    ];
    let mut entries: Vec<PathBuf> = fs_err::read_dir(folder)?
        .map(|entry| entry.map(|entry| entry.path()))
        .collect::<std::io::Result<_>>()?;
    entries.sort();
    for path in entries {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if path.is_dir() {
            if !skipped.contains(&&*name) {
                collect(&path, texts)?;
            }
        } else if is_ordinary(&name) {
            let text = fs_err::read_to_string(&path)?;
            let end = text.find("#[cfg(test)]").unwrap_or(text.len());
            texts.push(text[..end].to_owned());
        }
    }
    Ok(())
}

fn is_ordinary(name: &str) -> bool {
    let is_text = [".rs", ".md", ".toml", ".json", ".ts", ".yaml", ".yml"]
        .iter()
        .any(|end| name.ends_with(end));
    is_text && !name.ends_with("_tests.rs")
}

fn worst(redactor: &Redactor) {
    let mut steepest = 0.0_f64;
    for (piece, tail) in WORST {
        let seconds_per_byte = |size: usize| {
            let text = format!("{}{tail}", piece.repeat(size / piece.len()));
            let mut samples = report::Samples::default();
            for _ in 0..3 {
                let start = Instant::now();
                std::hint::black_box(redactor.redact(&text));
                samples.push(start.elapsed().as_secs_f64() / text.len() as f64);
            }
            samples.median()
        };
        let (small, large) = (
            seconds_per_byte(256 * 1024),
            seconds_per_byte(8 * 1024 * 1024),
        );
        println!(
            "  {:<52} {:>12.2} MB/s at 8 MiB, {:.2} × the time per byte at 256 KiB",
            format!("{piece:?} … {tail:?}"),
            1.0 / large / MEGABYTE,
            large / small
        );
        steepest = steepest.max(large / small);
    }
    report::ratio(
        "time per byte, 8 MiB / 256 KiB, worst text",
        steepest,
        "≤ 2",
        steepest <= 2.0,
    );
}
