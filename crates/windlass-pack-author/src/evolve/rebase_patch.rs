//! Rebases the patches of a patch overlay.
//!
//! A conflict leaves the patch alone and puts the file with markers into `.agentpack/conflicts`.
//! It is resolved by removing the markers from that file, by writing the patch again for the
//! upstream, or by removing the patch.

use std::path::{Path, PathBuf};

use windlass_pack_deploy::state::After;
use windlass_pack_model::{RelPath, Upstream};
use windlass_text::{Merge, merge3};
use windlass_types::{Digest, Problem};

use crate::evolve::{
    base::{self, Wanted},
    overlay::metadata_file,
    patch::{self, PatchOf},
    pending::{self, Conflict, is_unresolved},
    read,
    rebase::Rebase,
    rebase_dir::LABELS,
};

/// A patch that has to follow its upstream.
struct Moving {
    path: RelPath,
    patch_file: PathBuf,
    patch_digest: Digest,
    /// What the patched text started from, and where that is.
    base: Digest,
    place: Option<Upstream>,
    /// The patched text, when it does not come from the patch.
    settled: Option<Vec<u8>>,
}

pub(crate) fn run(rebase: &mut Rebase<'_>) -> Result<(), Problem> {
    let mut moving = Vec::new();
    let overlay = rebase.overlay;
    for (path, patch_file) in &overlay.patches {
        rebase.report.processed();
        let Some(record) = rebase.records.get(path) else {
            rebase.report.skipped(path);
            continue;
        };
        // Made from what the overlay below gives: that one follows the upstream.
        if rebase.layers.touched_below(rebase.scope, path) {
            rebase.report.skipped(path);
            continue;
        }
        let file = Moving {
            path: path.clone(),
            patch_file: patch_file.clone(),
            patch_digest: Digest::of(&read::bytes(patch_file)?),
            base: record.sha256,
            place: rebase.base.cloned(),
            settled: None,
        };
        let Some(file) = pick_up(rebase, file)? else {
            continue;
        };
        let theirs = rebase.layers.upstream.tree.get(path);
        let unchanged = theirs.is_some_and(|theirs| theirs.digest == file.base);
        if !(unchanged && file.settled.is_none()) {
            moving.push(file);
        }
    }
    let wanted: Vec<Wanted<'_>> = moving
        .iter()
        .map(|file| Wanted {
            path: &file.path,
            digest: file.base,
            place: file.place.as_ref(),
        })
        .collect();
    let source = &rebase.layers.upstream;
    let mut bases = base::find(rebase.context, rebase.module, source, &wanted)?;
    for file in &moving {
        if let Some(base) = bases.remove(&file.path) {
            move_patch(rebase, file, base)?;
        }
    }
    // Conflicts that are settled, or whose patch is gone, leave no file behind.
    let settled: Vec<RelPath> = rebase
        .before
        .conflicts
        .keys()
        .filter(|path| !rebase.after.conflicts.contains_key(*path))
        .cloned()
        .collect();
    for path in settled {
        let file = conflict_file(&overlay.dir, &path);
        rebase.writes.remove(file)?;
    }
    Ok(())
}

/// Continues with a conflict of an earlier rebase. Nothing when it is not resolved.
fn pick_up(rebase: &mut Rebase<'_>, mut file: Moving) -> Result<Option<Moving>, Problem> {
    let Some(conflict) = rebase.before.conflicts.get(&file.path).cloned() else {
        return Ok(Some(file));
    };
    (file.base, file.place) = (conflict.base_sha256, conflict.base.clone());
    let Some(theirs) = conflict.theirs_sha256 else {
        // The upstream was gone; if it still is, the merge says so again.
        return Ok(Some(file));
    };
    if file.patch_digest != conflict.ours_sha256 {
        file.base = theirs;
        file.place = conflict.theirs;
        return Ok(Some(file));
    }
    match read::bytes_if_present(&conflict_file(&rebase.overlay.dir, &file.path))? {
        Some(text) if is_unresolved(&text) => {
            rebase.report.conflict(&file.path);
            rebase.after.conflicts.insert(file.path, conflict);
            Ok(None)
        }
        Some(text) => {
            file.base = theirs;
            file.place = conflict.theirs;
            file.settled = Some(text);
            Ok(Some(file))
        }
        None => Ok(Some(file)),
    }
}

fn move_patch(rebase: &mut Rebase<'_>, file: &Moving, base: Vec<u8>) -> Result<(), Problem> {
    let of = PatchOf {
        module_id: &rebase.module.id,
        scope: rebase.scope,
        overlay_dir: &rebase.overlay.dir,
        target: &file.path,
    };
    let text = |bytes| of.text(&file.patch_file, bytes);
    let base = text(base)?;
    let ours = match &file.settled {
        Some(bytes) => text(bytes.clone())?,
        None => of.apply(&file.patch_file, &base)?,
    };
    let theirs = match rebase.layers.upstream.tree.get(&file.path) {
        Some(content) => text(read::content(content)?)?,
        None => {
            let gone = format!(
                "<<<<<<< {}\n{ours}{}=======\n>>>>>>> {} (deleted)\n",
                pending::OURS,
                if ours.is_empty() || ours.ends_with('\n') {
                    ""
                } else {
                    "\n"
                },
                pending::THEIRS
            );
            return conflict(rebase, file, None, gone);
        }
    };
    match merge3(&base, &ours, &theirs, LABELS) {
        Merge::Conflict {
            text_with_markers, ..
        } => conflict(
            rebase,
            file,
            Some(Digest::of(theirs.as_bytes())),
            text_with_markers,
        ),
        Merge::Clean(merged) => match patch::between(&file.path, &theirs, &merged) {
            Some(patch) if patch.is_empty() => {
                rebase.writes.remove(file.patch_file.clone())?;
                rebase.report.deleted(&file.path);
                Ok(())
            }
            Some(patch) => {
                let after = After::of(patch.into_bytes(), false);
                rebase.writes.put(file.patch_file.clone(), after)?;
                rebase.report.updated(&file.path);
                Ok(())
            }
            // No patch leads there: what it should come to is shown like a conflict.
            None => conflict(rebase, file, Some(Digest::of(theirs.as_bytes())), merged),
        },
    }
}

fn conflict(
    rebase: &mut Rebase<'_>,
    file: &Moving,
    theirs: Option<Digest>,
    text: String,
) -> Result<(), Problem> {
    rebase.report.conflict(&file.path);
    let path = conflict_file(&rebase.overlay.dir, &file.path);
    rebase
        .writes
        .put(path, After::of(text.into_bytes(), false))?;
    let conflict = Conflict {
        ours_sha256: file.patch_digest,
        base_sha256: file.base,
        base: file.place.clone(),
        theirs_sha256: theirs,
        theirs: rebase.theirs.clone(),
    };
    rebase.after.conflicts.insert(file.path.clone(), conflict);
    Ok(())
}

fn conflict_file(overlay_dir: &Path, path: &RelPath) -> PathBuf {
    metadata_file(overlay_dir, &format!("conflicts/{path}"))
}
