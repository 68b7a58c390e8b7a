//! `overlay edit`, `overlay rebase`, `overlay path`.

use std::sync::Arc;

use serde::Deserialize;
use serde_json::Value;
use windlass_engine::operation::Operation;
use windlass_files::{Access, Directory};
use windlass_pack_author::evolve::{
    Context, EditRequest, RebaseRequest, Scope, edit_overlay, overlay_path, rebase_overlay,
};
use windlass_pack_model::{OverlayKind, fault};
use windlass_types::Problem;

use super::{Shop, with_warnings};
use crate::{
    arguments::{Common, require_yes},
    edit::write,
    workspace::{Moment, Pack, Workspace},
};

pub(super) fn operations(shop: &Shop) -> Vec<Arc<dyn Operation>> {
    vec![
        shop.change(
            "overlay.edit",
            "Prepare an overlay",
            "Makes the overlay of a module ready to be edited.",
            edit,
        ),
        shop.change(
            "overlay.rebase",
            "Rebase an overlay",
            "Brings an overlay up to date with the module below it.",
            rebase,
        ),
        shop.query(
            "overlay.path",
            "Locate an overlay",
            "Says where the overlay of a module is or would be.",
            path,
        ),
    ]
}

#[derive(Debug, Deserialize, schemars::JsonSchema)]
struct OverlayInput {
    #[serde(flatten)]
    common: Common,
    /// The module.
    module_id: String,
    /// `global`, `machine` or `project`.
    #[serde(default)]
    scope: Option<String>,
    /// `dir` or `patch`.
    #[serde(default)]
    kind: Option<String>,
    /// Metadata only.
    #[serde(default)]
    sparse: bool,
    /// Add the module's files where the overlay lacks them.
    #[serde(default)]
    materialize: bool,
    /// Remove files that are as upstream.
    #[serde(default)]
    sparsify: bool,
    #[serde(default)]
    dry_run: bool,
    #[serde(default)]
    yes: bool,
}

/// A scope by its name; global when none is given.
pub(super) fn scope(name: Option<&str>) -> Result<Scope, Problem> {
    let name = name.unwrap_or("global");
    Scope::by_name(name).ok_or_else(|| {
        fault::unexpected(
            "invalid_arguments",
            &["fix_arguments", "retry_command"],
            format!("{name:?} is not a scope; there are global, machine, project"),
        )
    })
}

fn edit(pack: &Pack, moment: &Moment, input: OverlayInput) -> Result<Value, Problem> {
    require_yes(input.yes || input.dry_run, "overlay edit")?;
    let kind = match input.kind.as_deref() {
        None => None,
        Some("dir") => Some(OverlayKind::Dir),
        Some("patch") => Some(OverlayKind::Patch),
        Some(other) => {
            return Err(fault::unexpected(
                "invalid_arguments",
                &["fix_arguments", "retry_command"],
                format!("{other:?} is not a kind of overlay; there are dir, patch"),
            ));
        }
    };
    let workspace = Workspace::open(pack, input.common, moment.clone())?;
    let checkouts = workspace.checkouts();
    let (caller, now) = (workspace.caller(), moment.rfc3339());
    let edited = edit_overlay(
        &Context {
            input: workspace.input(&checkouts),
            git: &*pack.git,
            caller: &caller,
            now: &now,
        },
        EditRequest {
            module_id: &input.module_id,
            scope: scope(input.scope.as_deref())?,
            kind,
            sparse: input.sparse,
            materialize: input.materialize,
        },
    )?;
    let mut warnings = workspace.warnings.clone();
    if !input.dry_run {
        warnings.extend(write(
            pack,
            moment,
            std::slice::from_ref(&workspace.repo),
            &edited.writes,
        )?);
        if let Some(patches) = &edited.patches_dir {
            let below = patches.strip_prefix(&workspace.repo).unwrap_or(patches);
            Directory::open(&workspace.repo)
                .and_then(|repo| repo.make_directory(below, Access::Usual))
                .map_err(|error| fault::io("make", patches, &error.into()))?;
        }
    }
    Ok(with_warnings(edited.data(), warnings))
}

fn rebase(pack: &Pack, moment: &Moment, input: OverlayInput) -> Result<Value, Problem> {
    require_yes(input.yes || input.dry_run, "overlay rebase")?;
    let workspace = Workspace::open(pack, input.common, moment.clone())?;
    let checkouts = workspace.checkouts();
    let (caller, now) = (workspace.caller(), moment.rfc3339());
    let rebased = rebase_overlay(
        &Context {
            input: workspace.input(&checkouts),
            git: &*pack.git,
            caller: &caller,
            now: &now,
        },
        RebaseRequest {
            module_id: &input.module_id,
            scope: scope(input.scope.as_deref())?,
            sparsify: input.sparsify,
            dry_run: input.dry_run,
        },
    )?;
    let mut warnings = workspace.warnings.clone();
    warnings.extend(write(
        pack,
        moment,
        std::slice::from_ref(&workspace.repo),
        &rebased.writes,
    )?);
    // What could be merged is written first; then the conflicts are told.
    match rebased.conflict() {
        Some(problem) => Err(problem),
        None => Ok(with_warnings(rebased.data(), warnings)),
    }
}

fn path(pack: &Pack, moment: &Moment, input: OverlayInput) -> Result<Value, Problem> {
    let workspace = Workspace::open(pack, input.common, moment.clone())?;
    let checkouts = workspace.checkouts();
    let found = overlay_path(
        &workspace.input(&checkouts),
        &input.module_id,
        scope(input.scope.as_deref())?,
    )?;
    Ok(with_warnings(found.data(), workspace.warnings.clone()))
}
