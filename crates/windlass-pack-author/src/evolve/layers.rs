//! What a module's file is in each layer.
//!
//! The same layering as rendering does, for single files and up to any layer, without asking
//! whether the module is well formed there.

use windlass_pack_deploy::render::{SourceTree, load_upstream};
use windlass_pack_model::{Layer, Module, OverlayKind, RelPath};
use windlass_types::Problem;

use crate::evolve::{
    context::Context, locate::overlay_path, overlay::OverlayDir, patch::PatchOf, read, scope::Scope,
};

/// A module's own files and its overlays.
pub(crate) struct Layers<'a> {
    module: &'a Module,
    pub(crate) upstream: SourceTree,
    overlays: Vec<(Scope, OverlayDir)>,
}

/// A file in a layer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LayerFile {
    pub(crate) bytes: Vec<u8>,
    pub(crate) executable: bool,
}

impl<'a> Layers<'a> {
    /// Looks at a module's layers.
    pub(crate) fn open(context: &Context<'_>, module: &'a Module) -> Result<Self, Problem> {
        let upstream = load_upstream(&context.input, module)?;
        let mut overlays = Vec::new();
        for scope in Scope::ALL {
            if scope == Scope::Project && context.input.project.is_none() {
                continue;
            }
            let dir = overlay_path(&context.input, &module.id, scope)?.overlay_dir;
            if let Some(overlay) = OverlayDir::open(&dir)? {
                overlays.push((scope, overlay));
            }
        }
        Ok(Self {
            module,
            upstream,
            overlays,
        })
    }

    /// The overlay of a scope.
    pub(crate) fn overlay(&self, scope: Scope) -> Option<&OverlayDir> {
        self.overlays
            .iter()
            .find(|(found, _)| *found == scope)
            .map(|(_, overlay)| overlay)
    }

    /// The overlays above a scope that touch a file, lowest first.
    pub(crate) fn above<'b>(
        &'b self,
        scope: Scope,
        path: &'b RelPath,
    ) -> impl Iterator<Item = (Scope, &'b OverlayDir)> {
        self.touching(path).filter(move |(found, _)| *found > scope)
    }

    /// Whether an overlay below a scope touches a file.
    pub(crate) fn touched_below(&self, scope: Scope, path: &RelPath) -> bool {
        self.touching(path).any(|(found, _)| found < scope)
    }

    fn touching<'b>(&'b self, path: &'b RelPath) -> impl Iterator<Item = (Scope, &'b OverlayDir)> {
        self.overlays
            .iter()
            .filter(|(_, overlay)| overlay.touches(path))
            .map(|(scope, overlay)| (*scope, overlay))
    }

    /// A file with every layer up to one, that one included.
    pub(crate) fn file(&self, path: &RelPath, up_to: Layer) -> Result<Option<LayerFile>, Problem> {
        let mut file = match self.upstream.tree.get(path) {
            Some(content) => Some(LayerFile {
                bytes: read::content(content)?,
                executable: content.executable,
            }),
            None => None,
        };
        for (scope, overlay) in self.touching(path) {
            if scope.layer() <= up_to {
                file = self.apply(scope, overlay, path, file)?;
            }
        }
        Ok(file)
    }

    /// A file just below a scope.
    pub(crate) fn file_below(
        &self,
        path: &RelPath,
        scope: Scope,
    ) -> Result<Option<LayerFile>, Problem> {
        let below = match scope {
            Scope::Global => Layer::Upstream,
            Scope::Machine => Layer::Global,
            Scope::Project => Layer::Machine,
        };
        self.file(path, below)
    }

    /// What one overlay makes of a file.
    pub(crate) fn apply(
        &self,
        scope: Scope,
        overlay: &OverlayDir,
        path: &RelPath,
        below: Option<LayerFile>,
    ) -> Result<Option<LayerFile>, Problem> {
        let below = below.filter(|_| !overlay.config.delete.contains(path));
        match overlay.config.overlay_kind {
            OverlayKind::Dir => match overlay.files.get(path) {
                Some(file) => Ok(Some(LayerFile {
                    bytes: read::bytes(file)?,
                    executable: read::is_executable(file),
                })),
                None => Ok(below),
            },
            OverlayKind::Patch => {
                let (Some(patch_file), Some(below)) = (overlay.patches.get(path), below.clone())
                else {
                    return Ok(below);
                };
                let patch = PatchOf {
                    module_id: &self.module.id,
                    scope,
                    overlay_dir: &overlay.dir,
                    target: path,
                };
                let text = patch.text(patch_file, below.bytes)?;
                Ok(Some(LayerFile {
                    bytes: patch.apply(patch_file, &text)?.into_bytes(),
                    executable: below.executable,
                }))
            }
        }
    }
}
