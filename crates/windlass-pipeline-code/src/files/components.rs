//! `src/components/*.tsx`: what pages are made of.

use serde::Serialize;
use windlass_pipeline_design::model::naming;

use super::import_lines::Imports;
use super::{Draft, data, detail, form, list, pages, sign_in};
use crate::blueprint::{
    Blueprint, Component, ComponentKind, Entity, Operation, PageKind, capabilities, statements,
};
use crate::escape::ts_string;
use crate::templates::{TemplateError, render};

#[derive(Serialize)]
struct StatsContext {
    name: String,
    imports: Vec<String>,
    stats: Vec<Stat>,
}

#[derive(Serialize)]
struct Stat {
    variable: String,
    label: String,
    list: String,
    href: String,
}

fn stats(blueprint: &Blueprint<'_>, component: &Component) -> StatsContext {
    let mut imports = Imports::default();
    let stats = counted(blueprint)
        .map(|(at, entity)| {
            let list = data::function_name(entity, Operation::List);
            imports.add(&format!("@/data/{}", entity.path), &list);
            let page = blueprint
                .page_of(PageKind::List, at)
                .filter(|page| page.is_open());
            Stat {
                variable: format!("{}Rows", entity.camel),
                label: entity.label_plural.clone(),
                list,
                href: page.map_or_else(|| "null".to_owned(), |page| ts_string(&page.path)),
            }
        })
        .collect();
    StatsContext {
        name: component.name.clone(),
        imports: imports.lines(),
        stats,
    }
}

/// The entities that numbers are shown of.
pub(super) fn counted<'a>(
    blueprint: &'a Blueprint<'_>,
) -> impl Iterator<Item = (usize, &'a Entity)> {
    blueprint
        .entities
        .iter()
        .enumerate()
        .filter(|(_, entity)| entity.has(Operation::List))
}

#[derive(Serialize)]
struct LinksContext {
    name: String,
    label: String,
    links: Vec<Link>,
}

#[derive(Serialize)]
struct Link {
    href: String,
    label: String,
}

/// Where a page leads to: pages that show something first, then those that make something.
fn links(blueprint: &Blueprint<'_>, component: &Component, at: usize) -> LinksContext {
    let rank = |kind: PageKind| match kind {
        PageKind::Dashboard => 0,
        PageKind::List => 1,
        PageKind::Custom => 2,
        PageKind::Form => 3,
        _ => 4,
    };
    let mut pages: Vec<_> = blueprint
        .pages
        .iter()
        .enumerate()
        .filter(|(other, page)| *other != at && page.is_open())
        .map(|(_, page)| page)
        .collect();
    pages.sort_by_key(|page| rank(page.kind));
    LinksContext {
        name: component.name.clone(),
        label: format!("From {}", blueprint.pages[at].name),
        links: pages
            .into_iter()
            .take(6)
            .map(|page| Link {
                href: page.path.clone(),
                label: page.name.clone(),
            })
            .collect(),
    }
}

#[derive(Serialize)]
struct CapabilitiesContext {
    name: String,
    label: String,
    /// Whether the groups are headed.
    titled: bool,
    groups: Vec<Group>,
}

#[derive(Serialize)]
struct Group {
    title: String,
    items: Vec<Capability>,
}

#[derive(Serialize)]
struct Capability {
    id: String,
    text: String,
}

/// The role that a requirement begins with: `Teachers can …`, `As a teacher, …`.
fn role_of<'a>(blueprint: &'a Blueprint<'_>, text: &str) -> Option<&'a str> {
    let words = naming::words(text);
    let lead = words
        .iter()
        .take_while(|word| matches!(word.as_str(), "as" | "a" | "an" | "the"))
        .count();
    let words: Vec<String> = words[lead..]
        .iter()
        .map(|word| naming::singular(word))
        .collect();
    blueprint
        .roles
        .iter()
        .map(String::as_str)
        .find(|role| words.starts_with(&naming::words(role)))
}

/// Requirements as they are shown: what can be done by role, what is said about one thing under its
/// name.
fn texts(
    blueprint: &Blueprint<'_>,
    component: &Component,
    label: &str,
    all: Vec<(&str, &str)>,
) -> CapabilitiesContext {
    let is_statements = matches!(component.kind, ComponentKind::Statements(..));
    let rest = if is_statements {
        label.to_owned()
    } else {
        format!("About {label}")
    };
    let mut groups: Vec<Group> = Vec::new();
    for (id, text) in all {
        let title = role_of(blueprint, text)
            .filter(|_| !is_statements)
            .map_or_else(
                || rest.clone(),
                |role| naming::sentence(&naming::plural(&naming::human(role))),
            );
        let item = Capability {
            id: id.to_owned(),
            text: crate::escape::one_line(text),
        };
        match groups.iter_mut().find(|group| group.title == title) {
            Some(group) => group.items.push(item),
            None => groups.push(Group {
                title,
                items: vec![item],
            }),
        }
    }
    // What belongs to no role comes last.
    groups.sort_by_key(|group| group.title == rest);
    CapabilitiesContext {
        name: component.name.clone(),
        label: label.to_owned(),
        titled: is_statements || groups.len() > 1,
        groups,
    }
}

pub(super) fn add(blueprint: &Blueprint<'_>, files: &mut Vec<Draft>) -> Result<(), TemplateError> {
    for component in &blueprint.components {
        let content = match &component.kind {
            ComponentKind::List(at) => render(
                "code/list.tsx",
                &list::context(blueprint, component, *at, false),
            )?,
            ComponentKind::Recent(at) => render(
                "code/list.tsx",
                &list::context(blueprint, component, *at, true),
            )?,
            ComponentKind::Form(_) | ComponentKind::ActionForm(..) => {
                render("code/form.tsx", &form::context(blueprint, component))?
            }
            ComponentKind::Detail(at) => render(
                "code/detail.tsx",
                &detail::context(blueprint, component, *at),
            )?,
            ComponentKind::Stats => render("code/stats.tsx", &stats(blueprint, component))?,
            ComponentKind::Links(at) => {
                render("code/links.tsx", &links(blueprint, component, *at))?
            }
            ComponentKind::Capabilities(at) => {
                let page = &blueprint.pages[*at];
                let all = capabilities(page, blueprint.requirements).collect();
                let label = pages::heading(blueprint, page);
                let context = texts(blueprint, component, label, all);
                render("code/capabilities.tsx", &context)?
            }
            ComponentKind::Statements(at, about) => {
                let all = statements(&blueprint.pages[*at], about, blueprint.requirements);
                let label = naming::sentence(&naming::human(about));
                let context = texts(blueprint, component, &label, all);
                render("code/capabilities.tsx", &context)?
            }
            ComponentKind::SignInOptions => render(
                "code/sign-in-options.tsx",
                &sign_in::options(blueprint, component),
            )?,
            ComponentKind::SignIn | ComponentKind::SignUp => {
                render("code/sign-in.tsx", &sign_in::context(blueprint, component))?
            }
        };
        files.push(Draft::feature(
            format!("src/components/{}.tsx", component.name),
            content,
            &component.trace,
        ));
    }
    Ok(())
}
