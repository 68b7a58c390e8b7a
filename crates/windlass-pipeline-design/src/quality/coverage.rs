//! Coverage: every piece of the spec and what it led to, by following traces backwards.

use std::collections::{BTreeMap, BTreeSet};

use crate::model::analysis::{Place, Span, SpanClass};
use crate::model::coverage::{CoveredRequirement, CoveredSpan, DroppedSpan};
use crate::model::{Analysis, Coverage};
use crate::quality::outputs::Outputs;
use crate::quality::progress;
use crate::quality::traces::{Item, Reasons, items};
use crate::quality::verbatim::verbatim;

/// What a span may be said to have led to.
const LED_TO: [&str; 6] = ["req:", "entity:", "endpoint:", "page:", "token:", "file:"];

fn reason(analysis: &Analysis, span: &Span) -> String {
    if let Some(reason) = &span.dropped {
        return reason.clone();
    }
    let followed = || {
        analysis
            .spans
            .iter()
            .any(|other| other.heading.as_deref() == Some(&span.text))
    };
    if span.place == Place::Heading && followed() {
        return "a heading; what is below it counts".to_owned();
    }
    match span.class {
        SpanClass::Context => "context: it states no behaviour, quality, bound or design",
        SpanClass::Behaviour => "no requirement was made of it",
        SpanClass::Quality => "no quality was made of it",
        SpanClass::Constraint => "no constraint was made of it",
        SpanClass::Design => "shown in the UX document; it names no token or page",
    }
    .to_owned()
}

/// Every item by what it comes from: `spec:S-1` → `req:FR-1`, `page:Quizzes`, …
fn led_to<'a>(items: &'a [Item<'_>], reasons: &'a Reasons) -> BTreeMap<&'a str, Vec<&'a str>> {
    let mut led_to: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    let mut seen: BTreeSet<&str> = BTreeSet::new();
    for item in items {
        let counts = LED_TO.iter().any(|kind| item.id.starts_with(kind));
        if !counts || !seen.insert(&item.id) {
            continue;
        }
        for reason in reasons.behind(&item.id) {
            led_to.entry(reason).or_default().push(&item.id);
        }
    }
    led_to
}

/// The report. `derived_inputs`, `preferences_not_honoured` and `ignored_fields` are the caller's to
/// fill in: they are about the call, not about the outputs.
pub fn coverage(outputs: &Outputs<'_>) -> Coverage {
    let items = items(outputs);
    let reasons = Reasons::of(outputs, &items);
    let led_to = led_to(&items, &reasons);
    let of = |id: String| led_to.get(id.as_str()).map_or(&[][..], Vec::as_slice);
    let analysis = outputs.analysis;
    let mut coverage = Coverage {
        untraced: reasons.untraced.clone(),
        verbatim: verbatim(outputs),
        ..Coverage::default()
    };
    let (mut behaviours, mut met) = (0_u32, 0_u32);
    for span in &analysis.spans {
        let mapped_to: Vec<String> = of(format!("spec:{}", span.id))
            .iter()
            .map(|id| (*id).to_owned())
            .collect();
        if span.class == SpanClass::Behaviour && span.place != Place::Heading {
            behaviours += 1;
            met += u32::from(mapped_to.iter().any(|id| id.starts_with("req:")));
        }
        if mapped_to.is_empty() {
            coverage.dropped.push(DroppedSpan {
                id: span.id.clone(),
                reason: reason(analysis, span),
            });
        }
        coverage.spans.push(CoveredSpan {
            id: span.id.clone(),
            range: [span.start, span.end],
            class: span.class,
            mapped_to,
        });
    }
    // A spec that states no behaviour has lost none.
    coverage.percent = (met * 100).checked_div(behaviours).unwrap_or(100);
    let requirements = outputs.requirements;
    let ids = requirements
        .functional
        .iter()
        .map(|one| &one.id)
        .chain(requirements.non_functional.iter().map(|one| &one.id))
        .chain(requirements.constraints.iter().map(|one| &one.id));
    for id in ids {
        let reached = of(format!("req:{id}"));
        let of_kind = |kind: &str| {
            reached
                .iter()
                .filter_map(|item| item.strip_prefix(kind))
                .map(str::to_owned)
                .collect()
        };
        coverage.requirements.push(CoveredRequirement {
            id: id.clone(),
            endpoints: of_kind("endpoint:"),
            pages: of_kind("page:"),
            files: of_kind("file:"),
            status: None,
            missing: String::new(),
        });
    }
    progress::note(outputs, &mut coverage);
    coverage
}
