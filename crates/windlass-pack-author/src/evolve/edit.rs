//! `overlay edit`: makes an overlay, or completes one, so that it can be edited.

use std::path::PathBuf;

use serde_json::{Value, json};
use windlass_pack_deploy::{
    render::{SourceTree, load_upstream},
    state::{After, FileAction},
};
use windlass_pack_model::{OverlayConfig, OverlayKind, fault, selection::find_module};
use windlass_types::Problem;

use crate::evolve::{
    baseline,
    context::Context,
    locate::overlay_path,
    overlay::{self, CONFIG, OverlayDir, metadata_file},
    scope::Scope,
    writes::Writes,
};

/// Which overlay, and how it begins.
#[derive(Clone, Copy, Debug)]
pub struct EditRequest<'a> {
    /// The module.
    pub module_id: &'a str,
    /// The scope.
    pub scope: Scope,
    /// The kind; without one an existing overlay keeps its own and a new one is of files.
    pub kind: Option<OverlayKind>,
    /// Only metadata, no copies of the module's files.
    pub sparse: bool,
    /// The module's files are added where the overlay lacks them.
    pub materialize: bool,
}

/// An overlay that is ready to be edited once `writes` are carried out.
#[derive(Clone, Debug)]
pub struct EditedOverlay {
    /// The module.
    pub module_id: String,
    /// The scope.
    pub scope: Scope,
    /// The kind.
    pub overlay_kind: OverlayKind,
    /// The directory.
    pub overlay_dir: PathBuf,
    /// Whether it did not exist before.
    pub created: bool,
    /// Whether copies were left out.
    pub sparse: bool,
    /// Whether missing files were added.
    pub materialized: bool,
    /// Where patches go, for an overlay of patches. May have to be made: a transaction makes
    /// files, not directories.
    pub patches_dir: Option<PathBuf>,
    /// The machine of a machine overlay.
    pub machine_id: Option<String>,
    /// The project of a project overlay.
    pub project_id: Option<String>,
    /// What to write to the repository.
    pub writes: Vec<FileAction>,
}

impl EditedOverlay {
    /// The directory an editor is opened on.
    pub fn editor_dir(&self) -> &std::path::Path {
        self.patches_dir.as_deref().unwrap_or(&self.overlay_dir)
    }

    /// The answer of `overlay edit`.
    pub fn data(&self) -> Value {
        let shown = |path: &PathBuf| path.display().to_string();
        json!({
            "created": self.created,
            "machine_id": self.machine_id,
            "materialized": self.materialized,
            "module_id": self.module_id,
            "overlay_dir": shown(&self.overlay_dir),
            "overlay_dir_posix": fault::posix(&self.overlay_dir),
            "overlay_kind": self.overlay_kind.as_str(),
            "patches_dir": self.patches_dir.as_ref().map(shown),
            "patches_dir_posix": self.patches_dir.as_deref().map(fault::posix),
            "project": self.scope == Scope::Project,
            "project_id": self.project_id,
            "scope": self.scope,
            "sparse": self.sparse,
        })
    }
}

/// Makes or completes an overlay. Writes nothing.
pub fn edit_overlay(
    context: &Context<'_>,
    request: EditRequest<'_>,
) -> Result<EditedOverlay, Problem> {
    let module = find_module(context.input.manifest, request.module_id)?;
    let scope = request.scope;
    let overlay_dir = overlay_path(&context.input, &module.id, scope)?.overlay_dir;
    let existing = OverlayDir::open(&overlay_dir)?;
    let kind = request.kind.unwrap_or_else(|| {
        existing
            .as_ref()
            .map_or(OverlayKind::Dir, |overlay| overlay.config.overlay_kind)
    });
    if kind == OverlayKind::Patch && request.materialize {
        return Err(overlay::named(
            fault::config_invalid(format!(
                "the {scope} overlay of module {} holds patches, not copies of files: --materialize does not apply",
                module.id
            )),
            &module.id,
            scope,
            &overlay_dir,
        )
        .with("hint", "leave --materialize out, or use --kind dir"));
    }
    let source = load_upstream(&context.input, module)?;
    let mut writes = Writes::default();
    if let Some(existing) = &existing {
        existing.check_kind(kind, &module.id, scope)?;
        if existing.config.overlay_kind != kind {
            let config = OverlayConfig {
                overlay_kind: kind,
                delete: existing.config.delete.clone(),
            };
            let after = After::of(config.render().into_bytes(), false);
            writes.put(metadata_file(&overlay_dir, CONFIG), after)?;
        }
    }
    let copies = match kind {
        OverlayKind::Patch => false,
        OverlayKind::Dir => request.materialize || (existing.is_none() && !request.sparse),
    };
    if copies {
        copy(&source, existing.as_ref(), &overlay_dir, &mut writes);
    }
    baseline::complete(context, module, &source, &overlay_dir, kind, &mut writes)?;
    let project = context.input.project.filter(|_| scope == Scope::Project);
    Ok(EditedOverlay {
        module_id: module.id.clone(),
        scope,
        overlay_kind: kind,
        created: existing.is_none(),
        sparse: request.sparse,
        materialized: request.materialize,
        patches_dir: (kind == OverlayKind::Patch).then(|| metadata_file(&overlay_dir, "patches")),
        machine_id: (scope == Scope::Machine).then(|| context.input.machine_id.to_owned()),
        project_id: project.map(|project| project.id.clone()),
        overlay_dir,
        writes: writes.finish(),
    })
}

/// Copies the module's files that the overlay neither has nor takes away.
fn copy(
    source: &SourceTree,
    existing: Option<&OverlayDir>,
    overlay_dir: &std::path::Path,
    writes: &mut Writes,
) {
    for (path, content) in &source.tree {
        let has = existing.is_some_and(|overlay| {
            overlay.files.contains_key(path) || overlay.config.delete.contains(path)
        });
        if !has {
            let after = After {
                digest: content.digest,
                body: content.body.clone(),
                executable: content.executable,
            };
            writes.create(path.under(overlay_dir), after);
        }
    }
}
