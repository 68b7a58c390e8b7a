//! `evolve propose`: edits of deployed files become changes of overlays.

use std::collections::{BTreeMap, BTreeSet};

use windlass_pack_deploy::Disk;
use windlass_pack_model::{Desired, OverlayKind, RelPath, Target, selection::find_module, suggest};
use windlass_types::Problem;

use crate::evolve::{
    baseline,
    branch::{check_branch, default_name},
    context::Context,
    layers::Layers,
    locate::overlay_path,
    mapping::{Mapping, Outcome},
    proposal::{Candidate, Proposal, ProposeSummary},
    scope::Scope,
    skip::{SkipReason, SkippedItem, Skipping},
    survey::{Edit, survey},
    writes::{Writes, relative_files},
};

/// What to propose, and where.
#[derive(Clone, Copy, Debug, Default)]
pub struct ProposeRequest<'a> {
    /// Only the edits of one module.
    pub module_id: Option<&'a str>,
    /// Into which overlays.
    pub scope: Scope,
    /// The branch, when the user names it.
    pub branch: Option<&'a str>,
}

/// Finds the edits and what the overlays should hold. Writes nothing.
pub fn propose(
    context: &Context<'_>,
    desired: &Desired,
    disk: &Disk,
    request: ProposeRequest<'_>,
) -> Result<Proposal, Problem> {
    request.branch.map(check_branch).transpose()?;
    let skipping = Skipping {
        caller: context.caller,
        scope: request.scope,
    };
    let found = survey(desired, disk, request.module_id, skipping)?;
    let mut taking = Taking {
        context,
        scope: request.scope,
        skipping,
        writes: Writes::default(),
        candidates: Vec::new(),
        skipped: found.skipped,
        warnings: found.warnings,
    };
    if let Some(id) = request.module_id {
        taking.warn_of_unknown(id);
    }
    for (module_id, files) in by_module(&found.edits) {
        taking.module(module_id, &files)?;
    }
    let Taking {
        writes,
        mut candidates,
        mut skipped,
        mut warnings,
        ..
    } = taking;
    candidates.sort_by(|left, right| {
        (&left.module_id, left.path.as_os_str(), left.target).cmp(&(
            &right.module_id,
            right.path.as_os_str(),
            right.target,
        ))
    });
    skipped.sort_by(|left, right| {
        (left.reason.as_str(), left.target, left.path.as_os_str()).cmp(&(
            right.reason.as_str(),
            right.target,
            right.path.as_os_str(),
        ))
    });
    warnings.dedup();
    let modules: BTreeSet<&str> = match request.module_id {
        Some(only) => BTreeSet::from([only]),
        None => candidates
            .iter()
            .map(|candidate| candidate.module_id.as_str())
            .collect(),
    };
    let branch = match request.branch {
        Some(branch) => branch.to_owned(),
        None => default_name(request.scope, modules, context.now),
    };
    let writes = writes.finish();
    Ok(Proposal {
        scope: request.scope,
        branch,
        summary: summary(&candidates, &skipped, found.unreadable),
        candidates,
        skipped,
        warnings,
        files: relative_files(context.input.repo, &writes),
        writes,
    })
}

/// The edits by module and file, in the order of the outputs.
fn by_module<'a, 'b>(
    edits: &'b [Edit<'a>],
) -> BTreeMap<&'a str, BTreeMap<&'a RelPath, Vec<&'b Edit<'a>>>> {
    let mut modules: BTreeMap<_, BTreeMap<_, Vec<_>>> = BTreeMap::new();
    for edit in edits {
        modules
            .entry(edit.origin.module_id.as_str())
            .or_default()
            .entry(&edit.origin.module_path)
            .or_default()
            .push(edit);
    }
    modules
}

struct Taking<'a> {
    context: &'a Context<'a>,
    scope: Scope,
    skipping: Skipping<'a>,
    writes: Writes,
    candidates: Vec<Candidate>,
    skipped: Vec<SkippedItem>,
    warnings: Vec<String>,
}

impl Taking<'_> {
    fn warn_of_unknown(&mut self, module_id: &str) {
        let manifest = self.context.input.manifest;
        if manifest.module(module_id).is_none() {
            let ids = manifest.modules.iter().map(|module| module.id.as_str());
            self.warnings.push(format!(
                "agentpack.yaml has no module {module_id:?}{}",
                suggest::hint(module_id, ids)
            ));
        }
    }

    fn module(
        &mut self,
        module_id: &str,
        files: &BTreeMap<&RelPath, Vec<&Edit<'_>>>,
    ) -> Result<(), Problem> {
        let module = find_module(self.context.input.manifest, module_id)?;
        let layers = Layers::open(self.context, module)?;
        let overlay_dir = overlay_path(&self.context.input, module_id, self.scope)?.overlay_dir;
        let mapping = Mapping {
            layers: &layers,
            scope: self.scope,
            overlay_dir: &overlay_dir,
        };
        let mut any_written = false;
        for (path, edits) in files {
            match mapping.take(path, edits, &mut self.writes)? {
                Outcome::Written { hidden_by } => {
                    any_written = true;
                    self.propose(edits);
                    if let Some(by) = hidden_by {
                        self.warnings.push(format!(
                            "the {by} overlay of module {module_id} replaces {path}, so a change of the {} overlay does not show here; propose into scope {by} to change what is deployed",
                            self.scope
                        ));
                    }
                }
                outcome => self.skip(module_id, edits, &outcome),
            }
        }
        let (is_new, kind) = match layers.overlay(self.scope) {
            Some(overlay) => (overlay.is_empty(), overlay.config.overlay_kind),
            None => (true, OverlayKind::Dir),
        };
        if any_written && is_new {
            baseline::complete(
                self.context,
                module,
                &layers.upstream,
                &overlay_dir,
                kind,
                &mut self.writes,
            )?;
        }
        Ok(())
    }

    /// Lists the outputs of edits; of equal sections in several files the first stands for all.
    fn propose(&mut self, edits: &[&Edit<'_>]) {
        let mut sections: Vec<&[u8]> = Vec::new();
        for edit in edits {
            if edit.section {
                if sections.contains(&edit.bytes.as_slice()) {
                    continue;
                }
                sections.push(&edit.bytes);
            }
            self.candidates.push(Candidate {
                module_id: edit.origin.module_id.clone(),
                target: edit.target,
                path: edit.output.clone(),
            });
        }
    }

    fn skip(&mut self, module_id: &str, edits: &[&Edit<'_>], outcome: &Outcome) {
        let targets: BTreeSet<Target> = edits.iter().map(|edit| edit.target).collect();
        let targets: Vec<Target> = targets.into_iter().collect();
        for edit in edits {
            let (target, path) = (edit.target, edit.output.clone());
            let item = match outcome {
                Outcome::Conflict => self.skipping.conflicting(target, path, module_id, &targets),
                Outcome::NotPatchable => self.skipping.not_patchable(target, path, module_id),
                Outcome::Hidden(by) => self.skipping.hidden(target, path, module_id, *by),
                Outcome::Unchanged => {
                    let ids = [module_id.to_owned()];
                    self.skipping.generated(target, path, &ids)
                }
                Outcome::Written { .. } => continue,
            };
            self.skipped.push(item);
        }
    }
}

fn summary(candidates: &[Candidate], skipped: &[SkippedItem], unreadable: u64) -> ProposeSummary {
    let count = |reason| skipped.iter().filter(|item| item.reason == reason).count() as u64;
    ProposeSummary {
        drifted_proposeable: candidates.len() as u64,
        drifted_skipped: skipped.len() as u64,
        skipped_conflicting: count(SkipReason::ConflictingEdits),
        skipped_missing: count(SkipReason::Missing),
        skipped_multi_module: count(SkipReason::MultiModuleOutput),
        skipped_read_error: unreadable,
    }
}
