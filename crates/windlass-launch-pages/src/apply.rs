//! Applies a bundle to a site: everything is worked out first, and nothing is written when any
//! patch is in conflict. Applying a bundle twice changes nothing.

use std::collections::BTreeMap;

use windlass_launch_model::{ConflictReason, Patch, PatchBundle, PatchConflict};

use crate::{
    patch::{Outcome, apply_row, conflict},
    site::{Refusal, SiteDir, SiteReader, normal_path},
};

/// What applying a bundle did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Applied {
    /// The patches of files that changed, in the order of the bundle.
    pub applied: Vec<String>,
    /// The patches of files that were as they should be.
    pub skipped: Vec<String>,
    /// What blocked it. Nothing was written, unless the machine failed in the midst of
    /// writing: then `changed_paths` says what was, and applying again continues from there.
    pub conflicts: Vec<PatchConflict>,
    /// The files written or removed, sorted.
    pub changed_paths: Vec<String>,
}

/// Applies a bundle beneath a site's folder; `allowed` says which paths may be written.
pub fn apply_bundle(
    site: &SiteDir,
    bundle: &PatchBundle,
    allowed: &dyn Fn(&str) -> bool,
) -> Applied {
    let mut rows: BTreeMap<String, (String, Vec<&Patch>)> = BTreeMap::new();
    let mut applied = Applied::default();
    for patch in &bundle.patches {
        match admitted(patch, allowed) {
            Err(found) => applied.conflicts.push(found),
            Ok(path) => {
                // Paths that differ in letter case alone are one file on many machines.
                let row = rows
                    .entry(path.to_lowercase())
                    .or_insert_with(|| (path.clone(), Vec::new()));
                if row.0 == path {
                    row.1.push(patch);
                } else {
                    let actual = format!("a patch of {:?}", row.0);
                    applied.conflicts.push(conflict(
                        patch,
                        ConflictReason::FileExists,
                        "no path that differs in letter case alone",
                        &actual,
                    ));
                }
            }
        }
    }
    let mut outcomes = Vec::new();
    for (path, row) in rows.values() {
        let refused = |refusal| refused(row, refusal);
        let outcome = site
            .read(path)
            .map_err(refused)
            .and_then(|current| apply_row(current.as_deref(), row));
        match outcome {
            Ok(outcome) => outcomes.push((path, row, outcome)),
            Err(found) => applied.conflicts.push(found),
        }
    }
    if !applied.conflicts.is_empty() {
        let place = |id: &str| bundle.patches.iter().position(|patch| patch.patch_id == id);
        applied
            .conflicts
            .sort_by_key(|found| place(&found.patch_id));
        return applied;
    }
    for (path, row, outcome) in outcomes {
        let ids = row.iter().map(|patch| patch.patch_id.clone());
        let written = match &outcome {
            Outcome::Unchanged => {
                applied.skipped.extend(ids);
                continue;
            }
            Outcome::Written(text) => site.write(path, text.as_bytes()),
            Outcome::Removed => site.remove(path),
        };
        match written {
            Ok(()) => {
                applied.applied.extend(ids);
                applied.changed_paths.push(path.clone());
            }
            Err(refusal) => applied.conflicts.push(refused(row, refusal)),
        }
    }
    let order: BTreeMap<&str, usize> = bundle
        .patches
        .iter()
        .enumerate()
        .map(|(at, patch)| (patch.patch_id.as_str(), at))
        .collect();
    let place = |id: &String| order.get(id.as_str()).copied();
    applied.applied.sort_by_key(place);
    applied.skipped.sort_by_key(place);
    applied.changed_paths.sort();
    applied
}

fn admitted(patch: &Patch, allowed: &dyn Fn(&str) -> bool) -> Result<String, PatchConflict> {
    normal_path(&patch.path)
        .filter(|path| allowed(path))
        .ok_or_else(|| {
            let resolved = normal_path(&patch.path);
            let actual = resolved.unwrap_or_else(|| "a path outside the site".to_owned());
            conflict(
                patch,
                ConflictReason::PathNotAllowed,
                "a path in allowed_paths",
                &actual,
            )
        })
}

fn refused(row: &[&Patch], (reason, actual): Refusal) -> PatchConflict {
    let expected = "a regular file beneath real folders, or none";
    match row.first() {
        Some(patch) => conflict(patch, reason, expected, &actual),
        None => PatchConflict {
            patch_id: String::new(),
            path: String::new(),
            conflict_reason: reason,
            expected_state: expected.to_owned(),
            actual_state: actual,
        },
    }
}

#[cfg(test)]
#[path = "apply_tests.rs"]
mod tests;
