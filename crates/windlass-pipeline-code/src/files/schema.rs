//! `src/lib/schemas/*.ts`: what a row looks like, and what may be given for one.

use serde::Serialize;
use windlass_pipeline_design::model::architecture::FieldType;

use super::Draft;
use crate::blueprint::{Blueprint, Entity, Field, Operation};
use crate::escape::{ts_key, ts_string};
use crate::templates::{TemplateError, render};

#[derive(Serialize)]
struct Context {
    label: String,
    table: String,
    camel: String,
    #[serde(rename = "type")]
    type_name: String,
    fields: Vec<RowField>,
    key: Option<Key>,
    writes: bool,
    updates: bool,
    inputs: Vec<InputField>,
    filters: Vec<Named>,
    actions: Vec<ActionSchema>,
}

#[derive(Serialize)]
struct RowField {
    key: String,
    row: String,
}

#[derive(Serialize)]
struct InputField {
    key: String,
    create: String,
}

#[derive(Serialize)]
struct Key {
    schema: &'static str,
}

#[derive(Serialize)]
struct Named {
    key: String,
}

#[derive(Serialize)]
struct ActionSchema {
    camel: String,
    #[serde(rename = "type")]
    type_name: String,
    fields: Vec<InputField>,
}

/// Whether the entity is ever written.
pub(super) fn is_written(entity: &Entity) -> bool {
    entity.has(Operation::Create)
        || entity.has(Operation::Update)
        || entity
            .actions
            .iter()
            .any(|action| !action.inputs.is_empty())
}

fn values(field: &Field) -> String {
    let values: Vec<String> = field.values.iter().map(|value| ts_string(value)).collect();
    format!("[{}]", values.join(", "))
}

/// The schema of a stored value: whatever the table lets through.
fn row(field: &Field) -> String {
    let base = match field.kind {
        FieldType::Uuid => "z.uuid()".to_owned(),
        FieldType::String | FieldType::Text => "z.string()".to_owned(),
        FieldType::Integer => "z.number().int()".to_owned(),
        FieldType::Decimal => "z.number()".to_owned(),
        FieldType::Boolean => "z.boolean()".to_owned(),
        FieldType::Date => "z.iso.date()".to_owned(),
        FieldType::Datetime => "z.iso.datetime({ offset: true })".to_owned(),
        FieldType::Json => "z.json()".to_owned(),
        FieldType::Enum => format!("z.enum({})", values(field)),
    };
    if field.nullable {
        format!("{base}.nullable()")
    } else {
        base
    }
}

/// The schema of what is given when a row is made: what may be empty may be left out.
fn create(field: &Field) -> String {
    let base = given(field);
    match (field.nullable, field.default.is_some()) {
        (true, _) => format!("{base}.nullish()"),
        (false, true) => format!("{base}.optional()"),
        (false, false) => base,
    }
}

/// The schema of a given value, with a message for people.
fn given(field: &Field) -> String {
    let label = &field.label;
    let message = |text: String| ts_string(&text);
    let required = || message(format!("{label} is required."));
    let is = |what: &str| message(format!("{label} must be {what}."));
    let name = field.column.as_str();
    match field.kind {
        FieldType::Uuid => format!("z.uuid({})", required()),
        FieldType::String if is_email(name) => format!("z.email({})", is("an email address")),
        FieldType::String if is_url(name) => format!("z.url({})", is("a web address")),
        FieldType::String => format!(
            "z.string({0}).trim().min(1, {0}).max(200, {1})",
            required(),
            is("at most 200 characters")
        ),
        FieldType::Text => format!(
            "z.string({0}).trim().min(1, {0}).max(20000, {1})",
            required(),
            is("at most 20,000 characters")
        ),
        FieldType::Integer => format!(
            "z.number({0}).int({0}).min(-2147483648, {0}).max(2147483647, {0})",
            is("a whole number")
        ),
        FieldType::Decimal => format!(
            "z.number({0}).min(-9999999999.99, {0}).max(9999999999.99, {0})",
            is("a number")
        ),
        FieldType::Boolean => "z.boolean()".to_owned(),
        FieldType::Date => format!("z.iso.date({})", is("a date")),
        FieldType::Datetime => format!(
            "z.iso.datetime({{ offset: true, error: {} }})",
            is("a date and time")
        ),
        FieldType::Json if field.nullable => "z.json()".to_owned(),
        FieldType::Json => format!("z.json().refine((value) => value !== null, {})", required()),
        FieldType::Enum => format!(
            "z.enum({}, {})",
            values(field),
            is(&format!("one of: {}", field.values.join(", ")))
        ),
    }
}

/// Whether a text is an address for mail, by its name.
pub(super) fn is_email(column: &str) -> bool {
    column == "email" || column.ends_with("_email")
}

/// Whether a text is an address on the web, by its name.
pub(super) fn is_url(column: &str) -> bool {
    column == "url" || column == "website" || column.ends_with("_url")
}

/// The names a data module imports from a schema's file.
pub(super) fn imports(entity: &Entity) -> String {
    let mut names = vec![format!("type {}", entity.type_name)];
    for action in entity
        .actions
        .iter()
        .filter(|action| !action.inputs.is_empty())
    {
        names.push(format!("type {}Input", action.type_name));
    }
    if entity.has(Operation::Create) {
        names.push(format!("type {}Create", entity.type_name));
    }
    if entity.has(Operation::List) && entity.filters().next().is_some() {
        names.push(format!("type {}Filter", entity.type_name));
    }
    if entity.has(Operation::Update) {
        names.push(format!("type {}Update", entity.type_name));
    }
    names.push(format!("{}Schema", entity.camel));
    names.join(", ")
}

pub(super) fn add(blueprint: &Blueprint<'_>, files: &mut Vec<Draft>) -> Result<(), TemplateError> {
    for entity in &blueprint.entities {
        let context = Context {
            label: entity.label.clone(),
            table: entity.table.clone(),
            camel: entity.camel.clone(),
            type_name: entity.type_name.clone(),
            fields: entity
                .fields
                .iter()
                .map(|field| RowField {
                    key: ts_key(&field.column),
                    row: row(field),
                })
                .collect(),
            key: entity.key().map(|key| Key {
                schema: match key.kind {
                    FieldType::Uuid => "z.uuid()",
                    FieldType::Integer => "z.string().regex(/^[0-9]+$/)",
                    _ => "z.string().min(1)",
                },
            }),
            writes: is_written(entity),
            updates: entity.has(Operation::Update),
            inputs: entity
                .inputs()
                .map(|field| InputField {
                    key: ts_key(&field.column),
                    create: create(field),
                })
                .collect(),
            filters: entity
                .filters()
                .map(|field| Named {
                    key: ts_key(&field.column),
                })
                .collect(),
            actions: entity
                .actions
                .iter()
                .filter(|action| !action.inputs.is_empty())
                .map(|action| ActionSchema {
                    camel: action.name.clone(),
                    type_name: action.type_name.clone(),
                    fields: action
                        .inputs
                        .iter()
                        .filter_map(|column| entity.field(column))
                        .map(|field| InputField {
                            key: ts_key(&field.column),
                            create: given(field),
                        })
                        .collect(),
                })
                .collect(),
        };
        files.push(Draft::feature(
            format!("src/lib/schemas/{}.ts", entity.file),
            render("code/schema.ts", &context)?,
            &super::data::reasons(entity),
        ));
    }
    Ok(())
}
