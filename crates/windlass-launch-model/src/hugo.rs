//! `hugo_facts.json`: what a Hugo site's configuration says about addresses and languages.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// What a Hugo site's configuration says.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HugoFacts {
    /// The version of this format.
    pub schema_version: String,
    /// The site's address.
    pub base_url: Option<String>,
    /// Where content is, relative to the site.
    pub content_dir: String,
    /// Languages that are built, sorted.
    pub languages: Vec<String>,
    /// Languages that are switched off, sorted.
    #[serde(default)]
    pub disabled_languages: Vec<String>,
    /// The language without a prefix, unless it has one.
    pub default_language: String,
    /// Whether the default language has a prefix in addresses.
    pub default_language_in_subdir: bool,
    /// How addresses are made, by section.
    pub permalinks: BTreeMap<String, Value>,
    /// What is built, by kind of page.
    pub outputs: BTreeMap<String, Vec<String>>,
    /// Taxonomies: the singular and the plural.
    pub taxonomies: BTreeMap<String, String>,
    /// The files this was read from, sorted, relative to the site.
    pub source_files: Vec<String>,
}
