//! Overlays that are there twice, or that belong to another module than their name says.

use std::{
    collections::HashSet,
    path::{Path, PathBuf},
};

use windlass_pack_model::{
    Layer,
    fault::{self, is_absent},
    module_id::overlay_keys,
    overlay::{METADATA_DIR, layer_dir},
};
use windlass_types::Problem;

use super::DoctorInput;
use crate::repository::read_bytes;

/// What is odd about the overlays of the manifest's modules.
pub(super) fn examine(input: &DoctorInput<'_>) -> Result<Vec<String>, Problem> {
    let mut warnings = Vec::new();
    let project_id = input.project.map(|project| project.id.as_str());
    for layer in Layer::OVERLAYS {
        let Some(below) = layer_dir(layer, input.machine_id, project_id) else {
            continue;
        };
        // Read once: with many modules asking for each name would take long.
        let names = names_in(&input.repo.join(&below))?;
        if names.is_empty() {
            continue;
        }
        for module in &input.manifest.modules {
            let found: Vec<PathBuf> = overlay_keys(&module.id)
                .into_iter()
                .filter(|key| names.contains(key))
                .map(|key| below.join(key))
                .collect();
            if let [used, _, ..] = found.as_slice() {
                let shown: Vec<String> = found.iter().map(|dir| fault::posix(dir)).collect();
                warnings.push(format!(
                    "overlay layout ({layer}) module {}: there are several overlay directories: {}; {} is used, remove or merge the others",
                    module.id,
                    shown.join(", "),
                    fault::posix(used)
                ));
            }
            for dir in &found {
                warnings.extend(owner(input.repo, dir, layer, &module.id));
            }
        }
    }
    Ok(warnings)
}

/// Whether an overlay says that it belongs to another module.
fn owner(repo: &Path, dir: &Path, layer: Layer, id: &str) -> Option<String> {
    let shown = fault::posix(dir);
    if !repo.join(dir).is_dir() {
        return Some(format!(
            "overlay layout ({layer}) module {id}: {shown} is not a directory"
        ));
    }
    let file = dir.join(METADATA_DIR).join("module_id");
    match read_bytes(&repo.join(&file)) {
        Ok(None) => None,
        Ok(Some(bytes)) => {
            let text = String::from_utf8_lossy(&bytes);
            let says = text.trim_end();
            (says != id).then(|| {
                format!(
                    "overlay metadata ({layer}) module {id}: {} says {says:?} instead of {id:?}",
                    fault::posix(&file)
                )
            })
        }
        Err(problem) => Some(format!(
            "overlay metadata ({layer}) module {id}: {}",
            problem.message()
        )),
    }
}

fn names_in(directory: &Path) -> Result<HashSet<String>, Problem> {
    let failed = |error: &std::io::Error| fault::io("read directory", directory, error);
    let entries = match std::fs::read_dir(directory) {
        Ok(entries) => entries,
        Err(error) if is_absent(&error) => return Ok(HashSet::new()),
        Err(error) => return Err(failed(&error)),
    };
    let mut names = HashSet::new();
    for entry in entries {
        let name = entry.map_err(|error| failed(&error))?.file_name();
        names.extend(name.into_string().ok());
    }
    Ok(names)
}
