//! Whether an earlier output that is given holds together: what it refers to is there.
//!
//! Shapes are read elsewhere; whether a design is any good is judged later. An id that leads
//! nowhere is refused here, before there is a job, with a JSON pointer to it.

use std::collections::BTreeSet;

use windlass_pipeline_design::model::{
    Architecture, InputProblem, Trace, UxSpec, naming::table_name,
};
use windlass_types::Problem;

use crate::input::{Wanted, refused};

/// The signed-in user, whom no entity stands for.
const USERS: &str = "auth.users";

/// Entities are there once; relationships, references, endpoints and policies are about them.
pub(crate) fn check_architecture(root: &str, given: &Architecture) -> Result<(), Problem> {
    let model = &given.data_model;
    let names = names_once(
        model.entities.iter().map(|entity| entity.name.as_str()),
        &format!("{root}/data_model/entities"),
    )?;
    let known = |pointer: String, name: &str| known_id(pointer, "entity", name, &names);
    for (at, entity) in model.entities.iter().enumerate() {
        for (field_at, field) in entity.fields.iter().enumerate() {
            if let Some(name) = field.references.as_deref().filter(|name| *name != USERS) {
                let pointer =
                    format!("{root}/data_model/entities/{at}/fields/{field_at}/references");
                known(pointer, name)?;
            }
        }
    }
    for (at, relation) in model.relationships.iter().enumerate() {
        for (end, name) in [("from", &relation.from), ("to", &relation.to)] {
            known(format!("{root}/data_model/relationships/{at}/{end}"), name)?;
        }
    }
    for (at, endpoint) in given.api_design.endpoints.iter().enumerate() {
        if let Some(name) = &endpoint.entity {
            known(format!("{root}/api_design/endpoints/{at}/entity"), name)?;
        }
    }
    let tables: Vec<String> = names.iter().map(|name| table_name(name)).collect();
    let tables = tables.iter().map(String::as_str).collect();
    for (at, policy) in given.security.policies.iter().enumerate() {
        let pointer = format!("{root}/security/policies/{at}/table");
        known_id(pointer, "table", &policy.table, &tables)?;
    }
    Ok(())
}

/// Pages are there once.
pub(crate) fn check_ux(root: &str, given: &UxSpec) -> Result<(), Problem> {
    let names = given.pages.iter().map(|page| page.name.as_str());
    names_once(names, &format!("{root}/pages")).map(|_| ())
}

/// What is given together fits together: a design is traced to the requirements beside it, and a
/// page shows an entity of the architecture beside it.
pub(crate) fn check_together(wanted: &Wanted) -> Result<(), Problem> {
    if let (Some(requirements), Some(architecture)) = (&wanted.requirements, &wanted.architecture) {
        let functional = requirements.functional.iter().map(|item| &item.id);
        let others = requirements.non_functional.iter().map(|item| &item.id);
        let constraints = requirements.constraints.iter().map(|item| &item.id);
        let ids = functional.chain(others).chain(constraints);
        let ids = ids.map(String::as_str).collect();
        let entities = architecture.data_model.entities.iter().enumerate();
        for (at, entity) in entities {
            let root = format!("/architecture/data_model/entities/{at}/trace");
            check_traces(&root, &entity.trace, "req", &ids)?;
        }
        for (at, endpoint) in architecture.api_design.endpoints.iter().enumerate() {
            let root = format!("/architecture/api_design/endpoints/{at}/trace");
            check_traces(&root, &endpoint.trace, "req", &ids)?;
        }
    }
    if let (Some(architecture), Some(ux)) = (&wanted.architecture, &wanted.ux_spec) {
        let entities = architecture.data_model.entities.iter();
        let names = entities.map(|entity| entity.name.as_str()).collect();
        for (at, page) in ux.pages.iter().enumerate() {
            if let Some(name) = &page.entity {
                known_id(
                    format!("/ux_spec/pages/{at}/entity"),
                    "entity",
                    name,
                    &names,
                )?;
            }
            check_traces(
                &format!("/ux_spec/pages/{at}/trace"),
                &page.trace,
                "entity",
                &names,
            )?;
        }
    }
    Ok(())
}

fn check_traces(
    root: &str,
    traces: &[Trace],
    kind: &str,
    known: &BTreeSet<&str>,
) -> Result<(), Problem> {
    for (at, trace) in traces.iter().enumerate() {
        if let Some((_, id)) = trace.parts().filter(|(found, _)| *found == kind) {
            let what = if kind == "req" { "requirement" } else { kind };
            known_id(format!("{root}/{at}"), what, id, known)?;
        }
    }
    Ok(())
}

/// The names of a list, none of them empty or there twice.
fn names_once<'a>(
    names: impl Iterator<Item = &'a str>,
    root: &str,
) -> Result<BTreeSet<&'a str>, Problem> {
    let mut seen = BTreeSet::new();
    for (at, name) in names.enumerate() {
        let pointer = format!("{root}/{at}/name");
        if name.trim().is_empty() {
            let message = "a name must not be empty";
            return Err(refused(&InputProblem::new(pointer, "minLength", message)));
        }
        if !seen.insert(name) {
            let message = format!("the name {name:?} is used twice");
            return Err(refused(&InputProblem::new(pointer, "unique", message)));
        }
    }
    Ok(seen)
}

fn known_id(pointer: String, what: &str, id: &str, known: &BTreeSet<&str>) -> Result<(), Problem> {
    if known.contains(id) {
        return Ok(());
    }
    let message = format!("there is no {what} {id:?}; `known` lists those there are");
    let problem = InputProblem::new(pointer, "known_id", message)
        .with("unknown", vec![id])
        .with("known", known.iter().copied().collect::<Vec<_>>());
    Err(refused(&problem))
}

#[cfg(test)]
#[path = "given_tests.rs"]
mod tests;
