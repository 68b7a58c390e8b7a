//! What both presets check about an entity: which schema refuses what, what an action writes.

use super::sample_name;
use crate::blueprint::{Action, Blueprint, Effect, Entity, Field, RECORDED_ACTIONS};
use crate::escape::{ts_key, ts_string};

/// Lines that check what may not be given when one is made.
pub(super) fn refusals(entity: &Entity) -> Vec<String> {
    let schema = format!("{}CreateSchema", entity.camel);
    let mut lines = vec![
        format!("expect({schema}.safeParse(input).success).toBe(true);"),
        format!(
            "expect({schema}.safeParse({{ ...input, no_such_field: 1 }}).success).toBe(false);"
        ),
    ];
    if let Some(owner) = entity.owner() {
        lines.push(format!(
            "expect({schema}.safeParse({{ ...input, {}: {} }}).success).toBe(false);",
            ts_key(&owner.column),
            ts_string(&super::uuid(super::USERS, 2))
        ));
    }
    if entity.inputs().any(Field::is_required) {
        lines.push(format!(
            "expect({schema}.safeParse({{}}).success).toBe(false);"
        ));
    }
    if let Some(field) = entity.inputs().find(|field| !field.values.is_empty()) {
        lines.push(format!(
            "expect({schema}.safeParse({{ ...input, {}: \"no such value\" }}).success).toBe(false);",
            ts_key(&field.column)
        ));
    }
    lines
}

/// What the backend is asked by an action, as an expression for `toMatchObject`.
pub(super) fn asked(entity: &Entity, action: &Action) -> String {
    if action.effect.is_record() {
        return format!(
            "{{ method: \"POST\", path: \"/rest/v1/{RECORDED_ACTIONS}\", body: {{ subject_table: {}, subject_id: id, action: {} }} }}",
            ts_string(&entity.table),
            ts_string(&action.verb)
        );
    }
    let body = match &action.effect {
        Effect::Value { column, value } => {
            format!(", body: {{ {}: {} }}", ts_key(column), ts_string(value))
        }
        Effect::Flag { column } => format!(", body: {{ {}: true }}", ts_key(column)),
        Effect::Moment { column } => {
            format!(", body: {{ {}: expect.any(String) }}", ts_key(column))
        }
        Effect::Input | Effect::Record => String::new(),
    };
    format!("{{ method: \"PATCH\", path: {}{body} }}", path(entity))
}

/// Where the backend keeps an entity.
pub(super) fn path(entity: &Entity) -> String {
    ts_string(&format!("/rest/v1/{}", entity.table))
}

/// What an action takes besides the key.
pub(super) fn action_input(
    blueprint: &Blueprint<'_>,
    at: usize,
    action: &Action,
) -> Option<String> {
    if action.inputs.is_empty() {
        return None;
    }
    let entity = &blueprint.entities[at];
    let members: Vec<String> = action
        .inputs
        .iter()
        .filter_map(|column| entity.field(column))
        .map(|field| {
            format!(
                "{}: {}",
                ts_key(&field.column),
                super::as_literal(field, super::value(blueprint, at, field).ts())
            )
        })
        .collect();
    Some(format!("{{ {} }}", members.join(", ")))
}

/// How the backend answers an action.
pub(super) fn answer(entity: &Entity, action: &Action) -> String {
    let sample = sample_name(entity);
    if action.effect.is_record() {
        format!(
            "(call) => (call.method === \"POST\" ? {{ status: 201, body: null }} : {{ status: 200, body: {sample} }})"
        )
    } else {
        format!("() => ({{ status: 200, body: {sample} }})")
    }
}
