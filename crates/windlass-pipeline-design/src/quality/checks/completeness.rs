//! Completeness: nothing that is stated is lost, nothing that is made lacks a part.

use crate::model::analysis::{Place, SpanClass};
use crate::model::coverage::Progress;
use crate::model::quality::Level;
use crate::model::strategy::Priority;
use crate::model::{Coverage, Phase, naming};
use crate::quality::checks::defect;
use crate::quality::finding::{Dimension, Findings};
use crate::quality::outputs::Outputs;
use crate::quality::progress;

const OF: Dimension = Dimension::Completeness;

pub(crate) fn check(
    phase: Phase,
    outputs: &Outputs<'_>,
    coverage: &Coverage,
    findings: &mut Findings,
) {
    spans(outputs, coverage, findings);
    musts(phase, outputs, coverage, findings);
    for one in &outputs.requirements.functional {
        if one.acceptance.is_empty() && one.priority != Priority::Wont {
            let severity = if outputs.given.requirements {
                Level::Low
            } else {
                Level::Medium
            };
            findings.add(
                OF,
                "no_acceptance",
                severity,
                format!("req:{}", one.id),
                format!("{} has no acceptance criterion", one.id),
            );
        }
    }
    if outputs.requirements.functional.is_empty() {
        findings.add(
            OF,
            "no_requirement",
            Level::Medium,
            "spec",
            "no sentence of the spec says what a user does; write sentences such as \"Customers place an order\"",
        );
    }
    not_working(outputs, coverage, findings);
    dropped_fields(outputs, findings);
    tables(outputs, findings);
    for page in outputs.ux.iter().flat_map(|ux| &ux.pages) {
        for state in ["loading", "empty", "error"] {
            if !page.states.iter().any(|known| known == state) {
                findings.add(
                    OF,
                    "page_without_state",
                    defect(outputs.given.ux),
                    format!("page:{} {state}", page.name),
                    format!("the page {:?} has no state {state:?}", page.name),
                );
            }
        }
    }
}

fn spans(outputs: &Outputs<'_>, coverage: &Coverage, findings: &mut Findings) {
    for (span, covered) in outputs.analysis.spans.iter().zip(&coverage.spans) {
        let counts = span.class == SpanClass::Behaviour && span.place != Place::Heading;
        if !counts || covered.mapped_to.iter().any(|id| id.starts_with("req:")) {
            continue;
        }
        findings.add(
            OF,
            "span_unmapped",
            Level::Medium,
            format!("spec:{}", span.id),
            match &span.dropped {
                Some(reason) => format!("{:?} led to no requirement: {reason}", span.text),
                None => format!("{:?} led to no requirement", span.text),
            },
        );
    }
}

fn musts(phase: Phase, outputs: &Outputs<'_>, coverage: &Coverage, findings: &mut Findings) {
    for one in &outputs.requirements.functional {
        if one.priority != Priority::Must {
            continue;
        }
        let Some(covered) = coverage
            .requirements
            .iter()
            .find(|known| known.id == one.id)
        else {
            continue;
        };
        let designed = phase >= Phase::Ux && outputs.ux.is_some();
        if designed && covered.endpoints.is_empty() && covered.pages.is_empty() {
            findings.add(
                OF,
                "must_not_designed",
                Level::Medium,
                format!("req:{}", one.id),
                format!("{} reaches no endpoint and no page", one.id),
            );
        }
        if phase == Phase::Code && outputs.files.is_some() && covered.files.is_empty() {
            findings.add(
                OF,
                "must_not_built",
                Level::Medium,
                format!("req:{}", one.id),
                format!("{} reaches no file", one.id),
            );
        }
    }
}

/// What is asked for and does not work, with what is missing.
fn not_working(outputs: &Outputs<'_>, coverage: &Coverage, findings: &mut Findings) {
    for covered in &coverage.requirements {
        let severity = match covered.status {
            Some(Progress::Text | Progress::Recorded) => Level::Medium,
            Some(Progress::Partly) => Level::Low,
            _ => continue,
        };
        let requirement = outputs
            .requirements
            .functional
            .iter()
            .find(|one| one.id == covered.id);
        let Some(requirement) = requirement else {
            continue;
        };
        let severity = if requirement.priority == Priority::Must {
            severity
        } else {
            Level::Low
        };
        findings.add(
            OF,
            "not_working",
            severity,
            format!("req:{}", covered.id),
            format!("{:?}: {}", requirement.description, covered.missing),
        );
    }
}

/// Listed fields that no table has.
fn dropped_fields(outputs: &Outputs<'_>, findings: &mut Findings) {
    let Some(architecture) = outputs.architecture else {
        return;
    };
    for statement in &outputs.analysis.statements {
        let entity = statement.entity.as_deref().and_then(|name| {
            let mut entities = architecture.data_model.entities.iter();
            entities.find(|entity| entity.name == name)
        });
        let Some(entity) = entity.filter(|_| statement.priority != Priority::Wont) else {
            continue;
        };
        for dropped in progress::dropped_fields(outputs, statement, entity) {
            findings.add(
                OF,
                "field_dropped",
                Level::Medium,
                format!("entity:{} {dropped}", entity.name),
                format!(
                    "{} lists {dropped:?} for {}, and no field holds it",
                    statement.requirement, entity.name
                ),
            );
        }
    }
}

fn tables(outputs: &Outputs<'_>, findings: &mut Findings) {
    let Some(architecture) = outputs.architecture else {
        return;
    };
    let severity = defect(outputs.given.architecture);
    for entity in &architecture.data_model.entities {
        if !entity.fields.iter().any(|field| field.primary) {
            findings.add(
                OF,
                "entity_without_key",
                severity,
                format!("entity:{}", entity.name),
                format!("{} has no primary key", entity.name),
            );
        }
        let table = naming::table_name(&entity.name);
        for command in ["select", "insert", "update", "delete"] {
            let ruled = architecture
                .security
                .policies
                .iter()
                .any(|policy| policy.table == table && policy.command == command);
            if !ruled {
                findings.add(
                    OF,
                    "table_without_policy",
                    severity,
                    format!("policy:{table}/{command}"),
                    format!("no policy says who may {command} in {table}"),
                );
            }
        }
    }
}
