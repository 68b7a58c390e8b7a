//! What works, what does not, and what was found: the quality report as a document.

use super::markdown::{Document, text};
use crate::model::coverage::{Coverage, Progress};
use crate::model::quality::{Level, QualityReport, Verdict};
use crate::model::strategy::Requirements;

/// `APPROVED`, as on the wire.
pub const fn verdict_name(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Approved => "APPROVED",
        Verdict::NeedsRevision => "NEEDS_REVISION",
        Verdict::Blocked => "BLOCKED",
    }
}

/// `9 of 14 requirements work; 2 partly, 1 only recorded, 2 only text`.
pub fn works_line(coverage: &Coverage) -> Option<String> {
    let works = coverage.works?;
    let rest: Vec<String> = [
        (works.partly, "work in part"),
        (works.recorded, "are only recorded"),
        (works.text, "are only text"),
    ]
    .into_iter()
    .filter(|(count, _)| *count > 0)
    .map(|(count, how)| format!("{count} {how}"))
    .collect();
    let line = format!(
        "{} of {} requirements work",
        works.works, works.requirements
    );
    Some(if rest.is_empty() {
        line
    } else {
        format!("{line}; {}", rest.join(", "))
    })
}

fn status(progress: Progress) -> &'static str {
    match progress {
        Progress::Works => "works",
        Progress::Partly => "works in part",
        Progress::Recorded => "only recorded",
        Progress::Text => "only text",
        Progress::OutOfScope => "out of scope",
    }
}

/// The document.
pub fn quality_markdown(
    requirements: Option<&Requirements>,
    coverage: &Coverage,
    report: &QualityReport,
) -> String {
    let mut doc = Document::new("Quality report");
    doc.paragraph(&format!(
        "Verdict: {}, {} of 5.",
        verdict_name(report.verdict),
        report.score
    ));
    if let Some(line) = works_line(coverage) {
        doc.paragraph(&format!("{line}."));
    }
    doc.section("Requirements");
    let described = |id: &str| {
        requirements
            .and_then(|all| all.functional.iter().find(|one| one.id == id))
            .map(|one| text(&one.description))
            .unwrap_or_default()
    };
    doc.table(
        &["requirement", "as stated", "status", "what is missing"],
        coverage
            .requirements
            .iter()
            .filter_map(|one| {
                Some(vec![
                    one.id.clone(),
                    described(&one.id),
                    status(one.status?).to_owned(),
                    text(&one.missing),
                ])
            })
            .collect(),
        "What works is known once there is code.",
    );
    doc.section("Findings");
    doc.table(
        &["severity", "check", "about", "what"],
        report
            .findings
            .iter()
            .map(|finding| {
                let severity = match finding.severity {
                    Level::High => "HIGH",
                    Level::Medium => "MEDIUM",
                    Level::Low => "LOW",
                };
                vec![
                    severity.to_owned(),
                    finding.check.clone(),
                    text(&finding.target),
                    text(&finding.message),
                ]
            })
            .collect(),
        "Nothing was found.",
    );
    if report.truncated > 0 {
        doc.paragraph(&format!("{} more findings are left out.", report.truncated));
    }
    doc.section("Dropped from the spec");
    doc.table(
        &["piece", "why"],
        coverage
            .dropped
            .iter()
            .map(|one| vec![one.id.clone(), text(&one.reason)])
            .collect(),
        "Every piece of the spec led to something.",
    );
    doc.finish()
}
