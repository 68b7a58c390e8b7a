//! The two ways in: which files there will be, and the files.

use std::collections::BTreeMap;

use serde_json::Value;
use sha2::{Digest as _, Sha256};
use windlass_pipeline_design::model::code::{Dependencies, Served};
use windlass_pipeline_design::model::{
    Architecture, GeneratedFile, InputProblem, Preset, Requirements, Trace, UxSpec,
};

use crate::blueprint::Blueprint;
use crate::files::{self, Draft};
use crate::templates::TemplateError;
use crate::{checks, select, served, theme};

/// What a project is made from.
#[derive(Clone, Copy, Debug)]
pub struct CodeInput<'a> {
    /// The product's name.
    pub product: &'a str,
    /// What is kept, what can be asked, who may.
    pub architecture: &'a Architecture,
    /// Pages and how they look.
    pub ux: &'a UxSpec,
    /// What the product does, for tests and the README.
    pub requirements: &'a Requirements,
    /// With which framework.
    pub preset: Preset,
    /// The files that are wanted, by path or pattern; all of them when empty.
    pub target_files: &'a [String],
}

/// A project.
#[derive(Clone, Debug, PartialEq)]
pub struct Generated {
    /// The wanted files, sorted by path.
    pub files: Vec<GeneratedFile>,
    /// Equal to `package.json`.
    pub dependencies: Dependencies,
    /// How to get it running, as Markdown.
    pub setup_instructions: String,
    /// What was checked, about all files and not only the wanted ones.
    pub checks: BTreeMap<String, Value>,
    /// What the project does for each requirement; one that is not here is only text.
    pub served: BTreeMap<String, Served>,
}

impl Generated {
    /// What the checks found wrong, one line each.
    pub fn problems(&self) -> Vec<String> {
        self.checks
            .values()
            .filter(|check| check["status"] == "failed")
            .filter_map(|check| check["problems"].as_array())
            .flatten()
            .filter_map(|problem| problem.as_str().map(str::to_owned))
            .collect()
    }
}

/// A file that a project will have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlannedFile {
    /// Relative, with `/`.
    pub path: String,
    /// Why it is there.
    pub trace: Vec<Trace>,
    /// Whether it is there for what the product does and not for what every project has.
    pub feature: bool,
}

/// Why there is no project.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The input does not fit; its owner can change it.
    #[error(transparent)]
    Input(#[from] InputProblem),
    /// A template does not fit; a mistake of this crate.
    #[error(transparent)]
    Template(#[from] TemplateError),
}

fn drafts<'a>(input: &CodeInput<'a>) -> Result<(Blueprint<'a>, Vec<Draft>), Error> {
    theme::check(input.ux)?;
    let blueprint = Blueprint::new(
        input.product,
        input.architecture,
        input.ux,
        input.requirements,
        input.preset,
    )?;
    let files = files::all(&blueprint)?;
    Ok((blueprint, files))
}

/// Which files a project will have, without their content. Tests and documents included.
pub fn file_plan(
    architecture: &Architecture,
    ux: &UxSpec,
    preset: Preset,
) -> Result<Vec<PlannedFile>, Error> {
    let (_, files) = drafts(&CodeInput {
        product: "",
        architecture,
        ux,
        requirements: &Requirements::default(),
        preset,
        target_files: &[],
    })?;
    Ok(files
        .into_iter()
        .map(|file| PlannedFile {
            path: file.path,
            trace: file.trace,
            feature: file.feature,
        })
        .collect())
}

/// The language of a file, as the contract names it.
fn language(path: &str) -> &'static str {
    let end = path.rsplit_once('.').map_or("", |(_, end)| end);
    match end {
        "ts" | "tsx" => "typescript",
        "js" | "mjs" => "javascript",
        "css" => "css",
        "html" => "html",
        "json" => "json",
        "sql" => "sql",
        "md" => "markdown",
        _ => "text",
    }
}

/// The project, or the part of it that is wanted.
pub fn generate(input: &CodeInput<'_>) -> Result<Generated, Error> {
    let (blueprint, files) = drafts(input)?;
    let dependencies = files::dependencies(input.preset, &files);
    let from_input = format!(
        "{:?} {:?} {:?} {:?}",
        input.product, input.architecture, input.ux, input.requirements
    );
    let checks = checks::run(&blueprint, &files, &dependencies, &from_input);
    let paths: Vec<&str> = files.iter().map(|file| file.path.as_str()).collect();
    let wanted = select::select(input.target_files, &paths)?;
    let setup_instructions = files::setup_instructions(&blueprint)?;
    let chosen = wanted
        .into_iter()
        .map(|at| {
            let file = &files[at];
            GeneratedFile {
                path: file.path.clone(),
                language: language(&file.path).to_owned(),
                sha256: hex::encode(Sha256::digest(file.content.as_bytes())),
                trace: file.trace.clone(),
                content: file.content.clone(),
            }
        })
        .collect();
    Ok(Generated {
        files: chosen,
        dependencies,
        setup_instructions,
        checks,
        served: served::served(&blueprint),
    })
}
