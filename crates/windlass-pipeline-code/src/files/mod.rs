//! The files of a project, one module per kind of file.
//!
//! Everything reads the blueprint and nothing decides names; what is only there when something
//! imports it is added at the end.

mod components;
mod config;
mod data;
mod detail;
mod docs;
mod form;
mod import_lines;
mod library;
mod list;
mod pages;
mod routes;
mod sample;
mod schema;
mod seed;
mod sign_in;
mod sql;
mod styles;
mod suite;
mod types;

use windlass_pipeline_design::model::trace::rule;
use windlass_pipeline_design::model::{Preset, Trace};

use crate::blueprint::Blueprint;
use crate::templates::TemplateError;

pub(crate) use config::{dependencies, is_used_by_tool};
pub(crate) use docs::setup_instructions;

/// A file that is written.
#[derive(Clone, Debug)]
pub(crate) struct Draft {
    pub(crate) path: String,
    pub(crate) content: String,
    pub(crate) trace: Vec<Trace>,
    /// Whether it is there for what the product does and not for what every project has.
    pub(crate) feature: bool,
}

impl Draft {
    /// A file that every project has.
    pub(crate) fn scaffolding(path: &str, content: impl Into<String>) -> Self {
        Self {
            path: path.to_owned(),
            content: content.into(),
            trace: vec![Trace::default_rule(rule::SCAFFOLDING)],
            feature: false,
        }
    }

    /// A file for what the product does.
    pub(crate) fn feature(path: String, content: String, trace: &[Trace]) -> Self {
        let mut reasons: Vec<Trace> = Vec::new();
        for reason in trace {
            if !reasons.contains(reason) {
                reasons.push(reason.clone());
            }
        }
        reasons.sort();
        Self {
            path,
            content,
            trace: reasons,
            feature: true,
        }
    }
}

/// The folder of pages that are not routes themselves; `pages` means something to Next.
pub(crate) const fn views(preset: Preset) -> &'static str {
    match preset {
        Preset::NextjsReact => "views",
        Preset::ViteReact => "pages",
    }
}

/// All files, sorted by path.
pub(crate) fn all(blueprint: &Blueprint<'_>) -> Result<Vec<Draft>, TemplateError> {
    let mut files = Vec::new();
    schema::add(blueprint, &mut files)?;
    types::add(blueprint, &mut files)?;
    data::add(blueprint, &mut files)?;
    routes::add(blueprint, &mut files)?;
    components::add(blueprint, &mut files)?;
    pages::add(blueprint, &mut files)?;
    styles::add(blueprint, &mut files)?;
    sql::add(blueprint, &mut files)?;
    seed::add(blueprint, &mut files)?;
    suite::add(blueprint, &mut files)?;
    config::add(blueprint, &mut files)?;
    library::add(blueprint, &mut files)?;
    docs::add(blueprint, &mut files)?;
    config::add_manifest(blueprint, &mut files);
    files.sort_by(|one, two| one.path.cmp(&two.path));
    Ok(files)
}
