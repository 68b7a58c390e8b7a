//! The critique: findings, a score per dimension, a verdict.

use std::collections::BTreeMap;

use crate::model::quality::{Finding, Level, QualityReport, Verdict};
use crate::model::{Coverage, Phase};
use crate::quality::checks;
use crate::quality::complexity::complexity;
use crate::quality::finding::{Dimension, Findings};
use crate::quality::outputs::Outputs;

/// How many findings are reported.
const MAX_FINDINGS: usize = 50;

/// A dimension's score. Without a defect of ours it never falls below 3: a weak spec is worth a
/// revision, not a refusal.
fn score(findings: &[(Dimension, Finding)], dimension: Dimension) -> u32 {
    let count = |level: Level| {
        findings
            .iter()
            .filter(|(of, finding)| *of == dimension && finding.severity == level)
            .count()
    };
    match (count(Level::High), count(Level::Medium), count(Level::Low)) {
        (0, 0, 0..=5) => 5,
        (0, 0, _) | (0, 1..=3, _) => 4,
        (0, _, _) => 3,
        (1, _, _) => 2,
        _ => 1,
    }
}

/// `incomplete`: something that is asked for is missing.
fn verdict(high: bool, incomplete: bool, average: f64, lowest: u32) -> Verdict {
    if high || average < 3.0 || lowest <= 1 {
        Verdict::Blocked
    } else if average >= 4.0 && lowest >= 3 && !incomplete {
        Verdict::Approved
    } else {
        Verdict::NeedsRevision
    }
}

/// Completeness is no better than the part of the requirements that works.
fn at_most(coverage: &Coverage) -> u32 {
    match coverage.works.map(|_| coverage.percent) {
        None | Some(95..) => 5,
        Some(75..) => 4,
        Some(50..) => 3,
        Some(_) => 2,
    }
}

/// Looks at the outputs up to a phase.
pub fn review(phase: Phase, outputs: &Outputs<'_>, coverage: &Coverage) -> QualityReport {
    let mut findings = Findings::default();
    checks::all(phase, outputs, coverage, &mut findings);
    let mut findings = findings.0;
    findings.sort_by(|(one_of, one), (other_of, other)| {
        other
            .severity
            .cmp(&one.severity)
            .then(one_of.cmp(other_of))
            .then_with(|| one.check.cmp(&other.check))
    });
    let scores = Dimension::ALL.map(|dimension| {
        let score = score(&findings, dimension);
        match dimension {
            Dimension::Completeness => (dimension, score.min(at_most(coverage))),
            _ => (dimension, score),
        }
    });
    let dimensions: BTreeMap<String, u32> = scores
        .iter()
        .map(|(dimension, score)| (dimension.as_str().to_owned(), *score))
        .collect();
    let weighted: u32 = scores
        .iter()
        .map(|(dimension, score)| dimension.weight() * score)
        .sum();
    let incomplete = findings.iter().any(|(dimension, finding)| {
        *dimension == Dimension::Completeness && finding.severity == Level::Medium
    });
    let average = f64::from(weighted) / 100.0;
    let lowest = dimensions.values().copied().min().unwrap_or(5);
    let high = findings
        .iter()
        .any(|(_, finding)| finding.severity == Level::High);
    let truncated = findings.len().saturating_sub(MAX_FINDINGS);
    findings.truncate(MAX_FINDINGS);
    QualityReport {
        verdict: verdict(high, incomplete, average, lowest),
        score: (average * 10.0).round() / 10.0,
        dimensions,
        complexity: complexity(outputs),
        findings: findings.into_iter().map(|(_, finding)| finding).collect(),
        truncated: u32::try_from(truncated).unwrap_or(u32::MAX),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn verdicts_follow_the_table() {
        for (high, average, lowest, expected) in [
            (false, 5.0, 5, Verdict::Approved),
            (false, 4.0, 3, Verdict::Approved),
            (false, 4.2, 2, Verdict::NeedsRevision),
            (false, 3.9, 3, Verdict::NeedsRevision),
            (false, 2.9, 2, Verdict::Blocked),
            (false, 4.5, 1, Verdict::Blocked),
            (true, 5.0, 5, Verdict::Blocked),
        ] {
            assert_eq!(
                verdict(high, false, average, lowest),
                expected,
                "{average} {lowest}"
            );
        }
    }

    #[test]
    fn what_misses_something_is_not_approved() {
        assert_eq!(verdict(false, true, 5.0, 5), Verdict::NeedsRevision);
        let of = |percent| {
            at_most(&Coverage {
                works: Some(crate::model::coverage::Works::default()),
                percent,
                ..Coverage::default()
            })
        };
        assert_eq!([100, 80, 60, 10].map(of), [5, 4, 3, 2]);
        assert_eq!(at_most(&Coverage::default()), 5);
    }

    #[test]
    fn a_weak_spec_is_not_a_defect() {
        let finding = |severity| {
            let mut findings = Findings::default();
            findings.add(Dimension::Accuracy, "check", severity, "target", "message");
            findings.0.remove(0)
        };
        for (high, medium, low, expected) in [
            (0, 0, 0, 5),
            (0, 0, 6, 4),
            (0, 1, 0, 4),
            (0, 40, 40, 3),
            (1, 0, 0, 2),
            (2, 0, 0, 1),
        ] {
            let mut all = Vec::new();
            all.extend((0..high).map(|_| finding(Level::High)));
            all.extend((0..medium).map(|_| finding(Level::Medium)));
            all.extend((0..low).map(|_| finding(Level::Low)));
            assert_eq!(score(&all, Dimension::Accuracy), expected);
            assert_eq!(score(&all, Dimension::Alignment), 5);
        }
    }
}
