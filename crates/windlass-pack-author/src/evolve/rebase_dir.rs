//! Rebases the files of a directory overlay.

use std::{collections::BTreeMap, path::PathBuf};

use windlass_pack_deploy::state::After;
use windlass_pack_model::{RelPath, Upstream};
use windlass_text::{Merge, MergeLabels, merge3};
use windlass_types::{Digest, Problem};

use crate::evolve::{
    base::{self, Wanted},
    pending::{self, Conflict, is_unresolved},
    read,
    rebase::Rebase,
};

pub(crate) const LABELS: MergeLabels<'_> = MergeLabels {
    ours: pending::OURS,
    theirs: pending::THEIRS,
};

/// A file both sides changed.
struct Both {
    path: RelPath,
    /// The overlay's file.
    file: PathBuf,
    ours: Vec<u8>,
    /// What it started from.
    base: Digest,
    place: Option<Upstream>,
}

pub(crate) fn run(rebase: &mut Rebase<'_>) -> Result<(), Problem> {
    let mut both = Vec::new();
    let overlay = rebase.overlay;
    for (path, file) in &overlay.files {
        rebase.report.processed();
        let Some(record) = rebase.records.get(path) else {
            rebase.report.skipped(path);
            continue;
        };
        let ours = read::bytes(file)?;
        let digest = Digest::of(&ours);
        let (mut base, mut place) = (record.sha256, rebase.base.cloned());
        if let Some(conflict) = rebase.before.conflicts.get(path) {
            if is_unresolved(&ours) {
                rebase.report.conflict(path);
                rebase
                    .after
                    .conflicts
                    .insert(path.clone(), conflict.clone());
                continue;
            }
            (base, place) = (conflict.base_sha256, conflict.base.clone());
            // It was resolved: what is there now goes with the upstream of then.
            if let Some(theirs) = conflict
                .theirs_sha256
                .filter(|_| digest != conflict.ours_sha256)
            {
                (base, place) = (theirs, conflict.theirs.clone());
            }
        }
        let edited = digest != base;
        match rebase.layers.upstream.tree.get(path) {
            None if edited => rebase.report.skipped(path),
            None => rebase.remove(path)?,
            Some(_) if !edited && rebase.sparsify => rebase.remove(path)?,
            Some(theirs) if !edited => {
                if theirs.digest != digest {
                    let after = After {
                        digest: theirs.digest,
                        body: theirs.body.clone(),
                        executable: theirs.executable,
                    };
                    rebase.writes.put(file.clone(), after)?;
                    rebase.report.updated(path);
                }
            }
            Some(theirs) if theirs.digest == base => {}
            Some(theirs) if theirs.digest == digest => {
                if rebase.sparsify {
                    rebase.remove(path)?;
                }
            }
            Some(_) => both.push(Both {
                path: path.clone(),
                file: file.clone(),
                ours,
                base,
                place,
            }),
        }
    }
    merge_all(rebase, both)
}

fn merge_all(rebase: &mut Rebase<'_>, both: Vec<Both>) -> Result<(), Problem> {
    let wanted: Vec<Wanted<'_>> = both
        .iter()
        .map(|file| Wanted {
            path: &file.path,
            digest: file.base,
            place: file.place.as_ref(),
        })
        .collect();
    let source = &rebase.layers.upstream;
    let bases: BTreeMap<RelPath, Vec<u8>> =
        base::find(rebase.context, rebase.module, source, &wanted)?;
    for file in &both {
        let (Some(base), Some(theirs)) = (bases.get(&file.path), source.tree.get(&file.path))
        else {
            continue;
        };
        let theirs_bytes = read::content(theirs)?;
        let texts = (
            std::str::from_utf8(base),
            std::str::from_utf8(&file.ours),
            std::str::from_utf8(&theirs_bytes),
        );
        let merge = match texts {
            (Ok(base), Ok(ours), Ok(theirs)) => Some(merge3(base, ours, theirs, LABELS)),
            _ => None,
        };
        let text = match merge {
            Some(Merge::Clean(text)) if rebase.sparsify && text.as_bytes() == theirs_bytes => {
                rebase.remove(&file.path)?;
                continue;
            }
            Some(Merge::Clean(text)) => Some(text),
            Some(Merge::Conflict {
                text_with_markers, ..
            }) => {
                rebase.conflict(file, theirs.digest);
                Some(text_with_markers)
            }
            // Bytes cannot be merged; the overlay keeps its own until the user chooses.
            None => {
                rebase.conflict(file, theirs.digest);
                None
            }
        };
        if let Some(text) = text {
            let after = After::of(text.into_bytes(), read::is_executable(&file.file));
            rebase.writes.put(file.file.clone(), after)?;
            rebase.report.updated(&file.path);
        }
    }
    Ok(())
}

impl Rebase<'_> {
    fn remove(&mut self, path: &RelPath) -> Result<(), Problem> {
        if let Some(file) = self.overlay.files.get(path) {
            self.writes.remove(file.clone())?;
        }
        self.report.deleted(path);
        Ok(())
    }

    fn conflict(&mut self, file: &Both, theirs: Digest) {
        self.report.conflict(&file.path);
        let conflict = Conflict {
            ours_sha256: Digest::of(&file.ours),
            base_sha256: file.base,
            base: file.place.clone(),
            theirs_sha256: Some(theirs),
            theirs: self.theirs.clone(),
        };
        self.after.conflicts.insert(file.path.clone(), conflict);
    }
}
