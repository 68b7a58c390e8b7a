//! The README, and how to get the project running.

use serde::Serialize;
use windlass_pipeline_design::model::architecture::Right;
use windlass_pipeline_design::model::strategy::Priority;
use windlass_pipeline_design::model::{Preset, versions};

use super::{Draft, config, sql};
use crate::blueprint::{Blueprint, requirement_ids};
use crate::templates::{TemplateError, render};

#[derive(Serialize)]
struct Readme {
    product: String,
    description: String,
    setup: String,
    requirements: Vec<Row>,
    others: Vec<Row>,
    pages: Vec<PageRow>,
    roles: Vec<String>,
    rights: Vec<Right>,
    unserved: Vec<String>,
}

#[derive(Serialize)]
struct Row {
    id: String,
    text: String,
    files: Vec<String>,
}

#[derive(Serialize)]
struct PageRow {
    name: String,
    path: String,
}

#[derive(Serialize)]
struct Setup {
    framework: &'static str,
    framework_version: &'static str,
    supabase: bool,
    migration: bool,
    url: &'static str,
    key: &'static str,
    start: &'static str,
    port: &'static str,
    output: &'static str,
    roles: bool,
    role: String,
    role_table: String,
}

/// Prerequisites, commands in order, variables, migration, test, build, deployment.
pub(crate) fn setup_instructions(blueprint: &Blueprint<'_>) -> Result<String, TemplateError> {
    let [url, key] = config::variables(blueprint.preset);
    let next = blueprint.preset == Preset::NextjsReact;
    // The table that says who has which role, where the architecture has one.
    let role_table = blueprint.entities.iter().find(|entity| {
        entity.field("user_id").is_some()
            && entity
                .field("role")
                .is_some_and(|field| !field.values.is_empty())
    });
    let role = role_table
        .and_then(|entity| entity.field("role")?.values.first().cloned())
        .unwrap_or_default();
    render(
        "docs/setup.md",
        &Setup {
            framework: if next { "Next.js" } else { "Vite" },
            framework_version: versions::version(if next { "next" } else { "vite" }),
            supabase: blueprint.has_supabase(),
            migration: !blueprint.entities.is_empty(),
            url,
            key,
            start: if next {
                "npm run start"
            } else {
                "npm run preview"
            },
            port: if next { "3000" } else { "5173" },
            output: if next { ".next" } else { "dist" },
            roles: role_table.is_some(),
            role,
            role_table: role_table
                .map(|entity| entity.table.clone())
                .unwrap_or_default(),
        },
    )
}

/// The files that a requirement led to, tests last.
fn files_of(id: &str, files: &[Draft]) -> Vec<String> {
    let mut paths: Vec<String> = files
        .iter()
        .filter(|file| requirement_ids(&file.trace).any(|known| known == id))
        .map(|file| file.path.clone())
        .collect();
    paths.sort_by_key(|path| (path.starts_with("tests/"), path.clone()));
    paths
}

pub(super) fn add(blueprint: &Blueprint<'_>, files: &mut Vec<Draft>) -> Result<(), TemplateError> {
    let row = |id: &str, text: &str| Row {
        id: id.to_owned(),
        text: text.to_owned(),
        files: files_of(id, files),
    };
    let given = blueprint.requirements;
    let context = Readme {
        product: blueprint.product.clone(),
        description: super::pages::description(blueprint),
        setup: setup_instructions(blueprint)?,
        requirements: given
            .functional
            .iter()
            .map(|requirement| {
                let out = requirement.priority == Priority::Wont;
                let text = if out {
                    format!("{} (out of scope)", requirement.description)
                } else {
                    requirement.description.clone()
                };
                row(&requirement.id, &text)
            })
            .collect(),
        others: given
            .non_functional
            .iter()
            .map(|requirement| row(&requirement.id, &requirement.description))
            .chain(
                given
                    .constraints
                    .iter()
                    .map(|requirement| row(&requirement.id, &requirement.description)),
            )
            .collect(),
        pages: blueprint
            .pages
            .iter()
            .map(|page| PageRow {
                name: page.name.clone(),
                path: page.path.clone(),
            })
            .collect(),
        roles: blueprint.roles.clone(),
        rights: blueprint.rights.clone(),
        unserved: blueprint.unserved.clone(),
    };
    let content = render("docs/README.md", &context)?;
    files.push(Draft::scaffolding("README.md", content));
    debug_assert!(blueprint.entities.is_empty() || files.iter().any(|file| file.path == sql::PATH));
    Ok(())
}
