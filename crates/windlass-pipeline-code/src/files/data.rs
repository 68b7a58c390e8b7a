//! Data modules: with the Supabase client where rows are reached directly, over the API routes in
//! the browser of a Next project. Both have the same functions, so that components do not care.

use serde::Serialize;
use windlass_pipeline_design::model::architecture::FieldType;
use windlass_pipeline_design::model::{Preset, Trace};

use super::{Draft, schema};
use crate::blueprint::{Action, Blueprint, Effect, Entity, Field, Operation, Route, Segment, Work};
use crate::escape::{ts_access, ts_key, ts_string};
use crate::templates::{TemplateError, render};

#[derive(Serialize)]
struct Context {
    imports: String,
    file: String,
    #[serde(rename = "type")]
    type_name: String,
    camel: String,
    table: String,
    /// On a server the caller brings the client.
    server: bool,
    client: &'static str,
    client_first: &'static str,
    client_argument: &'static str,
    order: String,
    filters: Vec<Filter>,
    key: Option<Key>,
    list: Option<Function>,
    read: Option<Function>,
    create: Option<Function>,
    update: Option<Function>,
    delete: Option<Function>,
    actions: Vec<ActionFunction>,
}

#[derive(Serialize)]
struct Filter {
    column: String,
    access: String,
}

#[derive(Serialize)]
struct Key {
    column: String,
    value: &'static str,
}

#[derive(Serialize)]
struct Function {
    name: String,
    path: String,
}

#[derive(Serialize)]
struct ActionFunction {
    name: String,
    about: String,
    verb: String,
    path: String,
    /// What is written into the row; nothing when the action is only recorded.
    changes: Option<String>,
    input: Option<String>,
}

/// `listQuizzes`, `getQuiz`, ….
pub(super) fn function_name(entity: &Entity, operation: Operation) -> String {
    match operation {
        Operation::List => format!("list{}", entity.type_plural),
        Operation::Read => format!("get{}", entity.type_name),
        Operation::Create => format!("create{}", entity.type_name),
        Operation::Update => format!("update{}", entity.type_name),
        Operation::Delete => format!("delete{}", entity.type_name),
    }
}

/// The key of a row as the text that functions take.
pub(super) fn key_of(entity: &Entity, row: &str) -> String {
    match entity.key() {
        Some(key) if matches!(key.kind, FieldType::Integer | FieldType::Decimal) => {
            format!("String({row}{})", ts_access(&key.column))
        }
        Some(key) => format!("{row}{}", ts_access(&key.column)),
        None => "\"\"".to_owned(),
    }
}

/// Every reason for an entity's files: its own and those of what can be done with it.
pub(super) fn reasons(entity: &Entity) -> Vec<Trace> {
    let mut trace = entity.trace.clone();
    trace.push(Trace::entity(&entity.source));
    trace.extend(entity.operations.values().flatten().cloned());
    trace.extend(
        entity
            .actions
            .iter()
            .flat_map(|action| action.trace.iter().cloned()),
    );
    trace
}

fn order(entity: &Entity) -> String {
    let by = |field: &Field, ascending: bool| {
        format!(
            ".order({}, {{ ascending: {ascending} }})",
            ts_string(&field.column)
        )
    };
    entity
        .field("created_at")
        .map(|field| by(field, false))
        .or_else(|| entity.fields.first().map(|field| by(field, true)))
        .unwrap_or_default()
}

/// What an action writes, as the members of an object.
fn changes(action: &Action) -> Option<String> {
    let own = match &action.effect {
        Effect::Value { column, value } => {
            Some(format!("{}: {}", ts_key(column), ts_string(value)))
        }
        Effect::Flag { column } => Some(format!("{}: true", ts_key(column))),
        Effect::Moment { column } => Some(format!("{}: new Date().toISOString()", ts_key(column))),
        Effect::Input => None,
        Effect::Record => return None,
    };
    let input = (!action.inputs.is_empty()).then(|| "...input".to_owned());
    let parts: Vec<String> = input.into_iter().chain(own).collect();
    Some(parts.join(", "))
}

/// The address of a route as TypeScript, its parameter taken from `id`.
fn address(route: Option<&Route>) -> String {
    let Some(route) = route else {
        return "\"\"".to_owned();
    };
    let has_parameter = !route.parameters().is_empty();
    let mut text = String::new();
    for segment in &route.segments {
        text.push('/');
        match segment {
            Segment::Fixed(name) => text.push_str(name),
            Segment::Parameter(_) => text.push_str("${encodeURIComponent(id)}"),
        }
    }
    if has_parameter {
        format!("`{text}`")
    } else {
        ts_string(&text)
    }
}

fn context(blueprint: &Blueprint<'_>, at: usize, server: bool) -> Context {
    let entity = &blueprint.entities[at];
    let route = |wanted: Work| {
        blueprint
            .routes
            .iter()
            .find(|route| route.entity == at && route.work == wanted)
    };
    let function = |operation: Operation| {
        entity.has(operation).then(|| Function {
            name: function_name(entity, operation),
            path: address(route(Work::Operation {
                operation,
                parent: None,
            })),
        })
    };
    Context {
        imports: schema::imports(entity),
        file: entity.file.clone(),
        type_name: entity.type_name.clone(),
        camel: entity.camel.clone(),
        table: entity.table.clone(),
        server,
        client: if server { "client" } else { "getSupabase()" },
        client_first: if server { "client: Client, " } else { "" },
        client_argument: if server { "client, " } else { "" },
        order: order(entity),
        filters: entity
            .filters()
            .map(|field| Filter {
                column: field.column.clone(),
                access: ts_access(&field.column),
            })
            .collect(),
        key: entity.key().map(|key| Key {
            column: key.column.clone(),
            value: if matches!(key.kind, FieldType::Integer | FieldType::Decimal) {
                "Number(id)"
            } else {
                "id"
            },
        }),
        list: function(Operation::List),
        read: function(Operation::Read),
        create: function(Operation::Create),
        update: function(Operation::Update),
        delete: function(Operation::Delete),
        actions: entity
            .actions
            .iter()
            .enumerate()
            .map(|(place, action)| ActionFunction {
                name: action.name.clone(),
                about: action.about.clone(),
                verb: action.verb.clone(),
                path: address(route(Work::Action(place))),
                changes: changes(action),
                input: (!action.inputs.is_empty()).then(|| format!("{}Input", action.type_name)),
            })
            .collect(),
    }
}

pub(super) fn add(blueprint: &Blueprint<'_>, files: &mut Vec<Draft>) -> Result<(), TemplateError> {
    for (at, entity) in blueprint.entities.iter().enumerate() {
        if entity.operations.is_empty() && entity.actions.is_empty() {
            continue;
        }
        let trace = reasons(entity);
        let path = format!("src/data/{}.ts", entity.path);
        match blueprint.preset {
            Preset::ViteReact => {
                let content = render("code/rows.ts", &context(blueprint, at, false))?;
                files.push(Draft::feature(path, content, &trace));
            }
            Preset::NextjsReact => {
                let content = render("code/rows.ts", &context(blueprint, at, true))?;
                let server = format!("src/server/data/{}.ts", entity.path);
                files.push(Draft::feature(server, content, &trace));
                let content = render("code/client.ts", &context(blueprint, at, false))?;
                files.push(Draft::feature(path, content, &trace));
            }
        }
    }
    Ok(())
}
