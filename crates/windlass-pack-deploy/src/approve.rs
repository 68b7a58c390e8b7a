//! From what could be done to what may be done: the user's word on files that are not pack's.

use std::path::Path;

use windlass_pack_model::fault;
use windlass_types::Problem;

use crate::{
    change::{PlanChange, posix, shown},
    event::{EventPlan, RootAfter, Taken, manifest_fate},
    pattern::PathPattern,
    plan::{DeployPlan, Purpose, RootPlan},
    shared::Theirs,
    shared_files::shared_change,
};

/// How many paths a refusal names.
const SAMPLES: usize = 20;

/// Which files that are not pack's it may take over.
#[derive(Clone, Debug, Default)]
pub struct Adoption {
    /// All of them.
    pub all: bool,
    /// Those that match.
    pub paths: Vec<PathPattern>,
    /// Whether the others are left out; otherwise they stop everything.
    pub skip_others: bool,
}

impl Adoption {
    /// None: a plan that needs one is refused.
    pub fn none() -> Self {
        Self::default()
    }

    /// All.
    pub fn all() -> Self {
        Self {
            all: true,
            ..Self::default()
        }
    }

    /// Whether a file may be taken over.
    pub fn covers(&self, path: &Path) -> bool {
        self.all || self.paths.iter().any(|pattern| pattern.matches(path))
    }
}

impl DeployPlan {
    /// Decides what may be done. Without the user's consent a plan that overwrites another
    /// owner's file is refused as a whole, or applied without that file.
    pub fn approve(&self, adoption: &Adoption) -> Result<EventPlan, Problem> {
        let mut refused: Vec<&PlanChange> = self
            .adopt_updates()
            .filter(|change| !adoption.covers(&change.path))
            .collect();
        if !refused.is_empty() && !adoption.skip_others {
            refused.sort_by(|left, right| left.path.cmp(&right.path));
            return Err(adopt_required(&refused));
        }
        let mut approved = EventPlan::new(self.purpose.kind());
        approved.left_out = refused
            .iter()
            .map(|change| (change.target, change.path.clone()))
            .collect();
        approved.local_edits = self.local_edits.clone();
        approved.warnings = self.warnings.clone();
        approved.roots = self
            .roots
            .iter()
            .map(|root| root_after(root, adoption))
            .collect();
        approved.changes = self
            .changes
            .iter()
            .filter(|change| change.keys.is_empty())
            .filter(|change| !change.is_adopt() || adoption.covers(&change.path))
            .cloned()
            .collect();
        self.approve_shared(adoption, &mut approved)?;
        self.take_identical(adoption, &mut approved);
        for (root, plan) in approved.roots.iter_mut().zip(&self.roots) {
            root.sort();
            root.manifest = manifest_fate(root, plan.active, plan.wanted);
        }
        if self.purpose == Purpose::Bootstrap {
            // The record names only what it was about, so that a rollback to it stays there.
            let wanted = self.roots.iter().map(|plan| plan.wanted);
            let mut wanted = wanted.collect::<Vec<_>>().into_iter();
            approved.roots.retain(|_| wanted.next().unwrap_or(false));
        }
        Ok(approved.finish())
    }

    fn approve_shared(&self, adoption: &Adoption, approved: &mut EventPlan) -> Result<(), Problem> {
        for shared in &self.shared {
            let theirs = if adoption.covers(&shared.file.path) {
                Theirs::Adopt
            } else if adoption.skip_others {
                Theirs::Leave
            } else {
                Theirs::Overwrite
            };
            let outcome = match theirs {
                Theirs::Overwrite => shared.outcome.clone(),
                other => shared.file.resolve(other)?,
            };
            approved.takes_keys |= theirs == Theirs::Adopt && outcome.identical;
            if let Some(change) = shared_change(&shared.file, shared.found, &outcome) {
                approved.changes.push(change);
            }
            approved.roots[shared.root].keys.extend(outcome.owned);
        }
        Ok(())
    }

    fn take_identical(&self, adoption: &Adoption, approved: &mut EventPlan) {
        for (target, path, content) in self.identical() {
            if !content.adopt || adoption.covers(&path) {
                approved.taken.push(Taken {
                    target,
                    path,
                    digest: content.digest,
                    executable: content.executable,
                    body: content.body.clone(),
                });
            }
        }
    }
}

fn root_after(plan: &RootPlan, adoption: &Adoption) -> RootAfter {
    RootAfter {
        files: plan
            .entries
            .iter()
            .filter(|entry| {
                !entry.adopt || adoption.covers(&entry.file.path.under(&plan.owned.path))
            })
            .map(|entry| entry.file.clone())
            .collect(),
        keys: plan.keys_kept.clone(),
        scan_extras: plan.scan_extras,
        ..RootAfter::emptied(&plan.owned)
    }
}

fn adopt_required(refused: &[&PlanChange]) -> Problem {
    let samples: Vec<String> = refused
        .iter()
        .take(SAMPLES)
        .map(|change| shown(&change.path))
        .collect();
    let posix_paths: Vec<String> = samples.iter().map(|path| posix(path)).collect();
    let first = samples.first().cloned().unwrap_or_default();
    let message = match refused.len() {
        1 => format!("{first} exists, differs and is not managed; --adopt takes it over"),
        count => format!(
            "{count} files exist, differ and are not managed, {first} among them; --adopt takes \
             them over"
        ),
    };
    fault::adopt_required(message)
        .with("flag", "--adopt")
        .with("adopt_updates", refused.len())
        .with("sample_paths", samples)
        .with("sample_paths_posix", posix_paths)
}
