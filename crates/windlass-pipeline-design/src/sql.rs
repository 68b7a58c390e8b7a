//! The model as SQL: names, literals, types, and all statements of a schema.
//!
//! The text is what the architecture document shows. Nothing here runs it.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use crate::model::architecture::{Architecture, EntityModel, Field, FieldType, Policy};
use crate::model::naming;

/// Words that PostgreSQL does not take as a plain column, table or function name.
const RESERVED: &[&str] = &[
    "all",
    "analyse",
    "analyze",
    "and",
    "any",
    "array",
    "as",
    "asc",
    "asymmetric",
    "authorization",
    "between",
    "binary",
    "both",
    "case",
    "cast",
    "check",
    "collate",
    "collation",
    "column",
    "concurrently",
    "constraint",
    "create",
    "cross",
    "current_catalog",
    "current_date",
    "current_role",
    "current_schema",
    "current_time",
    "current_timestamp",
    "current_user",
    "default",
    "deferrable",
    "desc",
    "distinct",
    "do",
    "else",
    "end",
    "except",
    "exists",
    "false",
    "fetch",
    "for",
    "foreign",
    "freeze",
    "from",
    "full",
    "grant",
    "group",
    "having",
    "ilike",
    "in",
    "initially",
    "inner",
    "intersect",
    "into",
    "is",
    "isnull",
    "join",
    "lateral",
    "leading",
    "left",
    "like",
    "limit",
    "localtime",
    "localtimestamp",
    "natural",
    "not",
    "notnull",
    "null",
    "offset",
    "on",
    "only",
    "or",
    "order",
    "outer",
    "overlaps",
    "placing",
    "primary",
    "references",
    "returning",
    "right",
    "select",
    "session_user",
    "similar",
    "some",
    "symmetric",
    "system_user",
    "table",
    "tablesample",
    "then",
    "to",
    "trailing",
    "true",
    "union",
    "unique",
    "user",
    "using",
    "variadic",
    "verbose",
    "when",
    "where",
    "window",
    "with",
];

/// A name, quoted when it has to be.
pub fn ident(name: &str) -> String {
    let plain = name.starts_with(|c: char| c.is_ascii_lowercase() || c == '_')
        && name
            .chars()
            .all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_');
    if plain && !RESERVED.contains(&name) {
        name.to_owned()
    } else {
        // PostgreSQL has no text with a zero byte.
        format!("\"{}\"", name.replace('\0', "").replace('"', "\"\""))
    }
}

/// A text as a literal.
pub fn literal(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

/// The table of an entity, with its schema.
pub fn table(entity: &str) -> String {
    format!("public.{}", ident(&naming::table_name(entity)))
}

/// The column type of a field.
pub fn column_type(kind: FieldType) -> &'static str {
    match kind {
        FieldType::Uuid => "uuid",
        FieldType::String | FieldType::Text | FieldType::Enum => "text",
        FieldType::Integer => "integer",
        FieldType::Decimal => "numeric(12, 2)",
        FieldType::Boolean => "boolean",
        FieldType::Date => "date",
        FieldType::Datetime => "timestamptz",
        FieldType::Json => "jsonb",
    }
}

/// The table a field points to and what becomes of the row when the other one goes.
fn reference(field: &Field, target: &str) -> String {
    let to = if target == "auth.users" {
        "auth.users".to_owned()
    } else {
        table(target)
    };
    let action = if field.nullable {
        "set null"
    } else {
        "cascade"
    };
    format!("references {to} (id) on delete {action}")
}

fn column(field: &Field, with_reference: bool) -> String {
    let mut line = format!("{} {}", ident(&field.name), column_type(field.kind));
    if field.primary {
        line.push_str(" primary key");
    } else if !field.nullable {
        line.push_str(" not null");
    }
    if field.unique {
        line.push_str(" unique");
    }
    if let Some(default) = &field.default {
        let _ = write!(line, " default {default}");
    }
    if !field.values.is_empty() {
        let values: Vec<String> = field.values.iter().map(|value| literal(value)).collect();
        let _ = write!(
            line,
            " check ({} in ({}))",
            ident(&field.name),
            values.join(", ")
        );
    }
    if let Some(target) = field.references.as_deref().filter(|_| with_reference) {
        let _ = write!(line, " {}", reference(field, target));
    }
    line
}

/// The entities in an order in which every table exists before another one points to it, as far as
/// that is possible; references that have to wait are added afterwards.
fn creation_order(entities: &[EntityModel]) -> Vec<&EntityModel> {
    let names: BTreeSet<&str> = entities.iter().map(|entity| entity.name.as_str()).collect();
    let mut done: BTreeSet<&str> = BTreeSet::new();
    let mut order: Vec<&EntityModel> = Vec::new();
    while order.len() < entities.len() {
        let waits = |entity: &EntityModel, nullable_too: bool| {
            entity.fields.iter().any(|field| {
                field.references.as_deref().is_some_and(|target| {
                    target != entity.name
                        && names.contains(target)
                        && !done.contains(target)
                        && (nullable_too || !field.nullable)
                })
            })
        };
        let left = || {
            entities
                .iter()
                .filter(|entity| !order.iter().any(|made| made.name == entity.name))
        };
        let next = left()
            .find(|entity| !waits(entity, true))
            .or_else(|| left().find(|entity| !waits(entity, false)))
            .or_else(|| left().next());
        let Some(next) = next else { break };
        done.insert(&next.name);
        order.push(next);
    }
    order
}

fn create_tables(out: &mut String, entities: &[EntityModel]) {
    let mut made: BTreeSet<&str> = BTreeSet::new();
    let mut later = String::new();
    for entity in creation_order(entities) {
        made.insert(&entity.name);
        let mut lines = Vec::new();
        for field in &entity.fields {
            let exists = field
                .references
                .as_deref()
                .is_none_or(|target| target == "auth.users" || made.contains(target));
            lines.push(column(field, exists));
            if let (false, Some(target)) = (exists, &field.references) {
                let _ = writeln!(
                    later,
                    "alter table {} add foreign key ({}) {};",
                    table(&entity.name),
                    ident(&field.name),
                    reference(field, target)
                );
            }
        }
        for together in &entity.unique_together {
            let columns: Vec<String> = together.iter().map(|name| ident(name)).collect();
            lines.push(format!("unique ({})", columns.join(", ")));
        }
        let _ = writeln!(
            out,
            "create table {} (\n  {}\n);\n",
            table(&entity.name),
            lines.join(",\n  ")
        );
    }
    if !later.is_empty() {
        out.push_str(&later);
        out.push('\n');
    }
}

fn create_indexes(out: &mut String, entities: &[EntityModel]) {
    for entity in entities {
        for field in &entity.fields {
            if field.references.is_some() && !field.unique {
                let _ = writeln!(
                    out,
                    "create index on {} ({});",
                    table(&entity.name),
                    ident(&field.name)
                );
            }
        }
    }
}

/// One policy as a statement.
pub fn policy(policy: &Policy) -> String {
    let mut text = format!(
        "create policy {} on public.{} for {} to {}",
        ident(&format!(
            "{}_{}_{}",
            policy.table, policy.command, policy.role
        )),
        ident(&policy.table),
        policy.command,
        policy.role
    );
    if let Some(using) = &policy.using {
        let _ = write!(text, "\n  using ({using})");
    }
    if let Some(check) = &policy.with_check {
        let _ = write!(text, "\n  with check ({check})");
    }
    text.push(';');
    text
}

/// Every statement that makes the schema of an architecture: tables, keys, indexes, functions,
/// row-level security and its policies.
pub fn schema(architecture: &Architecture) -> String {
    let entities = &architecture.data_model.entities;
    let mut out = String::new();
    create_tables(&mut out, entities);
    create_indexes(&mut out, entities);
    out.push('\n');
    for function in &architecture.security.functions {
        let _ = writeln!(
            out,
            "create function public.{}({}) returns boolean\n  language sql stable security definer set search_path = ''\n  as $$ {} $$;\n",
            ident(&function.name),
            function.arguments,
            function.body
        );
    }
    let mut by_table: BTreeMap<&str, Vec<&Policy>> = BTreeMap::new();
    for one in &architecture.security.policies {
        by_table.entry(&one.table).or_default().push(one);
    }
    for entity in entities {
        let name = naming::table_name(&entity.name);
        let _ = writeln!(
            out,
            "alter table {0} enable row level security;\nalter table {0} force row level security;",
            table(&entity.name)
        );
        for one in by_table.get(name.as_str()).into_iter().flatten() {
            out.push_str(&policy(one));
            out.push('\n');
        }
        out.push('\n');
    }
    out.truncate(out.trim_end().len());
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_texts_are_quoted_when_they_have_to_be() {
        for (name, expected) in [
            ("quizzes", "quizzes"),
            ("order", "\"order\""),
            ("Größe", "\"Größe\""),
            ("a\"b", "\"a\"\"b\""),
            ("n2fa", "n2fa"),
            ("", "\"\""),
        ] {
            assert_eq!(ident(name), expected);
        }
        assert_eq!(literal("it's"), "'it''s'");
        assert_eq!(table("QuizAttempt"), "public.quiz_attempts");
    }
}
