//! What a model wrote, held against what it was given: reasons must exist, ids must be unique,
//! and what has no reason goes.

use std::collections::BTreeSet;

use windlass_pipeline_design::model::{Analysis, Architecture, Requirements, Trace, UxSpec};

/// What may be named as a reason.
struct Reasons(BTreeSet<String>);

impl Reasons {
    fn of(spans: &Analysis) -> Self {
        Self(
            spans
                .spans
                .iter()
                .map(|s| format!("spec:{}", s.id))
                .collect(),
        )
    }

    fn requirements(mut self, requirements: &Requirements) -> Self {
        self.0
            .extend(ids(requirements).map(|id| format!("req:{id}")));
        self
    }

    fn entities(mut self, architecture: &Architecture) -> Self {
        let entities = &architecture.data_model.entities;
        self.0
            .extend(entities.iter().map(|e| format!("entity:{}", e.name)));
        self
    }

    fn pages(mut self, ux: &UxSpec) -> Self {
        self.0
            .extend(ux.pages.iter().map(|p| format!("page:{}", p.name)));
        self
    }

    fn hold(&self, trace: &[Trace]) -> bool {
        !trace.is_empty() && trace.iter().all(|reason| self.has(reason))
    }

    fn has(&self, reason: &Trace) -> bool {
        reason.as_str().starts_with("default:") || self.0.contains(reason.as_str())
    }
}

fn ids(requirements: &Requirements) -> impl Iterator<Item = &str> {
    let functional = requirements.functional.iter().map(|r| r.id.as_str());
    let other = requirements.non_functional.iter().map(|r| r.id.as_str());
    let bounds = requirements.constraints.iter().map(|r| r.id.as_str());
    functional.chain(other).chain(bounds)
}

fn verdict(problems: Vec<String>) -> Result<(), Vec<String>> {
    if problems.is_empty() {
        Ok(())
    } else {
        Err(problems)
    }
}

fn duplicates<'a>(names: impl Iterator<Item = &'a str>, what: &str) -> Vec<String> {
    let mut seen = BTreeSet::new();
    names
        .filter(|name| !seen.insert(*name))
        .map(|name| format!("{what} {name} is there twice"))
        .collect()
}

fn groundless<'a>(
    items: impl Iterator<Item = (String, &'a [Trace])>,
    reasons: &Reasons,
) -> Vec<String> {
    let (held, without): (Vec<_>, Vec<_>) = items.partition(|(_, trace)| reasons.hold(trace));
    // A few are taken out without asking again; many mean that the rule was not understood.
    if without.len() * 5 <= held.len() {
        return Vec::new();
    }
    without
        .into_iter()
        .map(|(name, _)| format!("{name} needs a trace to something that exists"))
        .collect()
}

pub(super) fn check_requirements(
    given: &Requirements,
    analysis: &Analysis,
) -> Result<(), Vec<String>> {
    let reasons = Reasons::of(analysis);
    let mut problems = duplicates(ids(given), "the id");
    if given.functional.is_empty() && !analysis.statements.is_empty() {
        problems.push(
            "the specification states behaviour, so there are functional requirements".to_owned(),
        );
    }
    let functional = given
        .functional
        .iter()
        .map(|r| (r.id.clone(), r.trace.as_slice()));
    let other = given
        .non_functional
        .iter()
        .map(|r| (r.id.clone(), r.trace.as_slice()));
    let bounds = given
        .constraints
        .iter()
        .map(|r| (r.id.clone(), r.trace.as_slice()));
    problems.extend(groundless(functional.chain(other).chain(bounds), &reasons));
    verdict(problems)
}

/// Takes out what still has no reason.
pub(super) fn requirements(mut given: Requirements, analysis: &Analysis) -> Requirements {
    let reasons = Reasons::of(analysis);
    given.functional.retain(|item| reasons.hold(&item.trace));
    given
        .non_functional
        .retain(|item| reasons.hold(&item.trace));
    given.constraints.retain(|item| reasons.hold(&item.trace));
    given
}

pub(super) fn check_architecture(
    given: &Architecture,
    analysis: &Analysis,
    requirements: &Requirements,
) -> Result<(), Vec<String>> {
    let reasons = Reasons::of(analysis)
        .requirements(requirements)
        .entities(given);
    let entities = &given.data_model.entities;
    let mut problems = duplicates(entities.iter().map(|e| e.name.as_str()), "the entity");
    for entity in entities {
        if !entity.fields.iter().any(|field| field.primary) {
            problems.push(format!("{} needs a primary key", entity.name));
        }
    }
    let endpoints = &given.api_design.endpoints;
    let named = entities
        .iter()
        .map(|e| (e.name.clone(), e.trace.as_slice()));
    let offered = endpoints
        .iter()
        .map(|e| (format!("{} {}", e.method, e.path), e.trace.as_slice()));
    problems.extend(groundless(named.chain(offered), &reasons));
    verdict(problems)
}

/// Takes out what still has no reason.
pub(super) fn architecture(
    mut given: Architecture,
    analysis: &Analysis,
    requirements: &Requirements,
) -> Architecture {
    let reasons = Reasons::of(analysis)
        .requirements(requirements)
        .entities(&given);
    given
        .data_model
        .entities
        .retain(|item| reasons.hold(&item.trace));
    given
        .api_design
        .endpoints
        .retain(|item| reasons.hold(&item.trace));
    given
}

pub(super) fn check_ux(
    given: &UxSpec,
    analysis: &Analysis,
    requirements: &Requirements,
    architecture: &Architecture,
) -> Result<(), Vec<String>> {
    let reasons = Reasons::of(analysis)
        .requirements(requirements)
        .entities(architecture)
        .pages(given);
    let mut problems = duplicates(given.pages.iter().map(|p| p.name.as_str()), "the page");
    problems.extend(duplicates(
        given
            .pages
            .iter()
            .map(|p| p.route.as_str())
            .filter(|route| !route.is_empty()),
        "the route",
    ));
    let pages = given
        .pages
        .iter()
        .map(|p| (p.name.clone(), p.trace.as_slice()));
    let flows = given
        .user_flows
        .iter()
        .map(|f| (f.name.clone(), f.trace.as_slice()));
    problems.extend(groundless(pages.chain(flows), &reasons));
    verdict(problems)
}

/// Takes out what still has no reason.
pub(super) fn ux(
    mut given: UxSpec,
    analysis: &Analysis,
    requirements: &Requirements,
    architecture: &Architecture,
) -> UxSpec {
    let reasons = Reasons::of(analysis)
        .requirements(requirements)
        .entities(architecture)
        .pages(&given);
    given.pages.retain(|item| reasons.hold(&item.trace));
    given.user_flows.retain(|item| reasons.hold(&item.trace));
    given
}
