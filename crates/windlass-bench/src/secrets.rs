//! Redaction: how many of the written secrets are hidden, how often ordinary text is taken for
//! one, how fast it is, and whether its time per byte depends on the length of the worst texts.

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
    time::Instant,
};

use anyhow::{Result, bail};
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

/// Measures what the caller names: `--set` with files of samples, `--text` with files and folders of
/// ordinary text.
pub(crate) fn measure(flag: &str, paths: &[String]) -> Result<()> {
    if paths.is_empty() {
        bail!("{flag} needs a path");
    }
    let redactor = Redactor::new();
    match flag {
        "--set" => paths.iter().try_for_each(|path| set(&redactor, path)),
        "--text" => text(&redactor, paths),
        _ => bail!("secrets takes --set FILE… or --text PATH…, not {flag}"),
    }
}

/// The recall on a file of samples, one a line or each ended by a NUL: `kind<TAB>text` with `«…»`
/// around the secret, which must be gone, or a text of which any part must be hidden.
fn set(redactor: &Redactor, path: &str) -> Result<()> {
    let file = fs_err::read_to_string(path)?;
    let end = if file.contains('\0') { '\0' } else { '\n' };
    let texts: Vec<&str> = file.split(end).filter(|text| !text.is_empty()).collect();
    let mut found = 0;
    for text in &texts {
        let is_found = match Sample::parse(text) {
            Some(sample) => sample.is_found(redactor),
            None => redactor.redact(text) != *text,
        };
        found += usize::from(is_found);
        if !is_found {
            println!("  missed: {}", text.replace('\n', "⏎"));
        }
    }
    println!("  {path}: {found} of {} hidden", texts.len());
    let recall = found as f64 / texts.len().max(1) as f64;
    report::ratio("recall", recall, "≥ 0.97", recall >= 0.97);
    Ok(())
}

/// How often ordinary text is taken for a secret, each time with what it was taken for. Tests and
/// examples of secrets are left out, as for the sources of this checkout.
fn text(redactor: &Redactor, paths: &[String]) -> Result<()> {
    let (mut bytes, mut hits) = (0, 0);
    let mut files = Vec::new();
    for path in paths {
        list(Path::new(path), &mut files)?;
    }
    let mut seconds = 0.0;
    for path in &files {
        // What is no text is no log and no source.
        let Ok(text) = fs_err::read_to_string(path) else {
            continue;
        };
        let text = &text[..text.find("#[cfg(test)]").unwrap_or(text.len())];
        bytes += text.len();
        let start = Instant::now();
        let redacted = redactor.redact(text);
        seconds += start.elapsed().as_secs_f64();
        for line in redacted.lines() {
            let count = line.matches("[redacted:").count();
            if count > 0 && !text.contains(line) {
                hits += count;
                println!("  {}: {}", path.display(), cut(line));
            }
        }
    }
    let megabytes = bytes as f64 / MEGABYTE;
    report::value("ordinary text", megabytes, "MB");
    let rate = hits as f64 / megabytes;
    report::ratio("false hits per MB", rate, "≤ 1", rate <= 1.0);
    report::value("speed", megabytes / seconds, "MB/s");
    Ok(())
}

/// The surroundings of the first replacement.
fn cut(line: &str) -> &str {
    let at = line.find("[redacted:").unwrap_or(0);
    let (from, to) = (at.saturating_sub(60), (at + 60).min(line.len()));
    &line[line.floor_char_boundary(from)..line.floor_char_boundary(to)]
}

fn list(path: &Path, files: &mut Vec<PathBuf>) -> Result<()> {
    const SKIPPED: [&str; 9] = [
        "tests",
        "test",
        "testdata",
        "test_data",
        "fixtures",
        "examples",
        "benches",
        "test-suite",
        "node_modules",
    ];
    if path.is_symlink() {
        return Ok(());
    }
    if path.is_file() {
        let name = path.file_stem().unwrap_or_default().to_string_lossy();
        if !name.ends_with("_test") && !name.ends_with("_tests") {
            files.push(path.to_owned());
        }
        return Ok(());
    }
    for entry in fs_err::read_dir(path)? {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if !SKIPPED.iter().any(|skipped| name.ends_with(skipped)) {
            list(&path, files)?;
        }
    }
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
