//! `add`: one more module in the manifest, every other line as it was.

use std::path::Path;

use serde::Serialize;
use windlass_pack_model::{
    Module, ModuleType, Source, Target, edit, fault, module_id,
    source::{OutsidePaths, default_module_id, parse_source},
    suggest,
};
use windlass_types::Problem;

use crate::{
    Authored,
    authored::shown,
    repository::{is_free, read_manifest},
};

/// What to add.
#[derive(Clone, Debug)]
pub struct AddRequest<'a> {
    /// What it is, by name.
    pub module_type: &'a str,
    /// Where it comes from, as a source spec.
    pub source: &'a str,
    /// Its id; made from type and source when absent.
    pub id: Option<&'a str>,
    /// Its tags.
    pub tags: &'a [String],
    /// The targets it is for, by name; none means all.
    pub targets: &'a [String],
    /// Whether its path may leave the repository.
    pub allow_outside: bool,
}

/// The `data` of `add` and `remove`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ModuleData {
    /// The module.
    pub module_id: String,
    /// The manifest that was changed.
    pub manifest: String,
    /// The same with `/`.
    pub manifest_posix: String,
}

impl ModuleData {
    pub(crate) fn new(module_id: &str, manifest: &Path) -> Self {
        Self {
            module_id: module_id.to_owned(),
            manifest: shown(manifest),
            manifest_posix: fault::posix(manifest),
        }
    }
}

/// Adds a module to the manifest of a repository.
pub fn add(repo: &Path, request: &AddRequest<'_>) -> Result<Authored<ModuleData>, Problem> {
    let file = read_manifest(repo)?;
    let module = module(request)?;
    let text =
        edit::add_module(&file.text, &module).map_err(|problem| fault::at(problem, &file.path))?;
    let data = ModuleData::new(&module.id, &file.path);
    let outcome = Authored::inside(repo, data, vec![file.replaced_by(text)]);
    Ok(outcome.warned(missing_source(repo, &module)?))
}

fn module(request: &AddRequest<'_>) -> Result<Module, Problem> {
    let module_type = module_type(request.module_type)?;
    let outside = match request.allow_outside {
        true => OutsidePaths::Allow,
        false => OutsidePaths::Refuse,
    };
    let source = parse_source(request.source.trim(), outside)?;
    let id = match request.id.map(str::trim) {
        Some("") => {
            return Err(
                invalid("the id is empty; leave out --id to derive it from the source")
                    .with("field", "id"),
            );
        }
        Some(id) => id.to_owned(),
        None => default_module_id(module_type, &source),
    };
    module_id::module_name(&id)?;
    Ok(Module {
        targets: targets(request.targets, &id)?,
        tags: words(request.tags),
        id,
        module_type,
        enabled: true,
        name: None,
        source,
        line: 0,
    })
}

fn module_type(name: &str) -> Result<ModuleType, Problem> {
    ModuleType::by_name(name.trim()).ok_or_else(|| {
        let names = ModuleType::ALL.map(ModuleType::as_str);
        invalid(&format!(
            "there is no module type {name:?}{}; there are {}",
            suggest::hint(name, names),
            names.join(", ")
        ))
        .with("field", "type")
        .with("allowed", names.to_vec())
    })
}

fn targets(names: &[String], module_id: &str) -> Result<Vec<Target>, Problem> {
    words(names)
        .iter()
        .map(|name| {
            Target::by_name(name).ok_or_else(|| {
                let known = Target::ALL.map(Target::as_str);
                fault::target_not_compiled(format!(
                    "there is no target {name:?}{}; there are {}",
                    suggest::hint(name, known),
                    known.join(", ")
                ))
                .with("target", name.as_str())
                .with("allowed", known.to_vec())
                .with("module_id", module_id)
            })
        })
        .collect()
}

/// Words without blanks around them, each once, in their order.
fn words(list: &[String]) -> Vec<String> {
    let mut words = Vec::new();
    for word in list.iter().map(|word| word.trim()) {
        if !word.is_empty() && !words.iter().any(|known| known == word) {
            words.push(word.to_owned());
        }
    }
    words
}

/// A source may be written later, but mostly its path is a slip.
fn missing_source(repo: &Path, module: &Module) -> Result<Vec<String>, Problem> {
    let Source::LocalPath { path } = &module.source else {
        return Ok(Vec::new());
    };
    let path = repo.join(path);
    Ok(match is_free(&path)? {
        true => vec![format!(
            "{} does not exist yet; module {} cannot be deployed before it does",
            path.display(),
            module.id
        )],
        false => Vec::new(),
    })
}

fn invalid(message: &str) -> Problem {
    fault::unexpected("invalid_arguments", &["retry_command"], message)
}
