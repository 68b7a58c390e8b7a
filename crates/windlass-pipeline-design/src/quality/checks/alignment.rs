//! Alignment: the outputs do what was asked for and nothing that was ruled out, and the spec's own
//! weak points are reported.

use crate::model::quality::Level;
use crate::model::strategy::Priority;
use crate::model::{Coverage, Phase};
use crate::quality::checks::defect;
use crate::quality::finding::{Dimension, Findings};
use crate::quality::outputs::Outputs;

const OF: Dimension = Dimension::Alignment;

pub(crate) fn check(
    phase: Phase,
    outputs: &Outputs<'_>,
    coverage: &Coverage,
    findings: &mut Findings,
) {
    out_of_scope(outputs, coverage, findings);
    for weakness in &outputs.analysis.weaknesses {
        let severity = match weakness.check.as_str() {
            "contradiction" => continue,
            "no_metric" | "verb_without_object" => Level::Medium,
            _ => Level::Low,
        };
        findings.add(
            OF,
            &weakness.check,
            severity,
            weakness.spans.join(", "),
            &weakness.message,
        );
    }
    for entity in &outputs.analysis.entities {
        if entity.fields.is_empty() && outputs.architecture.is_some() {
            findings.add(
                OF,
                "entity_without_fields",
                Level::Low,
                format!("entity:{}", entity.name),
                format!("the spec does not say what is kept of {}", entity.name),
            );
        }
    }
    contrast(outputs, findings);
    if phase == Phase::Code {
        for one in &outputs.analysis.integrations {
            // What Supabase itself has needs nothing else.
            if matches!(one.kind.as_str(), "storage" | "search") {
                continue;
            }
            findings.add(
                OF,
                "integration_not_built",
                Level::Medium,
                format!("integration:{}", one.text),
                format!(
                    "{} is used by the product; the project has no account and no secret of it, so that part is left to be wired",
                    one.text
                ),
            );
        }
    }
}

fn out_of_scope(outputs: &Outputs<'_>, coverage: &Coverage, findings: &mut Findings) {
    for one in &outputs.requirements.functional {
        if one.priority != Priority::Wont {
            continue;
        }
        let Some(covered) = coverage
            .requirements
            .iter()
            .find(|known| known.id == one.id)
        else {
            continue;
        };
        // A document may list what is left out.
        let code = covered.files.iter().filter(|path| !path.ends_with(".md"));
        let reached: Vec<&String> = covered
            .endpoints
            .iter()
            .chain(&covered.pages)
            .chain(code)
            .collect();
        if let Some(first) = reached.first() {
            findings.add(
                OF,
                "out_of_scope_built",
                defect(outputs.given.architecture || outputs.given.ux),
                format!("req:{}", one.id),
                format!("{} is out of scope and reaches {first}", one.id),
            );
        }
    }
}

fn contrast(outputs: &Outputs<'_>, findings: &mut Findings) {
    let Some(ux) = outputs.ux else { return };
    let stated = |value: &str| {
        ux.design_tokens
            .stated
            .iter()
            .any(|token| token.value.eq_ignore_ascii_case(value))
    };
    for pair in ux.design_tokens.contrast.iter().filter(|pair| !pair.passes) {
        let theirs = stated(&pair.foreground) || stated(&pair.background);
        findings.add(
            OF,
            "contrast_too_low",
            defect(theirs || outputs.given.ux),
            format!("contrast:{} on {}", pair.foreground, pair.background),
            format!(
                "{} on {} has {}:1 and needs {}:1; stated colours are kept",
                pair.foreground, pair.background, pair.ratio, pair.required
            ),
        );
    }
}
