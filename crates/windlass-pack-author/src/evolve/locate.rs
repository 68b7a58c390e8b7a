//! Where a module's overlay is, or would be.

use std::path::PathBuf;

use serde_json::{Value, json};
use windlass_pack_deploy::render::RenderInput;
use windlass_pack_model::{fault, overlay::overlay_dirs};
use windlass_types::Problem;

use crate::evolve::scope::Scope;

/// The place of an overlay.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OverlayPath {
    /// The module.
    pub module_id: String,
    /// The scope.
    pub scope: Scope,
    /// The directory; it need not exist.
    pub overlay_dir: PathBuf,
}

impl OverlayPath {
    /// The answer of `overlay path`.
    pub fn data(&self) -> Value {
        json!({
            "module_id": self.module_id,
            "scope": self.scope,
            "overlay_dir": self.overlay_dir.display().to_string(),
            "overlay_dir_posix": fault::posix(&self.overlay_dir),
        })
    }
}

/// The directory of a module's overlay: the one that exists, under any of its names, or the one
/// that would be made.
pub fn overlay_path(
    input: &RenderInput<'_>,
    module_id: &str,
    scope: Scope,
) -> Result<OverlayPath, Problem> {
    let project_id = input.project.map(|project| project.id.as_str());
    let dirs: Vec<PathBuf> = overlay_dirs(scope.layer(), module_id, input.machine_id, project_id)
        .into_iter()
        .map(|dir| input.repo.join(dir))
        .collect();
    let found = dirs
        .iter()
        .find(|dir| std::fs::symlink_metadata(dir).is_ok());
    let overlay_dir = found.or(dirs.first()).cloned().ok_or_else(|| {
        fault::config_invalid(format!(
            "there is no project, so module {module_id} can have no overlay of scope {scope}; run the command inside a project, start the server with --project, or choose another scope"
        ))
        .with("module_id", module_id)
        .with("scope", scope.as_str())
    })?;
    Ok(OverlayPath {
        module_id: module_id.to_owned(),
        scope,
        overlay_dir,
    })
}
