//! The site's worktree: always the recorded commit with the bundle applied, created again whenever
//! this process has not made it itself.

use std::{
    collections::BTreeMap,
    path::Path,
    sync::{Arc, PoisonError},
};

use windlass_launch_model::{ConflictReason, Patch, PatchBundle};
use windlass_launch_pages::{
    Change, SiteDir, SiteReader as _, apply_bundle,
    gates::SiteTree,
    patch::{Edit, create_file, delete_file, edit_file, file_hash, patch_id},
};
use windlass_types::{Digest, Problem};

use super::{Tools, folder::remove};
use crate::fault;

/// What a worktree holds.
#[derive(Debug)]
pub(crate) struct Worktree {
    key: Digest,
    /// The files the bundle touches, as they were before.
    pub(crate) before: BTreeMap<String, Option<Vec<u8>>>,
}

impl Tools {
    /// The worktree with exactly this bundle applied to the site's commit. Blocks.
    pub(super) fn worktree(
        &self,
        site_sha: &str,
        bundle: &PatchBundle,
    ) -> Result<Arc<Worktree>, Problem> {
        let key = key_of(site_sha, bundle);
        let mut held = self
            .folder
            .worktree
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        if let Some(worktree) = held.as_ref().filter(|worktree| worktree.key == key) {
            return Ok(Arc::clone(worktree));
        }
        *held = None;
        let mark = self.folder.site_mark();
        remove_file(&mark)?;
        let site = self.folder.site();
        let before = self.lay_out(site_sha, bundle, &site)?;
        fs_err::write(&mark, key.to_string())
            .map_err(|error| Problem::internal("site worktree", error))?;
        let worktree = Arc::new(Worktree { key, before });
        *held = Some(Arc::clone(&worktree));
        Ok(worktree)
    }

    /// Writes the site's commit to a folder and applies a bundle; the patched files as they were.
    fn lay_out(
        &self,
        site_sha: &str,
        bundle: &PatchBundle,
        to: &Path,
    ) -> Result<BTreeMap<String, Option<Vec<u8>>>, Problem> {
        remove(to)?;
        let url = &self.accepted.config().site_repo_url;
        self.outside
            .git
            .export(&self.folder.bare("site"), site_sha, to)
            .map_err(|error| fault::repository("site", url, &error))?;
        let dir = SiteDir::open(to)?;
        let mut before = BTreeMap::new();
        for patch in &bundle.patches {
            if !before.contains_key(&patch.path) {
                let content = dir.read(&patch.path);
                let content = content.map_err(|(_, actual)| not_allowed(patch, &actual))?;
                before.insert(patch.path.clone(), content);
            }
        }
        let allowed = self.accepted.allowed();
        let applied = apply_bundle(&dir, bundle, &|path| allowed.admit(path).is_ok());
        if let Some(conflict) = applied.conflicts.first() {
            let patch = bundle
                .patches
                .iter()
                .find(|patch| patch.patch_id == conflict.patch_id);
            return Err(match (conflict.conflict_reason, patch) {
                (ConflictReason::PathNotAllowed, Some(patch)) => {
                    not_allowed(patch, &conflict.actual_state)
                }
                _ => Problem::internal(
                    "site worktree",
                    format!(
                        "{} cannot be applied: {}",
                        conflict.patch_id, conflict.actual_state
                    ),
                ),
            });
        }
        // What was written must be what the patches promised.
        let last: BTreeMap<&str, &Patch> = bundle
            .patches
            .iter()
            .map(|patch| (patch.path.as_str(), patch))
            .collect();
        for (path, patch) in last {
            let content = dir.read(path).ok().flatten();
            let hash = content.map(|content| file_hash(&content));
            if hash.is_some_and(|hash| hash != patch.content_hash) {
                return Err(Problem::internal(
                    "site worktree",
                    format!("{path} differs from what {} promised", patch.patch_id),
                ));
            }
        }
        Ok(before)
    }

    /// What the bundle changes, by path. Blocks; the worktree must hold the bundle.
    pub(super) fn changes(&self, worktree: &Worktree) -> Result<Vec<Change>, Problem> {
        let dir = SiteDir::open(&self.folder.site())?;
        let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
        let mut changes = Vec::new();
        for (path, before) in &worktree.before {
            let after = dir
                .read(path)
                .map_err(|(_, actual)| Problem::internal("site worktree", actual))?;
            if after == *before {
                continue;
            }
            changes.push(Change {
                path: path.clone(),
                before: before.clone().map(text),
                after: after.map(text),
            });
        }
        Ok(changes)
    }

    /// What a person has edited in the worktree since the run wrote it, as patches that follow
    /// the bundle's. Only text beneath allowed paths counts; anything else is put back. Blocks.
    pub(super) fn edits(
        &self,
        site_sha: &str,
        bundle: &PatchBundle,
    ) -> Result<Vec<Patch>, Problem> {
        let key = key_of(site_sha, bundle).to_string();
        let holds = fs_err::read_to_string(self.folder.site_mark()).unwrap_or_default();
        if holds != key {
            // The worktree is not whole: nobody can say what in it is an edit.
            return Ok(Vec::new());
        }
        let unedited = self.folder.unedited();
        self.lay_out(site_sha, bundle, &unedited)?;
        let load = |folder: &Path| {
            SiteTree::load(folder).map_err(|error| Problem::internal("site worktree", error))
        };
        let (ours, theirs) = (load(&unedited)?, load(&self.folder.site())?);
        remove(&unedited)?;
        let mut paths: Vec<&str> = ours.paths().chain(theirs.paths()).collect();
        paths.sort_unstable();
        paths.dedup();
        let mut patches = Vec::new();
        for path in paths {
            if self.accepted.allowed().admit(path).is_err() || ours.get(path) == theirs.get(path) {
                continue;
            }
            let id = patch_id(bundle.patches.len() + patches.len() + 1);
            let patch = match (ours.text(path), theirs.text(path)) {
                (None, Some(after)) if !ours.contains(path) => create_file(&id, path, after),
                (Some(before), None) if !theirs.contains(path) => {
                    delete_file(&id, path, before.as_bytes())
                }
                (Some(before), Some(after)) => {
                    let edit = Edit::Range {
                        start: 1,
                        end: before.split_inclusive('\n').count() as u64,
                        text: after.to_owned(),
                    };
                    match edit_file(&id, path, before, &edit) {
                        Ok((patch, _)) => patch,
                        Err(conflict) => {
                            let cause = format!("{path}: {}", conflict.actual_state);
                            return Err(Problem::internal("edited page", cause));
                        }
                    }
                }
                _ => continue,
            };
            patches.push(patch);
        }
        Ok(patches)
    }
}

fn key_of(site_sha: &str, bundle: &PatchBundle) -> Digest {
    let patches = serde_json::to_vec(bundle).unwrap_or_default();
    Digest::of_parts(&[site_sha.as_bytes(), &patches])
}

fn not_allowed(patch: &Patch, actual: &str) -> Problem {
    fault::path_not_allowed(&patch.path, actual, &patch.patch_id)
}

fn remove_file(path: &Path) -> Result<(), Problem> {
    match fs_err::remove_file(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(Problem::internal("site worktree", error))
        }
        _ => Ok(()),
    }
}
