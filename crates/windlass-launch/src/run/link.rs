//! DRAFT_READY → LINKING: the drafts become patches of the site.

use serde::{Deserialize, Serialize};
use serde_json::json;
use windlass_engine::run::RunError;
use windlass_launch_model::{
    ConflictReason, LaunchState, PagePlan, PatchBundle, PatchConflicts, Section, SectionState,
    Worker,
};
use windlass_launch_pages::{SiteDir, build_bundle, diff_report, pr_plan};
use windlass_types::{ArtifactRef, Problem};

use super::{
    Launch, Tools,
    clone::{Inputs, blocking},
    record::{Done, Item},
};
use crate::{event, fault};

/// What linking says about sections.
#[derive(Debug, Serialize, Deserialize)]
struct Linked {
    blocked: Vec<Section>,
    patches: usize,
    /// Pages that could not be patched in. Absent in the journals of earlier versions.
    #[serde(default = "unknown")]
    conflicts: usize,
}

const fn unknown() -> usize {
    1
}

impl Launch<'_> {
    pub(super) async fn link(&mut self, inputs: &Inputs) -> Result<(), RunError> {
        self.enter(LaunchState::Linking)?;
        self.commit().await?;
        let plan: PagePlan = self.load("page_plan.json").await?;
        let drafts = self.draft_artifacts(&plan)?;
        let item = Item {
            worker: Worker::Linker,
            scope: "link",
            inputs: self.hashes(&["draft_manifest.json"])?,
            message: "the drafts are patched into the site".to_owned(),
        };
        let (tools, site_sha) = (self.tools.clone(), &inputs.site_sha);
        let linked: Linked = self
            .work(item, async |_| {
                let drafts = tools.drafts(&plan, &drafts).await?;
                let busy = tools.folder.busy().await;
                let (own, at) = (tools.clone(), site_sha.clone());
                let bundled = blocking(move || {
                    let _busy = busy;
                    own.worktree(&at, &PatchBundle::default())?;
                    let site = SiteDir::open(&own.folder.site())?;
                    let allowed = own.accepted.allowed();
                    Ok(build_bundle(&drafts, &site, &|path| {
                        allowed.admit(path).is_ok()
                    }))
                })
                .await?;
                let outside = bundled
                    .conflicts
                    .iter()
                    .find(|found| found.conflict_reason == ConflictReason::PathNotAllowed);
                if let Some(found) = outside {
                    return Err(fault::path_not_allowed(
                        &found.path,
                        &found.actual_state,
                        &found.patch_id,
                    ));
                }
                let unsettled = bundled.conflicts.len();
                let mut kept = tools.keep_bundle(site_sha, &bundled.bundle).await?;
                let conflicts = PatchConflicts {
                    schema_version: "1.0".to_owned(),
                    conflicts: bundled.conflicts,
                };
                kept.push(tools.keep_json("patch_conflicts.json", &conflicts).await?);
                let linked = Linked {
                    blocked: bundled.blocked,
                    patches: bundled.bundle.patches.len(),
                    conflicts: unsettled,
                };
                Ok(Done::new(kept, linked))
            })
            .await?;
        let sections: Vec<Section> = self.sections.keys().copied().collect();
        for section in sections {
            let planned = plan.pages.iter().any(|page| page.section == section);
            if linked.blocked.contains(&section) {
                self.section(section, SectionState::Blocked);
            } else if planned {
                self.section(section, SectionState::MergedInWorktree);
            }
        }
        self.commit().await?;
        if linked.patches == 0 && linked.conflicts == 0 {
            return self.end_up_to_date().await;
        }
        Ok(())
    }

    /// The site already says everything: there is nothing to validate and no pull request to open.
    async fn end_up_to_date(&mut self) -> Result<(), RunError> {
        let (from, to) = (self.state, LaunchState::Cancelled);
        self.state = to;
        self.transitions += 1;
        let data = json!({
            "from_state": from,
            "to_state": to,
            "problem": fault::up_to_date(),
            "message": "the site is up to date: there is nothing to change",
        });
        self.queue(
            format!("state:{}", self.transitions),
            event::RUN_STATE_CHANGED,
            data,
        );
        self.commit().await?;
        Err(RunError::Cancelled)
    }
}

impl Tools {
    /// Applies a bundle and keeps it, with what shows its effect.
    pub(super) async fn keep_bundle(
        &self,
        site_sha: &str,
        bundle: &PatchBundle,
    ) -> Result<Vec<ArtifactRef>, Problem> {
        let busy = self.folder.busy().await;
        let (own, at, applied) = (self.clone(), site_sha.to_owned(), bundle.clone());
        let changes = blocking(move || {
            let _busy = busy;
            let worktree = own.worktree(&at, &applied)?;
            own.changes(&worktree)
        })
        .await?;
        let budgets = &self.accepted.config().budgets;
        windlass_launch_pages::budget::check_changes(&changes, budgets).map_err(|spent| {
            let problem = fault::over_budget(spent.name, spent.limit, spent.actual);
            match spent.path {
                Some(path) => problem.with("path", path),
                None => problem,
            }
        })?;
        let slug = &self.accepted.config().product_slug;
        Ok(vec![
            self.keep_json("patch_bundle.json", bundle).await?,
            self.keep_json("pr_plan.json", &pr_plan(site_sha, slug, &changes))
                .await?,
            self.keep_text("diff_report.md", "text/markdown", diff_report(&changes))
                .await?,
        ])
    }
}
