//! `src/lib/database.types.ts`: the tables as the Supabase client knows them.

use serde::Serialize;
use windlass_pipeline_design::model::Trace;
use windlass_pipeline_design::model::architecture::FieldType;

use super::Draft;
use crate::blueprint::{Blueprint, Field, RECORDED_ACTIONS};
use crate::escape::{ts_key, ts_string};
use crate::templates::{TemplateError, render};

#[derive(Serialize)]
struct Context {
    tables: Vec<Table>,
}

#[derive(Serialize)]
struct Table {
    key: String,
    fields: Vec<Column>,
    inserts: Vec<Column>,
}

#[derive(Serialize)]
struct Column {
    key: String,
    #[serde(rename = "type")]
    kind: String,
    optional: bool,
}

fn type_of(field: &Field) -> String {
    let base = match field.kind {
        FieldType::Uuid
        | FieldType::String
        | FieldType::Text
        | FieldType::Date
        | FieldType::Datetime => "string".to_owned(),
        FieldType::Integer | FieldType::Decimal => "number".to_owned(),
        FieldType::Boolean => "boolean".to_owned(),
        FieldType::Json => "Json".to_owned(),
        FieldType::Enum => field
            .values
            .iter()
            .map(|value| ts_string(value))
            .collect::<Vec<_>>()
            .join(" | "),
    };
    if field.nullable {
        format!("{base} | null")
    } else {
        base
    }
}

fn column(field: &Field) -> Column {
    Column {
        key: ts_key(&field.column),
        kind: type_of(field),
        optional: !field.is_required(),
    }
}

/// The table of recorded actions: what is given, and what the database sets.
fn recorded_actions() -> Table {
    let text = |key: &str, optional| Column {
        key: key.to_owned(),
        kind: "string".to_owned(),
        optional,
    };
    let given = || ["subject_table", "subject_id", "action"].map(|key| text(key, false));
    let mut fields: Vec<Column> = vec![text("id", true), text("owner_id", true)];
    fields.extend(given());
    fields.push(text("created_at", true));
    Table {
        key: RECORDED_ACTIONS.to_owned(),
        fields,
        inserts: given().into(),
    }
}

pub(super) fn add(blueprint: &Blueprint<'_>, files: &mut Vec<Draft>) -> Result<(), TemplateError> {
    if !blueprint.has_supabase() {
        return Ok(());
    }
    let mut tables: Vec<Table> = blueprint
        .entities
        .iter()
        .map(|entity| Table {
            key: ts_key(&entity.table),
            fields: entity.fields.iter().map(column).collect(),
            // The owner is not among them: it cannot be set.
            inserts: entity
                .fields
                .iter()
                .filter(|field| !field.system)
                .map(column)
                .collect(),
        })
        .collect();
    if blueprint.records_actions() {
        tables.push(recorded_actions());
    }
    let content = render("code/database.types.ts", &Context { tables })?;
    let trace: Vec<Trace> = blueprint
        .entities
        .iter()
        .map(|entity| Trace::entity(&entity.source))
        .collect();
    let path = "src/lib/database.types.ts";
    files.push(if trace.is_empty() {
        Draft::scaffolding(path, content)
    } else {
        Draft::feature(path.to_owned(), content, &trace)
    });
    Ok(())
}
