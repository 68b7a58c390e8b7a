//! `remove`: one module less in the manifest, every other line as it was. The module's files
//! stay; so do its overlays.

use std::path::Path;

use windlass_pack_model::{edit, fault};
use windlass_types::Problem;

use crate::{Authored, ModuleData, repository::read_manifest};

/// Removes a module from the manifest of a repository.
pub fn remove(repo: &Path, id: &str) -> Result<Authored<ModuleData>, Problem> {
    let file = read_manifest(repo)?;
    let text =
        edit::remove_module(&file.text, id).map_err(|problem| fault::at(problem, &file.path))?;
    let mentioned: Vec<&str> = file
        .manifest
        .profiles
        .iter()
        .filter(|(_, profile)| {
            let mut listed = profile
                .include_modules
                .iter()
                .chain(&profile.exclude_modules);
            listed.any(|listed| listed == id)
        })
        .map(|(name, _)| name.as_str())
        .collect();
    let warnings = match mentioned.is_empty() {
        true => Vec::new(),
        false => vec![format!(
            "module {id} is gone, but these profiles still name it: {}",
            mentioned.join(", ")
        )],
    };
    let data = ModuleData::new(id, &file.path);
    Ok(Authored::inside(repo, data, vec![file.replaced_by(text)]).warned(warnings))
}
