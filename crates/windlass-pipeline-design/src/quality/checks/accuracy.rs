//! Accuracy: everything has a reason, nothing is made up, what is stated stays as it is.

use crate::model::Coverage;
use crate::model::analysis::SpanClass;
use crate::model::quality::Level;
use crate::quality::checks::defect;
use crate::quality::finding::{Dimension, Findings};
use crate::quality::outputs::Outputs;
use crate::quality::traces::{Reasons, items};
use crate::quality::verbatim;

const OF: Dimension = Dimension::Accuracy;

pub(crate) fn check(outputs: &Outputs<'_>, coverage: &Coverage, findings: &mut Findings) {
    let items = items(outputs);
    let reasons = Reasons::of(outputs, &items);
    let given = |id: &str| items.iter().any(|item| item.id == id && item.given);
    for id in &coverage.untraced {
        findings.add(
            OF,
            "untraced",
            defect(given(id)),
            id,
            format!("{id} leads back to no place in the spec and to no named default"),
        );
    }
    for (id, trace) in &reasons.dangling {
        findings.add(
            OF,
            "dangling_trace",
            defect(given(id)),
            format!("{id} {trace}"),
            format!("{id} names {trace}, which does not exist"),
        );
    }
    verbatim(outputs, coverage, findings);
    for weakness in &outputs.analysis.weaknesses {
        if weakness.check == "contradiction" {
            findings.add(
                OF,
                "contradiction",
                Level::Medium,
                weakness.spans.join(", "),
                &weakness.message,
            );
        }
    }
}

/// Stated colours, names and numbers that are found nowhere.
fn verbatim(outputs: &Outputs<'_>, coverage: &Coverage, findings: &mut Findings) {
    let stated = verbatim::stated(outputs.analysis);
    for one in coverage
        .verbatim
        .iter()
        .filter(|one| one.found_in.is_empty())
    {
        let classes: Vec<SpanClass> = stated
            .iter()
            .filter(|(kind, text, _)| *kind == one.kind && *text == one.text)
            .flat_map(|(_, _, spans)| spans.iter())
            .filter_map(|id| {
                outputs
                    .analysis
                    .spans
                    .iter()
                    .find(|span| span.id == *id && span.dropped.is_none())
            })
            .map(|span| span.class)
            .collect();
        let design = one.kind == "colour"
            || !classes.is_empty() && classes.iter().all(|class| *class == SpanClass::Design);
        // Design is not due before the UX is.
        if design && outputs.ux.is_none() {
            continue;
        }
        let required = design
            || classes.iter().any(|class| {
                matches!(
                    class,
                    SpanClass::Behaviour | SpanClass::Quality | SpanClass::Constraint
                )
            });
        // A stated name, label or number that reached no output is reported, and withholds nothing.
        let severity = if required { Level::Medium } else { Level::Low };
        findings.add(
            OF,
            "verbatim_missing",
            severity,
            format!("{}:{}", one.kind, one.text),
            format!("the stated {} {:?} is in no output", one.kind, one.text),
        );
    }
}
