//! `page_plan.json`: which pages are written, and what each must hold.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::Section;

/// What a page is for.
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Serialize,
    Deserialize,
    schemars::JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum PageRole {
    /// The first page of a section or product.
    Landing,
    /// Lists its children and shows no code.
    Toc,
    /// Covers every workflow.
    ComprehensiveGuide,
    /// One feature, shown.
    FeatureShowcase,
    /// Symbols.
    Reference,
    /// News.
    Post,
    /// A question and its answer.
    Article,
}

/// A page to be written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Page {
    /// `<section>/<slug>`.
    pub page_id: String,
    /// Its section.
    pub section: Section,
    /// Its slug.
    pub slug: String,
    /// Its locale.
    pub locale: String,
    /// The file, relative to the site.
    pub output_path: String,
    /// The address on the site.
    pub url_path: String,
    /// The title.
    pub title: String,
    /// What a reader comes for.
    pub purpose: String,
    /// What it is for.
    pub page_role: PageRole,
    /// Headings that must be there, in order.
    pub required_headings: Vec<String>,
    /// Claims that must be there.
    pub required_claim_ids: Vec<String>,
    /// Tags one of whose snippets must be there.
    pub required_snippet_tags: Vec<String>,
    /// Other pages it links to, by id.
    pub cross_links: Vec<String>,
    /// Words people search for.
    pub seo_keywords: Vec<String>,
    /// What it must not mention.
    pub forbidden_topics: Vec<String>,
    /// The template it is drafted from.
    pub template: String,
    /// How much and what it covers.
    pub content_strategy: ContentStrategy,
}

/// How much a page holds and what it covers.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ContentStrategy {
    /// How many claims.
    pub claim_quota: Quota,
    /// Its children, by id.
    #[serde(default)]
    pub child_pages: Vec<String>,
    /// The workflows it covers.
    #[serde(default)]
    pub scenario_coverage: Vec<String>,
}

/// A range.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema,
)]
#[serde(deny_unknown_fields)]
pub struct Quota {
    /// At least.
    pub min: u32,
    /// At most.
    pub max: u32,
}

/// `page_plan.json`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PagePlan {
    /// The version of this format.
    pub schema_version: String,
    /// `minimal`, `standard` or `rich`.
    pub launch_tier: String,
    /// Why the tier is not the one asked for.
    pub tier_adjustments: Vec<String>,
    /// `claims`, `snippets`, `api_symbols`, `score`.
    pub evidence_volume: BTreeMap<String, u64>,
    /// Pages per section.
    pub effective_quotas: BTreeMap<Section, Quota>,
    /// The pages, by section and path.
    pub pages: Vec<Page>,
}

impl PagePlan {
    /// The page of an id.
    pub fn page(&self, page_id: &str) -> Option<&Page> {
        self.pages.iter().find(|page| page.page_id == page_id)
    }

    /// The pages of a section, in the plan's order.
    pub fn section(&self, section: Section) -> impl Iterator<Item = &Page> {
        self.pages
            .iter()
            .filter(move |page| page.section == section)
    }
}
