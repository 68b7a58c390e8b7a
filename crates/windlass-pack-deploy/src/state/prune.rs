//! Dropping old snapshots and the contents that are no longer needed.
//!
//! Never taken: what is in force somewhere, the event that says so, and (unless asked) the
//! snapshots that keep originals replaced by an adopt.

use std::{collections::HashSet, ops::ControlFlow};

use windlass_pack_model::{fault, snapshot::compare_ids};
use windlass_types::{Problem, Timestamp};

use crate::state::{
    files::remove_if_there,
    head::{HeadFinder, Originals},
    journal::{self, Journal},
    pack_state::PackState,
    prepare,
    snapshot::references,
};

/// Which snapshots may go. With both limits a snapshot must be beyond each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PruneRule {
    /// Keep this many of the newest.
    pub keep: Option<usize>,
    /// Keep what is younger than this moment.
    pub older_than: Option<Timestamp>,
    /// Also take snapshots that keep originals.
    pub include_originals: bool,
    /// Only say what would go.
    pub dry_run: bool,
}

/// What was pruned.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pruned {
    /// The snapshots that went, oldest first.
    pub removed: Vec<String>,
    /// Those that the limits would have let go, and why they stay.
    pub kept: Vec<(String, Kept)>,
    /// Blobs that went.
    pub blobs: u64,
    /// How many bytes were freed.
    pub bytes: u64,
    /// What a person should know.
    pub warnings: Vec<String>,
}

/// Why a snapshot stays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kept {
    /// It is the head of a root, or says which snapshot is.
    Head,
    /// It keeps originals that an adopt replaced.
    Originals,
}

impl PackState {
    /// Removes snapshots by a rule, and every content that is not needed afterwards.
    pub fn prune(&self, rule: &PruneRule) -> Result<Pruned, Problem> {
        if rule.keep.is_none() && rule.older_than.is_none() {
            return Err(fault::unexpected(
                "invalid_arguments",
                &["retry_with_keep", "retry_with_older_than"],
                "nothing says which snapshots to prune: give a number to keep, an age, or both",
            ));
        }
        // No process may be storing contents that no snapshot names yet.
        let alone = match rule.dry_run {
            true => None,
            false => Some(self.lock_blobs(true)?),
        };
        let survey = self.survey()?;
        let mut pruned = self.choose(rule, &survey);
        if !rule.dry_run {
            for id in &pruned.removed {
                self.remove_snapshot(id)?;
            }
        }
        self.sweep(rule.dry_run, &survey, &mut pruned)?;
        drop(alone);
        Ok(pruned)
    }

    fn survey(&self) -> Result<Survey, Problem> {
        let mut heads = HeadFinder::default();
        let mut originals = Originals::default();
        let mut ids = Vec::new();
        let warnings = self.walk_back(|snapshot| {
            heads.see(&snapshot, self);
            originals.see(&snapshot);
            ids.push(snapshot.id);
            ControlFlow::Continue(())
        })?;
        Ok(Survey {
            ids,
            heads: heads.needed(),
            originals: originals.finish(),
            warnings,
        })
    }

    fn choose(&self, rule: &PruneRule, survey: &Survey) -> Pruned {
        let mut pruned = Pruned {
            warnings: survey.warnings.clone(),
            ..Pruned::default()
        };
        for (index, id) in survey.ids.iter().enumerate() {
            let recent = rule.keep.is_some_and(|keep| index < keep);
            let young = rule.older_than.is_some_and(|moment| !is_before(id, moment));
            if recent || young {
                continue;
            }
            if survey.heads.contains(id) {
                pruned.kept.push((id.clone(), Kept::Head));
            } else if survey.originals.contains(id) && !rule.include_originals {
                pruned.kept.push((id.clone(), Kept::Originals));
            } else {
                pruned.bytes += self.own_bytes(id);
                pruned.removed.push(id.clone());
            }
        }
        pruned.removed.reverse();
        pruned.kept.reverse();
        pruned
    }

    fn remove_snapshot(&self, id: &str) -> Result<(), Problem> {
        let record = self.home().snapshot_file(id);
        // The record first: without it the trees are only leftovers.
        remove_if_there(&record).map_err(|error| fault::io("remove", &record, &error))?;
        let trees = self.home().snapshots().join(id);
        match std::fs::remove_dir_all(&trees) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                Err(fault::io("remove", &trees, &error))
            }
            _ => Ok(()),
        }
    }

    /// Removes blobs that no remaining snapshot and no journal names.
    fn sweep(&self, dry_run: bool, survey: &Survey, pruned: &mut Pruned) -> Result<(), Problem> {
        if !survey.warnings.is_empty() {
            pruned.warnings.push(
                "stored contents were not swept: a snapshot that cannot be read may need them"
                    .to_owned(),
            );
            return Ok(());
        }
        let mut needed = HashSet::new();
        for path in journal::list(self)? {
            if let Some(journal) = Journal::read(&path)? {
                needed.extend(prepare::digests(&journal));
            }
        }
        let gone: HashSet<&String> = pruned.removed.iter().collect();
        self.walk_back(|snapshot| {
            if !gone.contains(&snapshot.id) {
                needed.extend(references(&snapshot));
            }
            ControlFlow::Continue(())
        })?;
        if !dry_run {
            journal::drop_unfinished(self)?;
        }
        let swept = self.blobs().sweep(&needed, dry_run)?;
        pruned.blobs = swept.blobs;
        pruned.warnings.extend(swept.warnings);
        pruned.bytes += swept.bytes;
        Ok(())
    }
}

/// What there is.
struct Survey {
    /// Every readable snapshot, newest first.
    ids: Vec<String>,
    heads: HashSet<String>,
    originals: HashSet<String>,
    warnings: Vec<String>,
}

/// Whether a snapshot was made before a moment: its id is the time in nanoseconds.
fn is_before(id: &str, moment: Timestamp) -> bool {
    let nanoseconds = i128::from(moment.as_millis()) * 1_000_000;
    compare_ids(id, &nanoseconds.max(0).to_string()).is_lt()
}
