//! Files that are only there when something imports them: controls, helpers, the client.

use serde::Serialize;
use windlass_pipeline_design::model::Preset;

use super::{Draft, pages};
use crate::blueprint::{Blueprint, PageKind};
use crate::escape::ts_string;
use crate::imports;
use crate::templates::{TemplateError, render, verbatim};

#[derive(Serialize)]
struct Shell {
    auth: bool,
    /// Whether the navigation stands at the side.
    sidebar: bool,
}

#[derive(Serialize)]
struct Site {
    name: String,
    sign_in: String,
    navigation: Vec<Item>,
}

#[derive(Serialize)]
struct Item {
    href: String,
    label: String,
}

/// The template behind a path of the library.
fn template(path: &str, preset: Preset) -> Option<String> {
    let own = match preset {
        Preset::NextjsReact => "next",
        Preset::ViteReact => "vite",
    };
    let rest = path.strip_prefix("src/")?;
    let candidates = [
        rest.strip_prefix("components/")
            .map(|rest| format!("shared/{rest}")),
        Some(format!("{own}/{rest}")),
        Some(format!("shared/{rest}")),
    ];
    candidates
        .into_iter()
        .flatten()
        .find(|name| verbatim(name).is_some())
}

fn site(blueprint: &Blueprint<'_>) -> Site {
    Site {
        name: blueprint.product.clone(),
        sign_in: blueprint
            .sign_in_path()
            .map_or_else(|| "null".to_owned(), ts_string),
        navigation: blueprint
            .pages
            .iter()
            .filter(|page| {
                page.is_open()
                    && !matches!(
                        page.kind,
                        PageKind::SignIn | PageKind::SignUp | PageKind::Form
                    )
                    && (page.path != "/" || pages::heading(blueprint, page) == page.name)
            })
            .map(|page| Item {
                href: page.path.clone(),
                label: page.name.clone(),
            })
            .collect(),
    }
}

/// Adds what the files import, then what those import, until nothing is missing.
pub(super) fn add(blueprint: &Blueprint<'_>, files: &mut Vec<Draft>) -> Result<(), TemplateError> {
    let mut at = 0;
    while at < files.len() {
        let wanted: Vec<Vec<String>> = imports::specifiers(&files[at].path, &files[at].content)
            .iter()
            .map(|specifier| imports::candidates(&files[at].path, specifier))
            .collect();
        at += 1;
        for candidates in wanted {
            if files.iter().any(|file| candidates.contains(&file.path)) {
                continue;
            }
            if candidates.iter().any(|path| path == "src/lib/site.ts") {
                files.push(Draft::scaffolding(
                    "src/lib/site.ts",
                    render("code/site.ts", &site(blueprint))?,
                ));
                continue;
            }
            let found = candidates
                .iter()
                .find_map(|path| template(path, blueprint.preset).map(|template| (path, template)));
            if let Some((path, template)) = found {
                let content = if template == "shared/layout/app-shell.tsx" {
                    render(
                        &template,
                        &Shell {
                            auth: blueprint.has_sign_in(),
                            sidebar: pages::has_sidebar(blueprint),
                        },
                    )?
                } else {
                    verbatim(&template).unwrap_or_default().to_owned()
                };
                files.push(Draft::scaffolding(path, content));
            }
        }
    }
    Ok(())
}
