//! What the project does for each requirement: read from the routes an endpoint of the architecture
//! states and from the parts of pages that use them. An endpoint that no page uses serves nobody.

use std::collections::BTreeMap;

use windlass_pipeline_design::model::code::Served;

use crate::blueprint::{
    Blueprint, ComponentKind, Operation, PageKind, Route, Work, requirement_ids,
};

/// Whether a part of some page uses the route.
fn is_offered(blueprint: &Blueprint<'_>, route: &Route) -> bool {
    let entity = route.entity;
    let shown = |wanted: &dyn Fn(&ComponentKind) -> bool| {
        blueprint
            .components
            .iter()
            .any(|component| wanted(&component.kind))
    };
    let listed = shown(
        &|kind| matches!(kind, ComponentKind::List(at) | ComponentKind::Recent(at) if *at == entity),
    );
    let detailed = shown(&|kind| *kind == ComponentKind::Detail(entity));
    match route.work {
        Work::Operation { operation, .. } => match operation {
            Operation::List => listed,
            Operation::Read => detailed || listed,
            Operation::Create => shown(&|kind| *kind == ComponentKind::Form(entity)),
            Operation::Update => {
                blueprint.edit_page(entity).is_some()
                    || detailed && shown(&|kind| *kind == ComponentKind::Form(entity))
            }
            Operation::Delete => listed || detailed,
        },
        Work::Action(_) => detailed,
    }
}

fn effect(blueprint: &Blueprint<'_>, route: &Route) -> Served {
    match route.work {
        Work::Action(at)
            if blueprint.entities[route.entity].actions[at]
                .effect
                .is_record() =>
        {
            Served::Recorded
        }
        _ => Served::Works,
    }
}

/// By requirement; one that is not here is only text.
pub(crate) fn served(blueprint: &Blueprint<'_>) -> BTreeMap<String, Served> {
    let mut served: BTreeMap<String, Served> = BTreeMap::new();
    let mut note = |id: &str, how: Served| {
        let known = served.entry(id.to_owned()).or_insert(how);
        *known = (*known).max(how);
    };
    // Routes without a source are there for pages alone; no endpoint states them.
    for route in blueprint
        .routes
        .iter()
        .filter(|route| !route.source.is_empty() && is_offered(blueprint, route))
    {
        for id in requirement_ids(&route.trace) {
            note(id, effect(blueprint, route));
        }
    }
    for page in &blueprint.pages {
        if !matches!(page.kind, PageKind::SignIn | PageKind::SignUp) {
            continue;
        }
        for id in page.requirements() {
            let text = blueprint.requirement(id).unwrap_or_default().to_lowercase();
            let signs = ["sign", "log in", "logs in", "login", "register", "account"]
                .iter()
                .any(|word| text.contains(word));
            if signs {
                note(id, Served::Works);
            }
        }
    }
    served
}
