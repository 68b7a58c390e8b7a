//! `supabase/migrations/0001_init.sql`: tables, keys, indexes, functions, row-level security.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;
use windlass_pipeline_design::model::Trace;
use windlass_pipeline_design::model::architecture::FieldType;
use windlass_pipeline_design::sql::column_type;

use super::Draft;
use crate::blueprint::{Blueprint, Entity, Field, Policy, RECORDED_ACTIONS, Reference};
use crate::escape::{sql_comment, sql_name, sql_string};
use crate::sql_fragment::mentions;
use crate::templates::{TemplateError, render};

pub(super) const PATH: &str = "supabase/migrations/0001_init.sql";

#[derive(Serialize)]
struct Context {
    product: String,
    /// A table that is there once the migration has run.
    witness: String,
    tables: Vec<Table>,
    foreign_keys: Vec<String>,
    indexes: Vec<String>,
    functions: Vec<FunctionText>,
    triggers: Vec<String>,
    security: Vec<Security>,
}

#[derive(Serialize)]
struct Table {
    name: String,
    about: String,
    lines: Vec<String>,
}

#[derive(Serialize)]
struct FunctionText {
    name: String,
    arguments: String,
    body: String,
    /// Who may call it.
    roles: String,
}

#[derive(Serialize)]
struct Security {
    table: String,
    grants: Vec<String>,
    policies: Vec<String>,
}

fn column(field: &Field) -> String {
    let name = sql_name(&field.column);
    let mut line = format!("{name} {}", column_type(field.kind));
    if !field.nullable {
        line.push_str(" not null");
    }
    if let Some(default) = &field.default {
        line.push_str(&format!(" default {default}"));
    }
    if field.unique {
        line.push_str(" unique");
    }
    if !field.values.is_empty() {
        let values: Vec<String> = field.values.iter().map(|value| sql_string(value)).collect();
        line.push_str(&format!(" check ({name} in ({}))", values.join(", ")));
    }
    line
}

fn columns(names: &[String]) -> String {
    names
        .iter()
        .map(|name| sql_name(name))
        .collect::<Vec<_>>()
        .join(", ")
}

fn table(entity: &Entity) -> Table {
    let mut lines: Vec<String> = entity.fields.iter().map(column).collect();
    let keys: Vec<String> = entity
        .fields
        .iter()
        .filter(|field| field.primary)
        .map(|field| field.column.clone())
        .collect();
    lines.push(format!("primary key ({})", columns(&keys)));
    for together in &entity.unique_together {
        lines.push(format!("unique ({})", columns(together)));
    }
    let last = lines.len() - 1;
    for line in &mut lines[..last] {
        line.push(',');
    }
    Table {
        name: sql_name(&entity.table),
        about: sql_comment(&entity.label),
        lines,
    }
}

/// References are added when all tables are there, so that two may point to each other.
fn foreign_keys(blueprint: &Blueprint<'_>) -> Vec<String> {
    let mut statements = Vec::new();
    for entity in &blueprint.entities {
        for field in &entity.fields {
            let target = match field.reference {
                None => continue,
                Some(Reference::User) => "auth.users (id)".to_owned(),
                Some(Reference::Entity(other)) => {
                    let other = &blueprint.entities[other];
                    match other.key() {
                        Some(key) if key.kind == FieldType::Uuid => {
                            format!(
                                "public.{} ({})",
                                sql_name(&other.table),
                                sql_name(&key.column)
                            )
                        }
                        _ => continue,
                    }
                }
            };
            let action = if field.nullable {
                "set null"
            } else {
                "cascade"
            };
            statements.push(format!(
                "alter table public.{} add foreign key ({}) references {target} on delete {action};",
                sql_name(&entity.table),
                sql_name(&field.column)
            ));
        }
    }
    statements
}

/// An index on every column that a reference or a policy looks at, unless a key already is one.
fn indexes(blueprint: &Blueprint<'_>) -> Vec<String> {
    let mut statements = Vec::new();
    for entity in &blueprint.entities {
        let first_of_key = entity
            .fields
            .iter()
            .find(|field| field.primary)
            .map(|field| &field.column);
        for field in &entity.fields {
            let in_policy = blueprint.policies.iter().any(|policy| {
                policy.expressions().any(|text| {
                    mentions(text, &field.column)
                        && (policy.table == entity.table || mentions(text, &entity.table))
                })
            });
            let covered = field.unique
                || first_of_key == Some(&field.column)
                || entity
                    .unique_together
                    .iter()
                    .any(|together| together.first() == Some(&field.column));
            if (field.reference.is_some() || in_policy) && !covered {
                statements.push(format!(
                    "create index on public.{} ({});",
                    sql_name(&entity.table),
                    sql_name(&field.column)
                ));
            }
        }
    }
    statements
}

/// The statement of a policy. Its name says the table, the command and the role.
fn statement(policy: &Policy, names: &mut BTreeSet<String>) -> String {
    let mut head = format!("{}_{}_{}", policy.table, policy.command, policy.role);
    let mut number = 2;
    while !names.insert(head.clone()) {
        head = format!(
            "{}_{}_{}_{number}",
            policy.table, policy.command, policy.role
        );
        number += 1;
    }
    let mut text = format!(
        "create policy {} on public.{}\n  for {} to {}",
        sql_name(&head),
        sql_name(&policy.table),
        policy.command,
        policy.role
    );
    if let Some(using) = &policy.using {
        text.push_str(&format!("\n  using ({using})"));
    }
    if let Some(check) = &policy.check {
        text.push_str(&format!("\n  with check ({check})"));
    }
    text + ";"
}

/// Who may do what at all; the policies say with which rows. What the database sets by itself, the
/// owner above all, is not among the writable columns.
fn grants(table: &str, writable: &[String], policies: &[&Policy]) -> Vec<String> {
    let mut by_role: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for command in ["select", "insert", "update", "delete"] {
        for policy in policies.iter().filter(|policy| policy.command == command) {
            let writes = matches!(command, "insert" | "update") && !writable.is_empty();
            let what = if writes {
                format!("{command} ({})", columns(writable))
            } else {
                command.to_owned()
            };
            let commands = by_role.entry(policy.role).or_default();
            if !commands.contains(&what) {
                commands.push(what);
            }
        }
    }
    by_role
        .into_iter()
        .map(|(role, commands)| {
            format!(
                "grant {} on public.{} to {role};",
                commands.join(", "),
                sql_name(table)
            )
        })
        .collect()
}

fn security(
    blueprint: &Blueprint<'_>,
    table: &str,
    writable: &[String],
    policies: &[Policy],
) -> Security {
    let own: Vec<&Policy> = blueprint
        .policies
        .iter()
        .chain(policies)
        .filter(|policy| policy.table == table)
        .collect();
    let mut names = BTreeSet::new();
    Security {
        table: sql_name(table),
        grants: grants(table, writable, &own),
        policies: own
            .iter()
            .map(|policy| statement(policy, &mut names))
            .collect(),
    }
}

/// The columns that people may write.
fn writable(entity: &Entity) -> Vec<String> {
    entity
        .fields
        .iter()
        .filter(|field| !field.system)
        .map(|field| field.column.clone())
        .collect()
}

fn recorded_actions() -> Table {
    let lines = [
        "id uuid not null default gen_random_uuid(),",
        "owner_id uuid not null default auth.uid(),",
        "subject_table text not null,",
        "subject_id uuid not null,",
        "action text not null,",
        "created_at timestamptz not null default now(),",
        "primary key (id)",
    ];
    Table {
        name: RECORDED_ACTIONS.to_owned(),
        about: "Actions that change no row of their own: who did what, and when".to_owned(),
        lines: lines.map(str::to_owned).into(),
    }
}

pub(super) fn add(blueprint: &Blueprint<'_>, files: &mut Vec<Draft>) -> Result<(), TemplateError> {
    let Some(first) = blueprint.entities.first() else {
        return Ok(());
    };
    let mut context = Context {
        product: sql_comment(&blueprint.product),
        witness: first.table.clone(),
        tables: blueprint.entities.iter().map(table).collect(),
        foreign_keys: foreign_keys(blueprint),
        indexes: indexes(blueprint),
        functions: blueprint
            .functions
            .iter()
            .map(|function| {
                let anon = blueprint.policies.iter().any(|policy| {
                    policy.role == "anon"
                        && policy
                            .expressions()
                            .any(|text| mentions(text, &function.name))
                });
                FunctionText {
                    name: sql_name(&function.name),
                    arguments: function.arguments.clone(),
                    body: function.body.clone(),
                    roles: if anon {
                        "anon, authenticated"
                    } else {
                        "authenticated"
                    }
                    .to_owned(),
                }
            })
            .collect(),
        triggers: blueprint
            .entities
            .iter()
            .filter(|entity| {
                entity
                    .field("updated_at")
                    .is_some_and(|field| field.kind == FieldType::Datetime)
            })
            .map(|entity| sql_name(&entity.table))
            .collect(),
        security: blueprint
            .entities
            .iter()
            .map(|entity| security(blueprint, &entity.table, &writable(entity), &[]))
            .collect(),
    };
    if blueprint.records_actions() {
        let own: Vec<Policy> = crate::blueprint::owner_policies(
            RECORDED_ACTIONS,
            "owner_id = (select auth.uid())",
            &["select", "insert"],
        )
        .collect();
        context.tables.push(recorded_actions());
        context.foreign_keys.push(format!(
            "alter table public.{RECORDED_ACTIONS} add foreign key (owner_id) references auth.users (id) on delete cascade;"
        ));
        context.indexes.push(format!(
            "create index on public.{RECORDED_ACTIONS} (owner_id);"
        ));
        context.security.push(security(
            blueprint,
            RECORDED_ACTIONS,
            &["subject_table", "subject_id", "action"].map(str::to_owned),
            &own,
        ));
    }
    let mut trace: Vec<Trace> = blueprint
        .entities
        .iter()
        .map(|entity| Trace::entity(&entity.source))
        .collect();
    trace.extend(
        blueprint
            .policies
            .iter()
            .flat_map(|policy| policy.trace.iter().cloned()),
    );
    trace.extend(
        blueprint
            .entities
            .iter()
            .flat_map(|entity| &entity.actions)
            .flat_map(|action| action.trace.iter().cloned()),
    );
    files.push(Draft::feature(
        PATH.to_owned(),
        render("sql/migration.sql", &context)?,
        &trace,
    ));
    Ok(())
}
