//! `supabase/seed.sql`: a few rows of everything, owned by users that cannot sign in.

use std::collections::BTreeSet;

use serde::Serialize;
use windlass_pipeline_design::model::Trace;
use windlass_pipeline_design::model::architecture::FieldType;
use windlass_pipeline_design::model::trace::rule;

use super::Draft;
use super::sample::{self, USERS, sample, uuid};
use crate::blueprint::{Blueprint, Entity, Field, Reference};
use crate::escape::{sql_name, sql_string};
use crate::templates::{TemplateError, render};

pub(super) const PATH: &str = "supabase/seed.sql";

/// How many rows every table gets.
const ROWS: usize = 3;

#[derive(Serialize)]
struct Context {
    users: Vec<String>,
    inserts: Vec<Insert>,
}

#[derive(Serialize)]
struct Insert {
    table: String,
    columns: String,
    rows: Vec<String>,
}

/// Entities so that everything a row points to is there before it, as far as that is possible.
fn order(blueprint: &Blueprint<'_>) -> Vec<usize> {
    let mut done: BTreeSet<usize> = BTreeSet::new();
    let mut order = Vec::new();
    while order.len() < blueprint.entities.len() {
        let waits = |at: usize| {
            blueprint.entities[at].fields.iter().any(|field| {
                matches!(field.reference, Some(Reference::Entity(other))
                    if other != at && !done.contains(&other) && !field.nullable)
            })
        };
        let left = || (0..blueprint.entities.len()).filter(|at| !done.contains(at));
        let Some(next) = left().find(|at| !waits(*at)).or_else(|| left().next()) else {
            break;
        };
        done.insert(next);
        order.push(next);
    }
    order
}

/// Whether the seed gives a field: everything but what the database sets by itself.
fn is_given(entity: &Entity, field: &Field, at: usize, seen: &BTreeSet<usize>) -> bool {
    if field.primary || field.is_owner() {
        return true;
    }
    if field.column == "created_at" || field.column == "updated_at" {
        return false;
    }
    match field.reference {
        // A row that comes later, or the table itself, is left out where it may be.
        Some(Reference::Entity(other)) => !field.nullable || (other != at && seen.contains(&other)),
        _ => {
            !field.nullable
                || entity
                    .title()
                    .is_some_and(|title| title.column == field.column)
                || field.kind == FieldType::Enum
        }
    }
}

fn insert(blueprint: &Blueprint<'_>, at: usize, seen: &BTreeSet<usize>) -> Insert {
    let entity = &blueprint.entities[at];
    let fields: Vec<&Field> = entity
        .fields
        .iter()
        .filter(|field| is_given(entity, field, at, seen))
        .collect();
    let rows = (1..=ROWS)
        .map(|number| {
            let values: Vec<String> = fields
                .iter()
                .map(|field| {
                    let value = sample(entity, field, number, |field| match field.reference {
                        Some(Reference::User) => uuid(USERS, number),
                        Some(Reference::Entity(other)) => uuid(other + 1, number),
                        None => uuid(at + 1, number),
                    });
                    value.sql()
                })
                .collect();
            format!("({})", values.join(", "))
        })
        .collect::<Vec<_>>();
    let last = rows.len() - 1;
    Insert {
        table: sql_name(&entity.table),
        columns: fields
            .iter()
            .map(|field| sql_name(&field.column))
            .collect::<Vec<_>>()
            .join(", "),
        rows: rows
            .into_iter()
            .enumerate()
            .map(|(place, row)| if place == last { row } else { row + "," })
            .collect(),
    }
}

pub(super) fn add(blueprint: &Blueprint<'_>, files: &mut Vec<Draft>) -> Result<(), TemplateError> {
    if blueprint.entities.is_empty() {
        return Ok(());
    }
    let mut seen = BTreeSet::new();
    let mut inserts = Vec::new();
    for at in order(blueprint) {
        inserts.push(insert(blueprint, at, &seen));
        seen.insert(at);
    }
    let users = (1..=ROWS)
        .map(|number| {
            let row = format!(
                "({}, {})",
                sql_string(&sample::uuid(USERS, number)),
                sql_string(&format!("person-{number}@example.com"))
            );
            if number == ROWS { row } else { row + "," }
        })
        .collect();
    let mut trace: Vec<Trace> = blueprint
        .entities
        .iter()
        .map(|entity| Trace::entity(&entity.source))
        .collect();
    trace.push(Trace::default_rule(rule::SCAFFOLDING));
    files.push(Draft::feature(
        PATH.to_owned(),
        render("sql/seed.sql", &Context { users, inserts })?,
        &trace,
    ));
    Ok(())
}
