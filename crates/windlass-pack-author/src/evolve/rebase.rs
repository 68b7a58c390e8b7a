//! `overlay rebase`: brings an overlay to the module's files of now.
//!
//! Decides for every file of the overlay what becomes of it and of its baseline. How one file is
//! merged is in `rebase_dir` and `rebase_patch`.

use std::{collections::BTreeMap, path::PathBuf};

use serde_json::{Value, json};
use windlass_pack_deploy::state::{After, FileAction};
use windlass_pack_model::{
    Baseline, FileRecord, Module, OverlayKind, RelPath, Upstream, fault, lockfile,
    next_actions::shell_quote, selection::find_module,
};
use windlass_types::Problem;

use crate::evolve::{
    base, baseline,
    context::Context,
    layers::Layers,
    locate::overlay_path,
    overlay::{self, BASELINE, OverlayDir, metadata_file},
    pending::Pending,
    read, rebase_dir, rebase_patch,
    report::RebaseReport,
    scope::Scope,
    writes::Writes,
};

/// Which overlay to rebase, and how.
#[derive(Clone, Copy, Debug)]
pub struct RebaseRequest<'a> {
    /// The module.
    pub module_id: &'a str,
    /// The scope.
    pub scope: Scope,
    /// Whether files that are as upstream are removed from the overlay.
    pub sparsify: bool,
    /// Whether nothing is written.
    pub dry_run: bool,
}

/// A rebase. The writes come first, the conflict after them.
#[derive(Clone, Debug)]
pub struct RebasedOverlay {
    /// The module.
    pub module_id: String,
    /// The scope.
    pub scope: Scope,
    /// The directory.
    pub overlay_dir: PathBuf,
    /// Whether nothing is written.
    pub dry_run: bool,
    /// Whether files that are as upstream are removed.
    pub sparsify: bool,
    /// What became of each file.
    pub report: RebaseReport,
    /// What to write to the repository; empty in a dry run.
    pub writes: Vec<FileAction>,
}

impl RebasedOverlay {
    /// The answer of `overlay rebase` without conflicts.
    pub fn data(&self) -> Value {
        json!({
            "dry_run": self.dry_run,
            "module_id": self.module_id,
            "overlay_dir": self.overlay_dir.display().to_string(),
            "overlay_dir_posix": fault::posix(&self.overlay_dir),
            "report": self.report,
            "scope": self.scope,
            "sparsify": self.sparsify,
        })
    }

    /// What the command ends with after writing, if there are conflicts.
    pub fn conflict(&self) -> Option<Problem> {
        if self.report.conflicts.is_empty() {
            return None;
        }
        let problem = fault::overlay_rebase_conflict(format!(
            "the {} overlay of module {} conflicts with its upstream in {}; resolve what is between the markers (for patches in .agentpack/conflicts) and rebase again",
            self.scope,
            self.module_id,
            self.report.conflicts.join(", ")
        ));
        Some(
            overlay::named(problem, &self.module_id, self.scope, &self.overlay_dir)
                .with("dry_run", self.dry_run)
                .with("sparsify", self.sparsify)
                .with("conflicts", self.report.conflicts.clone())
                .with("summary", json!(self.report.summary)),
        )
    }
}

/// A rebase on its way.
pub(crate) struct Rebase<'a> {
    pub(crate) context: &'a Context<'a>,
    pub(crate) module: &'a Module,
    pub(crate) scope: Scope,
    pub(crate) sparsify: bool,
    pub(crate) layers: &'a Layers<'a>,
    pub(crate) overlay: &'a OverlayDir,
    /// The files of the baseline.
    pub(crate) records: BTreeMap<&'a RelPath, &'a FileRecord>,
    /// Where they came from.
    pub(crate) base: Option<&'a Upstream>,
    /// Where the files of now come from.
    pub(crate) theirs: Option<Upstream>,
    /// Conflicts of earlier rebases.
    pub(crate) before: Pending,
    /// Conflicts that remain.
    pub(crate) after: Pending,
    pub(crate) report: RebaseReport,
    pub(crate) writes: Writes,
}

/// Rebases an overlay. Writes nothing.
pub fn rebase_overlay(
    context: &Context<'_>,
    request: RebaseRequest<'_>,
) -> Result<RebasedOverlay, Problem> {
    let module = find_module(context.input.manifest, request.module_id)?;
    let scope = request.scope;
    let overlay_dir = overlay_path(&context.input, &module.id, scope)?.overlay_dir;
    let named = |problem| overlay::named(problem, &module.id, scope, &overlay_dir);
    let edit = context.caller.command(&format!(
        "overlay edit {} --scope {scope}",
        shell_quote(&module.id)
    ));
    // Before anything is read: what is missing is said first.
    let Some(found) = OverlayDir::open(&overlay_dir)? else {
        return Err(named(fault::overlay_not_found(format!(
            "module {} has no {scope} overlay: {} does not exist",
            module.id,
            overlay_dir.display()
        )))
        .with("hint", format!("create it with `{edit}`")));
    };
    let path = metadata_file(&overlay_dir, BASELINE);
    let Some(text) = read::text_if_present(&path)? else {
        return Err(named(fault::overlay_baseline_missing(format!(
            "the {scope} overlay of module {} has no baseline: {} does not exist",
            module.id,
            path.display()
        )))
        .with("baseline_path", path.display().to_string())
        .with("hint", format!("write it with `{edit}`")));
    };
    let old = Baseline::parse(&text, &path).map_err(named)?;
    found.check_kind(found.config.overlay_kind, &module.id, scope)?;
    // Without it no edit can be told from what upstream changed; a new baseline would hide that.
    if old.upstream.is_none() {
        return Err(named(base::unsupported(
            module,
            "its baseline does not say where the upstream came from",
        ))
        .with("baseline_path", path.display().to_string()));
    }

    let layers = Layers::open(context, module)?;
    let new = baseline::current(context, module, &layers.upstream)?;
    let mut rebase = Rebase {
        context,
        module,
        scope,
        sparsify: request.sparsify,
        layers: &layers,
        overlay: &found,
        records: old
            .file_manifest
            .iter()
            .map(|record| (&record.path, record))
            .collect(),
        base: old.upstream.as_ref(),
        theirs: new.upstream.clone(),
        before: Pending::read(&overlay_dir)?,
        after: Pending::default(),
        report: RebaseReport::default(),
        writes: Writes::default(),
    };
    match found.config.overlay_kind {
        OverlayKind::Dir => rebase_dir::run(&mut rebase)?,
        OverlayKind::Patch => rebase_patch::run(&mut rebase)?,
    }
    let Rebase {
        after,
        mut report,
        mut writes,
        ..
    } = rebase;
    if let Some(moved) = moved(&old, new, &after) {
        writes.put(path, After::of(moved.render().into_bytes(), false))?;
    }
    after.write(&overlay_dir, &mut writes)?;
    report.sort();
    Ok(RebasedOverlay {
        module_id: module.id.clone(),
        scope,
        overlay_dir,
        dry_run: request.dry_run,
        sparsify: request.sparsify,
        report,
        writes: if request.dry_run {
            Vec::new()
        } else {
            writes.finish()
        },
    })
}

/// The baseline after the rebase: that of now, except for files in conflict. Nothing when the
/// old one says the same and its files can still be found.
fn moved(old: &Baseline, mut new: Baseline, pending: &Pending) -> Option<Baseline> {
    new.file_manifest
        .retain(|record| !pending.conflicts.contains_key(&record.path));
    new.file_manifest.extend(
        old.file_manifest
            .iter()
            .filter(|record| pending.conflicts.contains_key(&record.path))
            .cloned(),
    );
    new.file_manifest
        .sort_by(|left, right| left.path.cmp(&right.path));
    // Differs from the upstream's as long as there are conflicts, so that composing still warns.
    new.upstream_sha256 = lockfile::module_hash(&new.file_manifest);
    let same_files = new.file_manifest == old.file_manifest;
    let stays = same_files && (new.upstream == old.upstream || can_be_found(old.upstream.as_ref()));
    (!stays).then_some(new)
}

fn can_be_found(upstream: Option<&Upstream>) -> bool {
    match upstream {
        Some(Upstream::Git { .. }) => true,
        Some(Upstream::LocalPath {
            repo_git_rev,
            repo_dirty,
            ..
        }) => repo_git_rev.is_some() && *repo_dirty == Some(false),
        None => false,
    }
}
