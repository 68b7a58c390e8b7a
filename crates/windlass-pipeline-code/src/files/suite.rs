//! The project's own tests: what requirements say, tried on routes, data modules and pages. A test is
//! called by the requirement it stands for.

mod api;
mod cases;
mod data;
mod page;

use serde::Serialize;
use windlass_pipeline_model::strategy::Category;
use windlass_pipeline_model::trace::rule;
use windlass_pipeline_model::{Preset, Trace};

use super::sample::{self, USERS, sample, uuid};
use super::{Draft, pages, styles};
use crate::blueprint::{Blueprint, Entity, Field, Reference};
use crate::escape::ts_key;
use crate::templates::{TemplateError, render, verbatim};
use crate::theme;

/// Lines of a test and what it is called.
#[derive(Serialize)]
struct Case {
    names: Vec<String>,
    lines: Vec<String>,
}

#[derive(Serialize)]
struct Valued {
    key: String,
    value: String,
}

/// The name of an entity's sample.
fn sample_name(entity: &Entity) -> String {
    format!("{}Sample", entity.camel)
}

/// A value of the sample row.
fn value(blueprint: &Blueprint<'_>, at: usize, field: &Field) -> sample::Sample {
    let entity = &blueprint.entities[at];
    sample(entity, field, 1, |field| match field.reference {
        Some(Reference::User) => uuid(USERS, 1),
        Some(Reference::Entity(other)) => uuid(other + 1, 1),
        None => uuid(at + 1, 1),
    })
}

/// The key of the sample row, as functions take it.
fn key(blueprint: &Blueprint<'_>, at: usize) -> Option<String> {
    let field = blueprint.entities[at].key()?;
    Some(match value(blueprint, at, field) {
        sample::Sample::Text(text) => text,
        sample::Sample::Number(number) => number.to_string(),
        sample::Sample::Flag(flag) => flag.to_string(),
        sample::Sample::Json(json) => json.to_owned(),
    })
}

/// What is given to make the sample row.
fn input(blueprint: &Blueprint<'_>, at: usize) -> Vec<Valued> {
    blueprint.entities[at]
        .inputs()
        .map(|field| Valued {
            key: ts_key(&field.column),
            value: as_literal(field, value(blueprint, at, field).ts()),
        })
        .collect()
}

/// The literal of an enum, so that its type is the value and not any text.
fn as_literal(field: &Field, text: String) -> String {
    if field.values.is_empty() {
        text
    } else {
        format!("{text} as const")
    }
}

/// What tests are called by: each requirement with its words, else what they do.
fn names(blueprint: &Blueprint<'_>, trace: &[Trace], what: &str) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for id in crate::blueprint::requirement_ids(trace) {
        if let Some(text) = blueprint.requirement(id) {
            let name = format!("{id}: {} [{what}]", crate::escape::one_line(text));
            if !names.contains(&name) {
                names.push(name);
            }
        }
    }
    if names.is_empty() {
        names.push(what.to_owned());
    }
    names
}

#[derive(Serialize)]
struct Samples {
    entities: Vec<SampleEntity>,
}

#[derive(Serialize)]
struct SampleEntity {
    #[serde(rename = "type")]
    type_name: String,
    file: String,
    sample: String,
    fields: Vec<Valued>,
}

#[derive(Serialize)]
struct Server {
    user: String,
}

#[derive(Serialize)]
struct Pages {
    pages: Vec<PageRow>,
}

#[derive(Serialize)]
struct PageRow {
    alias: String,
    module: String,
    path: String,
    title: String,
    heading: String,
}

#[derive(Serialize)]
struct Names {
    names: Vec<String>,
    count: usize,
}

#[derive(Serialize)]
struct Tokens {
    css: &'static str,
    tokens: Vec<Token>,
}

#[derive(Serialize)]
struct Token {
    name: String,
    value: String,
}

/// Qualities of some kinds as names of tests.
fn quality_names(
    blueprint: &Blueprint<'_>,
    categories: &[Category],
    what: &str,
) -> (Vec<String>, Vec<Trace>) {
    let mut names = Vec::new();
    let mut trace = Vec::new();
    for quality in &blueprint.requirements.non_functional {
        if categories.contains(&quality.category) {
            names.push(format!(
                "{}: {} [{what}]",
                quality.id,
                crate::escape::one_line(&quality.description)
            ));
            trace.push(Trace::requirement(&quality.id));
        }
    }
    if names.is_empty() {
        names.push(what.to_owned());
    }
    trace.push(Trace::default_rule(rule::SCAFFOLDING));
    (names, trace)
}

fn add_support(blueprint: &Blueprint<'_>, files: &mut Vec<Draft>) -> Result<(), TemplateError> {
    let mut copy = |path: &str, template: &str| {
        files.push(Draft::scaffolding(
            path,
            verbatim(template).unwrap_or_default(),
        ));
    };
    copy("tests/support/navigation.tsx", "tests/navigation.tsx");
    let entities: Vec<SampleEntity> = blueprint
        .entities
        .iter()
        .enumerate()
        .filter(|(_, entity)| !entity.operations.is_empty() || !entity.actions.is_empty())
        .map(|(at, entity)| SampleEntity {
            type_name: entity.type_name.clone(),
            file: entity.file.clone(),
            sample: sample_name(entity),
            fields: entity
                .fields
                .iter()
                .map(|field| Valued {
                    key: ts_key(&field.column),
                    value: value(blueprint, at, field).ts(),
                })
                .collect(),
        })
        .collect();
    if entities.is_empty() {
        return Ok(());
    }
    copy("tests/support/backend.ts", "tests/backend.ts");
    let samples = render("tests/samples.ts", &Samples { entities })?;
    files.push(Draft::scaffolding("tests/support/samples.ts", samples));
    if blueprint.preset == Preset::NextjsReact {
        let server = render(
            "tests/server.ts",
            &Server {
                user: uuid(USERS, 1),
            },
        )?;
        files.push(Draft::scaffolding("tests/support/server.ts", server));
    }
    Ok(())
}

fn add_routing(blueprint: &Blueprint<'_>, files: &mut Vec<Draft>) -> Result<(), TemplateError> {
    let rows = blueprint
        .pages
        .iter()
        .enumerate()
        .map(|(at, page)| PageRow {
            alias: format!("page{}", at + 1),
            module: pages::route_file(&page.segments)
                .replacen("src/", "@/", 1)
                .trim_end_matches(".tsx")
                .to_owned(),
            path: page
                .path
                .split('/')
                .map(|part| {
                    if part.starts_with(':') {
                        sample::uuid(1, 1)
                    } else {
                        part.to_owned()
                    }
                })
                .collect::<Vec<_>>()
                .join("/"),
            title: page.name.clone(),
            heading: pages::heading(blueprint, page).to_owned(),
        })
        .collect();
    let trace: Vec<Trace> = blueprint
        .pages
        .iter()
        .map(|page| Trace::page(&page.name))
        .collect();
    let context = Pages { pages: rows };
    let (path, template) = match blueprint.preset {
        Preset::NextjsReact => ("tests/pages.test.ts", "tests/pages.test.ts"),
        Preset::ViteReact => ("tests/routes.test.tsx", "tests/routes.test.tsx"),
    };
    files.push(Draft::feature(
        path.to_owned(),
        render(template, &context)?,
        &trace,
    ));
    Ok(())
}

fn add_whole(blueprint: &Blueprint<'_>, files: &mut Vec<Draft>) -> Result<(), TemplateError> {
    let (names, trace) = quality_names(
        blueprint,
        &[Category::Accessibility, Category::Usability],
        "landmarks, a way past the navigation, every open page linked",
    );
    let shell = render("tests/shell.test.tsx", &Names { names, count: 0 })?;
    files.push(Draft::feature(
        "tests/shell.test.tsx".to_owned(),
        shell,
        &trace,
    ));

    if !blueprint.entities.is_empty() {
        let (names, trace) = quality_names(
            blueprint,
            &[Category::Security, Category::Compliance],
            "row-level security and policies on every table",
        );
        let count = blueprint.entities.len() + usize::from(blueprint.records_actions());
        let migration = render("tests/migration.test.ts", &Names { names, count })?;
        files.push(Draft::feature(
            "tests/migration.test.ts".to_owned(),
            migration,
            &trace,
        ));
    }

    let tokens = theme::colours(&blueprint.ux.design_tokens)
        .into_iter()
        .filter(|colour| colour.given)
        .map(|colour| Token {
            name: match &colour.stated {
                Some(stated) => format!(
                    "{}: {} (stated: {})",
                    colour.name,
                    colour.value,
                    crate::escape::one_line(stated)
                ),
                None => format!("{}: {}", colour.name, colour.value),
            },
            value: colour.value,
        })
        .collect();
    let mut trace: Vec<Trace> = blueprint
        .ux
        .design_tokens
        .stated
        .iter()
        .flat_map(|token| token.trace.iter().cloned())
        .collect();
    trace.push(Trace::default_rule(rule::DESIGN_TOKENS));
    let context = Tokens {
        css: styles::path(blueprint.preset),
        tokens,
    };
    files.push(Draft::feature(
        "tests/design-tokens.test.ts".to_owned(),
        render("tests/tokens.test.ts", &context)?,
        &trace,
    ));
    Ok(())
}

pub(super) fn add(blueprint: &Blueprint<'_>, files: &mut Vec<Draft>) -> Result<(), TemplateError> {
    add_support(blueprint, files)?;
    match blueprint.preset {
        Preset::NextjsReact => api::add(blueprint, files)?,
        Preset::ViteReact => data::add(blueprint, files)?,
    }
    page::add(blueprint, files)?;
    add_routing(blueprint, files)?;
    add_whole(blueprint, files)
}
