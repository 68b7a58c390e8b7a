//! What `doctor` says about the overlays of the manifest's modules.

use std::path::Path;

use windlass_pack_deploy::render::RenderInput;
use windlass_pack_model::{
    fault,
    overlay::{METADATA_DIR, overlay_dirs},
};

use crate::evolve::{overlay::MODULE_ID, scope::Scope};

/// Warns of two directories for one overlay, of names that are not directories, and of overlays
/// that say they belong to another module.
pub fn overlay_warnings(input: &RenderInput<'_>) -> Vec<String> {
    let project_id = input.project.map(|project| project.id.as_str());
    let mut warnings = Vec::new();
    for module in &input.manifest.modules {
        for scope in Scope::ALL {
            let about = Overlay {
                module_id: &module.id,
                scope,
                repo: input.repo,
            };
            let existing: Vec<_> =
                overlay_dirs(scope.layer(), &module.id, input.machine_id, project_id)
                    .into_iter()
                    .filter(|dir| std::fs::symlink_metadata(input.repo.join(dir)).is_ok())
                    .collect();
            if let [used, _, ..] = existing.as_slice() {
                let names: Vec<String> = existing.iter().map(|dir| fault::posix(dir)).collect();
                warnings.push(format!(
                    "overlay layout ({scope}) module {}: several overlay directories exist: {}; only {} is used, so merge the others into it and remove them",
                    module.id,
                    names.join(", "),
                    fault::posix(used)
                ));
            }
            warnings.extend(existing.iter().filter_map(|dir| about.warning(dir)));
        }
    }
    warnings
}

struct Overlay<'a> {
    module_id: &'a str,
    scope: Scope,
    repo: &'a Path,
}

impl Overlay<'_> {
    fn warning(&self, dir: &Path) -> Option<String> {
        let (id, scope) = (self.module_id, self.scope);
        if !self.repo.join(dir).is_dir() {
            return Some(format!(
                "overlay layout ({scope}) module {id}: {} is not a directory, so it changes nothing; remove or rename it",
                fault::posix(dir)
            ));
        }
        let file = dir.join(METADATA_DIR).join(MODULE_ID);
        match fs_err::read_to_string(self.repo.join(&file)) {
            Ok(text) if text.trim() == id => None,
            Ok(text) => Some(format!(
                "overlay metadata ({scope}) module {id}: {} says {:?}, but the directory is that of {id}; correct the file or move the overlay",
                fault::posix(&file),
                text.trim()
            )),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => None,
            Err(error) => Some(format!("overlay metadata ({scope}) module {id}: {error}")),
        }
    }
}
