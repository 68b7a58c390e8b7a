//! PLAN_READY → DRAFTING → DRAFT_READY: every section is written, then looked through.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::json;
use windlass_engine::run::RunError;
use windlass_launch_model::{
    FrontmatterContract, LaunchState, PagePlan, ReviewReport, Section, SectionState, SiteContext,
    SnippetCatalog, Worker, artifact::draft_name,
};
use windlass_launch_pages::{
    Draft, DraftInput, ReviewInput, Ruleset, draft_page, evidence::Material, manifest, review,
};
use windlass_types::{ArtifactRef, Problem};

use super::{
    Launch, Tools,
    clone::{Inputs, blocking},
    record::{Done, Item, counted},
};

const SOURCES: [&str; 6] = [
    "page_plan.json",
    "product_facts.json",
    "evidence_map.json",
    "snippet_catalog.json",
    "frontmatter_contract.json",
    "site_context.json",
];

/// What pages are written from.
#[derive(Clone)]
pub(super) struct Sources(BTreeMap<&'static str, ArtifactRef>);

impl Sources {
    async fn read<T: serde::de::DeserializeOwned>(
        &self,
        tools: &Tools,
        name: &str,
    ) -> Result<T, Problem> {
        match self.0.get(name) {
            Some(artifact) => tools.read_json(artifact).await,
            None => Err(Problem::internal("launch", format!("{name} is not there"))),
        }
    }

    /// Drafts pages of the plan.
    pub(super) async fn draft(
        &self,
        tools: &Tools,
        date: &str,
        wanted: impl Fn(&windlass_launch_model::Page) -> bool + Send + 'static,
    ) -> Result<Vec<Draft>, Problem> {
        let plan: PagePlan = self.read(tools, "page_plan.json").await?;
        let facts = self.read(tools, "product_facts.json").await?;
        let evidence = self.read(tools, "evidence_map.json").await?;
        let snippets: SnippetCatalog = self.read(tools, "snippet_catalog.json").await?;
        let contract: FrontmatterContract = self.read(tools, "frontmatter_contract.json").await?;
        let context: SiteContext = self.read(tools, "site_context.json").await?;
        let (tools, date) = (tools.clone(), date.to_owned());
        blocking(move || {
            let config = tools.accepted.config();
            let kind = context.site_kind;
            let material =
                Material::gather(&facts, &evidence, &snippets, kind, config.allow_inference);
            let input = DraftInput {
                plan: &plan,
                material: &material,
                contract: &contract,
                site_kind: kind,
                ruleset: &Ruleset::load(Some(&config.ruleset_version))?,
                date: &date,
                canonical_urls: &config.canonical_urls.by_name(),
                max_lines: config.budgets.max_lines_per_file,
            };
            plan.pages
                .iter()
                .filter(|page| wanted(page))
                .map(|page| draft_page(page, &input))
                .collect()
        })
        .await
    }
}

impl Launch<'_> {
    pub(super) async fn draft(&mut self, inputs: &Inputs) -> Result<(), RunError> {
        self.enter(LaunchState::Drafting)?;
        self.commit().await?;
        let plan: PagePlan = self.load("page_plan.json").await?;
        let sections: BTreeSet<Section> = plan.pages.iter().map(|page| page.section).collect();
        let sources = self.sources()?;
        for section in sections {
            self.draft_section(section, &plan, &sources, inputs).await?;
        }
        self.review(&plan, &sources).await?;
        self.enter(LaunchState::DraftReady)?;
        self.commit().await?;
        self.flush_telemetry(None).await
    }

    fn sources(&self) -> Result<Sources, Problem> {
        let read = |name: &&'static str| Ok((*name, self.artifact(name)?));
        SOURCES
            .iter()
            .map(read)
            .collect::<Result<_, Problem>>()
            .map(Sources)
    }

    async fn draft_section(
        &mut self,
        section: Section,
        plan: &PagePlan,
        sources: &Sources,
        inputs: &Inputs,
    ) -> Result<(), RunError> {
        let written = self.rewritten(section, plan, sources, inputs).await?;
        let pages = plan.pages.iter().filter(|page| page.section == section);
        let item = Item {
            worker: Worker::Drafter,
            scope: section.as_str(),
            inputs: json!({
                "sources": self.hashes(&SOURCES)?,
                "rewritten": written,
            }),
            message: format!(
                "{}: {} written",
                section.as_str(),
                counted(pages.count(), "page")
            ),
        };
        let tools = self.tools.clone();
        self.work(item, async |_| {
            let drafts = sources
                .draft(&tools, &inputs.date, move |page| page.section == section)
                .await?;
            let mut kept = Vec::new();
            for draft in drafts {
                let name = draft_name(section, &draft.output_path);
                let text = match written.get(&draft.page_id) {
                    Some(rewritten) => {
                        let bytes = tools.read(rewritten).await?;
                        String::from_utf8_lossy(&bytes).into_owned()
                    }
                    None => draft.text,
                };
                kept.push(tools.keep_text(&name, "text/markdown", text).await?);
            }
            Ok(Done::new(kept, ()))
        })
        .await?;
        self.section(section, SectionState::Drafted);
        self.commit().await
    }

    async fn review(&mut self, plan: &PagePlan, sources: &Sources) -> Result<(), RunError> {
        let drafts = self.draft_artifacts(plan)?;
        let item = Item {
            worker: Worker::Drafter,
            scope: "review",
            inputs: json!(drafts.iter().map(|(_, a)| a.sha256).collect::<Vec<_>>()),
            message: "the drafts are looked through".to_owned(),
        };
        let tools = self.tools.clone();
        self.work(item, async |_| {
            let drafts = tools.drafts(plan, &drafts).await?;
            let mut kept = vec![
                tools
                    .keep_json("draft_manifest.json", &manifest(&drafts))
                    .await?,
            ];
            let report: ReviewReport = if tools.accepted.config().review_enabled {
                let facts: windlass_launch_model::ProductFacts =
                    sources.read(&tools, "product_facts.json").await?;
                let ids = facts.claims.iter().map(|claim| claim.claim_id.clone());
                let ids: BTreeSet<String> = ids.collect();
                let contract = sources.read(&tools, "frontmatter_contract.json").await?;
                let snippets = sources.read(&tools, "snippet_catalog.json").await?;
                review(
                    &drafts,
                    &ReviewInput {
                        plan,
                        contract: &contract,
                        snippets: &snippets,
                        claim_ids: &ids,
                    },
                )
            } else {
                return Ok(Done::new(kept, ()));
            };
            kept.push(tools.keep_json("review_report.json", &report).await?);
            Ok(Done::new(kept, ()))
        })
        .await?;
        self.commit().await
    }

    /// The drafts of the plan, page by page.
    pub(super) fn draft_artifacts(
        &self,
        plan: &PagePlan,
    ) -> Result<Vec<(String, ArtifactRef)>, Problem> {
        plan.pages
            .iter()
            .map(|page| {
                let name = draft_name(page.section, &page.output_path);
                Ok((page.page_id.clone(), self.artifact(&name)?))
            })
            .collect()
    }
}

impl Tools {
    /// Reads drafts back.
    pub(super) async fn drafts(
        &self,
        plan: &PagePlan,
        artifacts: &[(String, ArtifactRef)],
    ) -> Result<Vec<Draft>, Problem> {
        let mut drafts = Vec::with_capacity(artifacts.len());
        for (page_id, artifact) in artifacts {
            let Some(page) = plan.pages.iter().find(|page| page.page_id == *page_id) else {
                continue;
            };
            let bytes = self.read(artifact).await?;
            drafts.push(Draft {
                page_id: page_id.clone(),
                section: page.section,
                output_path: page.output_path.clone(),
                text: String::from_utf8_lossy(&bytes).into_owned(),
            });
        }
        Ok(drafts)
    }
}
