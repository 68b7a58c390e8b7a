//! What the scout found: `repo_inventory.json`, `frontmatter_contract.json`, `site_context.json`.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::Section;

/// What kind of site it is.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, schemars::JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum SiteKind {
    /// Built by Hugo.
    Hugo,
    /// Plain Markdown files.
    Markdown,
}

/// `repo_inventory.json`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RepoInventory {
    /// The version of this format.
    pub schema_version: String,
    /// The product repository.
    pub repo_url: String,
    /// Its commit.
    pub repo_sha: String,
    /// What identifies it.
    pub fingerprint: Fingerprint,
    /// What it is.
    pub repo_profile: RepoProfile,
    /// Every file, sorted.
    pub paths: Vec<String>,
    /// Where reading begins, sorted.
    pub doc_entrypoints: Vec<String>,
    /// Examples, sorted.
    pub example_paths: Vec<String>,
    /// Files that are no text, sorted.
    pub binary_assets: Vec<String>,
    /// Paths that are mentioned and do not exist.
    pub phantom_paths: Vec<PhantomPath>,
    /// `sdk`, `library`, `cli`, `service`, `plugin`, `tool` or `other`.
    pub inferred_product_type: String,
}

/// What identifies a repository.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Fingerprint {
    /// Over every path and content, 64 hex characters.
    pub digest: String,
    /// The branch people see first.
    pub default_branch: Option<String>,
    /// The newest release.
    pub latest_release_tag: Option<String>,
    /// The licence's file.
    pub license_path: Option<String>,
    /// By bytes, most first.
    pub primary_languages: Vec<String>,
}

/// What a repository is.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RepoProfile {
    /// `python`, `node`, `java`, …, `multi` or `unknown`.
    pub platform_family: String,
    /// `cargo`, `setuptools`, `npm`, …, sorted.
    pub build_systems: Vec<String>,
    /// Manifests, sorted.
    pub package_manifests: Vec<String>,
    /// For pages; never executed.
    pub recommended_test_commands: Vec<String>,
    /// Where examples are.
    pub example_locator: Vec<String>,
    /// Where documentation is.
    pub doc_locator: Vec<String>,
    /// Where sources are.
    pub source_layout: Vec<String>,
    /// Files that define what is public.
    pub public_api_entrypoints: Vec<String>,
    /// `{platform}_src_{manifest}`, `monorepo_multi_package`, `docs_only`, …
    pub repo_archetype: String,
}

/// A path that is mentioned and does not exist.
#[derive(
    Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, schemars::JsonSchema,
)]
#[serde(deny_unknown_fields)]
pub struct PhantomPath {
    /// The path.
    pub claimed_path: String,
    /// Where it is mentioned.
    pub source_file: String,
    /// In which line.
    pub source_line: u64,
}

/// `frontmatter_contract.json`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FrontmatterContract {
    /// The version of this format.
    pub schema_version: String,
    /// By section.
    pub sections: BTreeMap<Section, SectionContract>,
}

/// What the front matter of a section's pages looks like.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SectionContract {
    /// How many pages were looked at.
    pub sample_size: u64,
    /// `yaml`, `toml` or `json`.
    pub format: String,
    /// Keys every page has, sorted.
    pub required_keys: Vec<String>,
    /// Keys some pages have, sorted.
    pub optional_keys: Vec<String>,
    /// `string`, `integer`, `number`, `boolean`, `date`, `array_string`, `object` or `unknown`.
    pub key_types: BTreeMap<String, String>,
    /// Values nearly every page has.
    pub default_values: BTreeMap<String, Value>,
}

/// `site_context.json`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SiteContext {
    /// The version of this format.
    pub schema_version: String,
    /// The site repository.
    pub site: RepoRef,
    /// The workflows repository.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workflows: Option<RepoRef>,
    /// What kind of site it is.
    pub site_kind: SiteKind,
    /// Where content is, relative to the site.
    pub content_root: String,
    /// Where each section is.
    pub section_roots: BTreeMap<Section, String>,
    /// Hugo's configuration, for a Hugo site.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hugo: Option<HugoContext>,
}

/// A repository at a commit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RepoRef {
    /// Its address.
    pub repo_url: String,
    /// What was asked for.
    pub requested_ref: Option<String>,
    /// What it meant.
    pub resolved_sha: String,
}

/// A Hugo site's configuration.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HugoContext {
    /// Where it is.
    pub config_root: String,
    /// Its files.
    pub config_files: Vec<ConfigFile>,
    /// What is built, by environment and language.
    #[serde(default)]
    pub build_matrix: Vec<BuildTarget>,
}

/// One build of a site.
#[derive(
    Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, schemars::JsonSchema,
)]
#[serde(deny_unknown_fields)]
pub struct BuildTarget {
    /// `production` unless the site has others.
    pub environment: String,
    /// The language.
    pub language: String,
}

/// A file of a configuration.
#[derive(
    Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, schemars::JsonSchema,
)]
#[serde(deny_unknown_fields)]
pub struct ConfigFile {
    /// The path, relative to the site.
    pub path: String,
    /// Its digest.
    pub sha256: String,
    /// Its size.
    pub bytes: u64,
}
