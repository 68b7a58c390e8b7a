//! All patches a launch needs: `patch_bundle.json`, with what blocks them.
//!
//! Reads the site through [`SiteReader`]; writes nothing. A new page is created, a page of an
//! earlier launch is revised part by part, and a page from another author is a conflict.

use windlass_launch_model::{
    ARTIFACT_VERSION, ConflictReason, Patch, PatchBundle, PatchConflict, Section,
};

use crate::{
    diff::Change,
    draft::Draft,
    patch::{as_text, conflict, create_file, patch_id},
    revise,
    site::{SiteReader, normal_path},
};

/// A bundle and what blocks it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Bundled {
    /// The patches that can be applied.
    pub bundle: PatchBundle,
    /// What cannot be patched, by path.
    pub conflicts: Vec<PatchConflict>,
    /// What the patches change, by path.
    pub changes: Vec<Change>,
    /// The sections one of whose pages is in conflict.
    pub blocked: Vec<Section>,
}

/// Makes the patches that bring the drafts into the site, counted from 1: sections in their
/// fixed order, then paths.
pub fn build_bundle(
    drafts: &[Draft],
    site: &dyn SiteReader,
    allowed: &dyn Fn(&str) -> bool,
) -> Bundled {
    let mut ordered: Vec<&Draft> = drafts.iter().collect();
    ordered.sort_by(|left, right| {
        (left.section, &left.output_path).cmp(&(right.section, &right.output_path))
    });
    let mut bundled = Bundled {
        bundle: PatchBundle {
            schema_version: ARTIFACT_VERSION.to_owned(),
            patches: Vec::new(),
        },
        ..Bundled::default()
    };
    let mut seen = std::collections::BTreeSet::new();
    for draft in ordered {
        let first = bundled.bundle.patches.len() + 1;
        let twice = !seen.insert(draft.output_path.to_lowercase());
        match patch_draft(draft, first, twice, site, allowed) {
            Ok(None) => {}
            Ok(Some((patches, change))) => {
                bundled.bundle.patches.extend(patches);
                bundled.changes.push(change);
            }
            Err(conflict) => {
                bundled.conflicts.push(conflict);
                if !bundled.blocked.contains(&draft.section) {
                    bundled.blocked.push(draft.section);
                }
            }
        }
    }
    bundled
        .changes
        .sort_by(|left, right| left.path.cmp(&right.path));
    bundled
}

type Patched = (Vec<Patch>, Change);

fn patch_draft(
    draft: &Draft,
    first: usize,
    twice: bool,
    site: &dyn SiteReader,
    allowed: &dyn Fn(&str) -> bool,
) -> Result<Option<Patched>, PatchConflict> {
    let create = create_file(&patch_id(first), &draft.output_path, &draft.text);
    if normal_path(&draft.output_path).as_deref() != Some(&draft.output_path)
        || !allowed(&draft.output_path)
    {
        let actual = "a path outside allowed_paths";
        return Err(conflict(
            &create,
            ConflictReason::PathNotAllowed,
            "a path in allowed_paths",
            actual,
        ));
    }
    if twice {
        let actual = "another draft with that path, letter case aside";
        return Err(conflict(
            &create,
            ConflictReason::FileExists,
            "no file",
            actual,
        ));
    }
    let refused = |(reason, actual): (ConflictReason, String)| {
        conflict(&create, reason, "a path that can be read", &actual)
    };
    let change = |before: Option<String>, after: String| Change {
        path: draft.output_path.clone(),
        before,
        after: Some(after),
    };
    let Some(content) = site.read(&draft.output_path).map_err(refused)? else {
        let after = draft.text.clone();
        return Ok(Some((vec![create], change(None, after))));
    };
    if content == draft.text.as_bytes() {
        return Ok(None);
    }
    let before = as_text(&create, &content)?;
    if !revise::is_ours(before) {
        let actual = "a file with other content that no launch wrote";
        return Err(conflict(
            &create,
            ConflictReason::FileExists,
            "no file",
            actual,
        ));
    }
    let mut number = first;
    let (patches, after) = revise::revise(&draft.output_path, before, &draft.text, || {
        number += 1;
        patch_id(number - 1)
    })?;
    let before = before.to_owned();
    Ok((!patches.is_empty()).then(|| (patches, change(Some(before), after))))
}

#[cfg(test)]
#[path = "bundle_tests.rs"]
mod tests;
