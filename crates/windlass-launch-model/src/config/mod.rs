//! `run_config`: what a launch is asked to do.
//!
//! [`Accepted::new`] is the only way in: it checks the schema, applies static defaults, checks
//! what a schema cannot express, and hashes the result. Defaults that need the repositories are
//! filled in later, by [`ResolvedConfig::new`].

mod accept;
mod check;
mod choice;
mod hosts;
mod parts;
mod resolve;
mod service;

#[cfg(test)]
mod tests;

use serde::{Deserialize, Serialize};

pub use accept::{Accepted, Caller, LocalRepos, schema};
pub use choice::{
    CiStrictness, CommitAdapter, GitignoreMode, LaunchTier, LocaleMode, PlatformFamily,
    ProductType, SiteKindChoice, TargetPlatform,
};
pub use parts::{
    Budgets, CanonicalUrls, HugoSettings, Ingestion, Localization, Network, RepoHints, SiteLayout,
};
pub use resolve::{Found, LeftOut, ResolveError, ResolvedConfig, ResolvedLocaleMode};
pub use service::{CommitService, Decoding, Llm, LlmFallback, Mcp, PLACEHOLDERS, Telemetry, fill};

use crate::{Profile, Section, ids};

/// The one version of this format.
pub const SCHEMA_VERSION: &str = "1.0";
/// The template sets that are built in, oldest first.
pub const TEMPLATE_SETS: &[&str] = &["1"];
/// The rulesets that are built in, oldest first.
pub const RULESETS: &[&str] = &["1"];
/// The largest integer every JSON reader holds exactly, and so the largest that is taken.
pub(crate) const LARGEST: u64 = 9_007_199_254_740_991;

pub(crate) const SHA_PATTERN: &str = "^[a-f0-9]{40}([a-f0-9]{24})?$";
pub(crate) const ENV_PATTERN: &str = "^[A-Za-z_][A-Za-z0-9_]*$";
const LOCALE_PATTERN: &str = "^[A-Za-z]{2,8}([-_][A-Za-z0-9]{1,8})*$";
/// One line with something to see in it.
const LINE_PATTERN: &str =
    r"^[^\u0000-\u001f\u007f]*[^\u0000-\u0020\u007f][^\u0000-\u001f\u007f]*$";

/// A launch's configuration. As accepted, every static default is filled in.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RunConfig {
    /// The version of this format.
    #[serde(default = "schema_version")]
    #[schemars(extend("const" = SCHEMA_VERSION))]
    pub schema_version: String,
    /// The product's name, as pages show it.
    #[schemars(regex(pattern = LINE_PATTERN), length(max = 200))]
    pub product_name: String,
    /// The product repository: https, ssh, or in profile local a path or file://.
    #[schemars(length(min = 1, max = 2048))]
    pub github_repo_url: String,
    /// The product's commit, in full.
    #[schemars(regex(pattern = SHA_PATTERN))]
    pub github_ref: String,
    /// The site repository, in the forms of github_repo_url.
    #[schemars(length(min = 1, max = 2048))]
    pub site_repo_url: String,
    /// What may be written, relative to the site: files, folders, globs.
    #[schemars(length(min = 1, max = 1000), inner(length(min = 1)))]
    pub allowed_paths: Vec<String>,
    /// The site's commit; without it, the head of the site's default branch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(regex(pattern = SHA_PATTERN))]
    pub site_ref: Option<String>,
    /// A repository with material for workflows; read, never run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 2048))]
    pub workflows_repo_url: Option<String>,
    /// Its commit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(regex(pattern = SHA_PATTERN))]
    pub workflows_ref: Option<String>,
    /// The product's name in paths and branches; without it, derived from product_name.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    #[schemars(regex(pattern = ids::SLUG_PATTERN))]
    pub product_slug: String,
    /// The folder pages of the product share; without it, product_slug.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    #[schemars(regex(pattern = LINE_PATTERN), length(max = 200))]
    pub family: String,
    /// What the product is written for; without it, read from its manifests.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target_platform: Option<TargetPlatform>,
    /// The family of platforms; without it, read from its manifests.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub platform_family: Option<PlatformFamily>,
    /// One language; the same as locales with one entry.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(regex(pattern = LOCALE_PATTERN))]
    pub locale: Option<String>,
    /// The languages pages are placed under; the first is the one that is written.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(
        length(min = 1, max = 50),
        inner(regex(pattern = LOCALE_PATTERN)),
        extend("uniqueItems" = true)
    )]
    pub locales: Vec<String>,
    /// The sections to write; without it, all whose folder is in allowed_paths.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1), extend("uniqueItems" = true))]
    pub required_sections: Option<Vec<Section>>,
    /// What kind of site it is.
    #[serde(default)]
    pub site_kind: SiteKindChoice,
    /// Where pages go.
    #[serde(default)]
    pub site_layout: SiteLayout,
    /// Where the product's pages are once published; checked only where given.
    #[serde(default)]
    pub canonical_urls: CanonicalUrls,
    /// A language model that words sentences; without it, templates do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub llm: Option<Llm>,
    /// Taken for compatibility; the server's own settings win.
    #[serde(default)]
    pub mcp: Mcp,
    /// Where telemetry goes besides the local store.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub telemetry: Option<Telemetry>,
    /// How the result is committed.
    #[serde(default)]
    pub commit_service: CommitService,
    /// The template set.
    #[serde(default = "newest_templates")]
    #[schemars(extend("enum" = TEMPLATE_SETS))]
    pub templates_version: String,
    /// The ruleset.
    #[serde(default = "newest_ruleset")]
    #[schemars(extend("enum" = RULESETS))]
    pub ruleset_version: String,
    /// Whether claims may be concluded and not only read.
    #[serde(default)]
    pub allow_inference: bool,
    /// Whether a person may edit the worktree when nothing fixable is left.
    #[serde(default)]
    pub allow_manual_edits: bool,
    /// Whether drafts are reviewed.
    #[serde(default = "yes")]
    pub review_enabled: bool,
    /// A task card; informational.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(regex(pattern = "^TC-[0-9]{3,4}$"))]
    pub taskcard_id: Option<String>,
    /// How strictly the run is judged.
    #[serde(default)]
    pub validation_profile: Profile,
    /// How strictly gates on form are judged in profile ci.
    #[serde(default)]
    pub ci_strictness: CiStrictness,
    /// How many fix attempts the whole run has.
    #[serde(default = "three")]
    #[schemars(range(max = 4_294_967_295_u64))]
    pub max_fix_attempts: u32,
    /// What the product is; without it, read from the repository.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub product_type: Option<ProductType>,
    /// How much is written.
    #[serde(default)]
    pub launch_tier: LaunchTier,
    /// Refused unless empty: facts are read from the product's repository only.
    #[serde(default)]
    #[schemars(length(max = 100))]
    pub extra_evidence_urls: Vec<String>,
    /// Where to look in the product repository.
    #[serde(default)]
    pub repo_hints: RepoHints,
    /// How the site is built.
    #[serde(default)]
    pub hugo: HugoSettings,
    /// What of the product repository is read.
    #[serde(default)]
    pub ingestion: Ingestion,
    /// Which hosts may be called besides those named elsewhere here.
    #[serde(default)]
    pub network: Network,
    /// Where a run stops.
    #[serde(default)]
    pub budgets: Budgets,
}

impl RunConfig {
    /// The language that is written.
    pub fn main_locale(&self) -> &str {
        self.locales.first().map_or("en", String::as_str)
    }
}

fn schema_version() -> String {
    SCHEMA_VERSION.to_owned()
}

fn newest_templates() -> String {
    TEMPLATE_SETS.last().copied().unwrap_or_default().to_owned()
}

fn newest_ruleset() -> String {
    RULESETS.last().copied().unwrap_or_default().to_owned()
}

const fn yes() -> bool {
    true
}

const fn three() -> u32 {
    3
}
