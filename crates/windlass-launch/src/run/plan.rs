//! FACTS_READY → PLAN_READY: which pages there will be.

use std::collections::BTreeSet;

use serde_json::json;
use windlass_engine::run::RunError;
use windlass_launch_model::{
    HugoFacts, LaunchState, PagePlan, PatchBundle, RepoInventory, ResolvedConfig, SectionState,
    SiteContext, Worker,
};
use windlass_launch_pages::{PlanInput, PlanSettings, gates::SiteTree, plan_pages, url::UrlRules};
use windlass_types::{Problem, code};

use super::{
    Launch,
    clone::{Inputs, blocking},
    record::{Done, Item},
};
use crate::fault::{self, FAILURE_CODE};

impl Launch<'_> {
    pub(super) async fn plan(&mut self, at: &Inputs) -> Result<(), RunError> {
        let names = [
            "product_facts.json",
            "evidence_map.json",
            "snippet_catalog.json",
        ];
        let inputs = self.hashes(&names)?;
        let facts = self.artifact(names[0])?;
        let evidence = self.artifact(names[1])?;
        let snippets = self.artifact(names[2])?;
        let inventory = self.artifact("repo_inventory.json")?;
        let context = self.artifact("site_context.json")?;
        let resolved = self.artifact("resolved_config.json")?;
        let hugo = self.artifacts.get("hugo_facts.json").cloned();
        let item = Item {
            worker: Worker::Planner,
            scope: "plan",
            inputs,
            message: "the pages are planned".to_owned(),
        };
        let tools = self.tools.clone();
        self.work(item, async |_| {
            let facts = tools.read_json(&facts).await?;
            let evidence = tools.read_json(&evidence).await?;
            let snippets = tools.read_json(&snippets).await?;
            let inventory: RepoInventory = tools.read_json(&inventory).await?;
            let context: SiteContext = tools.read_json(&context).await?;
            let resolved: ResolvedConfig = tools.read_json(&resolved).await?;
            let hugo: Option<HugoFacts> = match &hugo {
                Some(hugo) => Some(tools.read_json(hugo).await?),
                None => None,
            };
            let (own, site_sha) = (tools.clone(), at.site_sha.clone());
            let busy = tools.folder.busy().await;
            let planned = blocking(move || {
                let _busy = busy;
                own.worktree(&site_sha, &PatchBundle::default())?;
                let site = SiteTree::load(&own.folder.site())
                    .map_err(|error| Problem::internal("site worktree", error))?;
                let site_paths: Vec<String> = site.paths().map(str::to_owned).collect();
                plan_pages(&PlanInput {
                    facts: &facts,
                    evidence: &evidence,
                    snippets: &snippets,
                    inventory: &inventory,
                    site: &context,
                    urls: &UrlRules::of(&context, hugo.as_ref()),
                    site_paths: &site_paths,
                    settings: &PlanSettings::of(own.accepted.config(), &resolved),
                })
            })
            .await?;
            let kept = tools.keep_json("page_plan.json", &planned.plan).await?;
            if let Some(issue) = planned.issues.iter().find(|issue| issue.severity.fails()) {
                return Err(Problem::new(&code::STEP_FAILED, issue.message.clone())
                    .with(FAILURE_CODE, "PLAN_BLOCKED")
                    .with("issue", fault::issue_line(issue)));
            }
            Ok(Done::new(vec![kept], ()))
        })
        .await?;
        let plan: PagePlan = self.load("page_plan.json").await?;
        let sections: BTreeSet<_> = plan.pages.iter().map(|page| page.section).collect();
        for section in sections {
            self.section(section, SectionState::Outlined);
        }
        self.enter(LaunchState::PlanReady)?;
        self.commit().await?;
        self.flush_telemetry(None).await
    }

    /// The digests of artifacts that work depends on.
    pub(super) fn hashes(&self, names: &[&str]) -> Result<serde_json::Value, Problem> {
        let mut inputs = json!({});
        for name in names {
            inputs[*name] = json!(self.artifact(name)?.sha256);
        }
        Ok(inputs)
    }
}
