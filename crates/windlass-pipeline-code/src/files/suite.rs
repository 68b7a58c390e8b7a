//! The project's own tests: what requirements say, tried on routes, data modules and pages. A test is
//! called by the requirement it stands for.

mod api;
mod cases;
mod data;
mod page;

use serde::Serialize;
use windlass_pipeline_design::model::strategy::Category;
use windlass_pipeline_design::model::trace::rule;
use windlass_pipeline_design::model::{Preset, Trace};

use super::sample::{self, USERS, sample, uuid};
use super::{Draft, pages, styles};
use crate::blueprint::{Blueprint, Entity, Field, Reference};
use crate::escape::ts_key;
use crate::templates::{TemplateError, render, verbatim};
use crate::theme;

/// A test: the requirements it stands for in their own words, what it is called, what it does.
#[derive(Serialize)]
struct Case {
    about: Vec<String>,
    name: String,
    lines: Vec<String>,
}

impl Case {
    /// A test that stands for no requirement.
    fn plain(name: impl Into<String>, lines: Vec<String>) -> Self {
        Self {
            about: Vec::new(),
            name: name.into(),
            lines,
        }
    }

    /// A test that stands for requirements; it is called by all their ids.
    fn of<'r>(
        requirements: impl IntoIterator<Item = (&'r str, &'r str)>,
        what: &str,
        lines: Vec<String>,
    ) -> Self {
        let mut ids: Vec<&str> = Vec::new();
        let mut about = Vec::new();
        for (id, text) in requirements {
            if !ids.contains(&id) {
                ids.push(id);
                about.push(format!("{id}: {}", crate::escape::one_line(text)));
            }
        }
        let name = if ids.is_empty() {
            what.to_owned()
        } else {
            format!("{}: {what}", ids.join(", "))
        };
        Self { about, name, lines }
    }
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

/// A test that stands for the requirements of a trace.
fn case(blueprint: &Blueprint<'_>, trace: &[Trace], what: &str, lines: Vec<String>) -> Case {
    let requirements = crate::blueprint::requirement_ids(trace)
        .filter_map(|id| Some((id, blueprint.requirement(id)?)));
    Case::of(requirements, what, lines)
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
struct Quality {
    case: Case,
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

/// A test that stands for qualities of some kinds.
fn quality_case(
    blueprint: &Blueprint<'_>,
    categories: &[Category],
    what: &str,
) -> (Case, Vec<Trace>) {
    let meant: Vec<(&str, &str)> = blueprint
        .requirements
        .non_functional
        .iter()
        .filter(|quality| categories.contains(&quality.category))
        .map(|quality| (quality.id.as_str(), quality.description.as_str()))
        .collect();
    let mut trace: Vec<Trace> = meant.iter().map(|(id, _)| Trace::requirement(id)).collect();
    trace.push(Trace::default_rule(rule::SCAFFOLDING));
    (Case::of(meant, what, Vec::new()), trace)
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
    let (case, trace) = quality_case(
        blueprint,
        &[Category::Accessibility, Category::Usability],
        "landmarks, a way past the navigation, every open page linked",
    );
    let shell = render("tests/shell.test.tsx", &Quality { case, count: 0 })?;
    files.push(Draft::feature(
        "tests/shell.test.tsx".to_owned(),
        shell,
        &trace,
    ));

    if !blueprint.entities.is_empty() {
        let (case, trace) = quality_case(
            blueprint,
            &[Category::Security, Category::Compliance],
            "row-level security and policies on every table",
        );
        let count = blueprint.entities.len() + usize::from(blueprint.records_actions());
        let migration = render("tests/migration.test.ts", &Quality { case, count })?;
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
