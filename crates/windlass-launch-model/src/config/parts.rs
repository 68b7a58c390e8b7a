//! The parts of a configuration about repositories, the site and limits.

use std::collections::BTreeMap;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{GitignoreMode, LARGEST, LocaleMode};
use crate::Section;

/// Where pages go.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct SiteLayout {
    /// Where content is, relative to the site; without it, as the site is configured.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1))]
    pub content_root: Option<String>,
    /// Where single sections are, relative to the site.
    #[schemars(schema_with = "by_section::<String>")]
    pub subdomain_roots: BTreeMap<Section, String>,
    /// The position of the language in paths.
    pub localization: Localization,
}

/// The position of the language in paths.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Localization {
    /// By section; auto where not given.
    #[schemars(schema_with = "by_section::<LocaleMode>")]
    pub mode_by_section: BTreeMap<Section, LocaleMode>,
}

/// An object whose keys are sections and nothing else.
fn by_section<T: JsonSchema>(generator: &mut SchemaGenerator) -> Schema {
    let value = T::json_schema(generator);
    let properties: Map<String, Value> = Section::ALL
        .into_iter()
        .map(|section| (section.as_str().to_owned(), value.clone().to_value()))
        .collect();
    json_schema!({
        "type": "object",
        "properties": properties,
        "additionalProperties": false,
    })
}

/// Where pages are once published.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct CanonicalUrls {
    /// The product's page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub product: Option<String>,
    /// The documentation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub docs: Option<String>,
    /// The reference.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reference: Option<String>,
}

impl CanonicalUrls {
    /// Those that are set, by what they are the address of.
    pub fn by_name(&self) -> BTreeMap<String, String> {
        [
            ("product", &self.product),
            ("docs", &self.docs),
            ("reference", &self.reference),
        ]
        .into_iter()
        .filter_map(|(name, url)| Some((name.to_owned(), url.clone()?)))
        .collect()
    }
}

/// Where to look in the product repository.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct RepoHints {
    /// Folders with sources.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub preferred_source_roots: Vec<String>,
    /// Folders with documentation.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub preferred_docs_roots: Vec<String>,
    /// Folders with examples.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub preferred_examples_roots: Vec<String>,
    /// Commands to show on pages; never executed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub preferred_test_commands: Vec<String>,
}

/// How the site is built.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct HugoSettings {
    /// Where the configuration is, relative to the site; without it, Hugo's own lookup.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1))]
    pub config_dir: Option<String>,
    /// Whether the configuration is checked.
    pub use_config_gate: bool,
    /// Where a copy of the configuration is kept, relative to the run.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1))]
    pub config_snapshot_dir: Option<String>,
    /// Programs Hugo may start, as patterns of its security.exec.allow; none without it.
    #[schemars(inner(length(min = 1)))]
    pub exec_allow: Vec<String>,
    /// Where Hugo may fetch files from while it builds, as the beginnings of addresses, e.g.
    /// `https://files.acme.dev/`; nowhere without it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(inner(length(min = 1)), length(max = 20))]
    pub http_allow: Vec<String>,
    /// Where Hugo may download its modules from, e.g. `https://proxy.golang.org`; it needs `^go$`
    /// in `exec_allow`, too. Without it modules come with the site, in `_vendor`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1))]
    pub module_proxy: Option<String>,
}

impl Default for HugoSettings {
    fn default() -> Self {
        Self {
            config_dir: None,
            use_config_gate: true,
            config_snapshot_dir: None,
            exec_allow: Vec::new(),
            http_allow: Vec::new(),
            module_proxy: None,
        }
    }
}

/// What of the product repository is read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Ingestion {
    /// Folders to read, relative to the repository.
    #[schemars(length(min = 1))]
    pub scan_directories: Vec<String>,
    /// Paths to leave out, in the form of .gitignore.
    #[schemars(inner(length(min = 1)))]
    pub exclude_patterns: Vec<String>,
    /// What .gitignore means.
    pub gitignore_mode: GitignoreMode,
    /// Further folders with examples, relative to the repository.
    pub example_directories: Vec<String>,
    /// Whether files that are no text are listed.
    pub record_binary_files: bool,
    /// Whether paths that are mentioned and do not exist are listed.
    pub detect_phantom_paths: bool,
}

impl Default for Ingestion {
    fn default() -> Self {
        Self {
            scan_directories: vec![".".to_owned()],
            exclude_patterns: Vec::new(),
            gitignore_mode: GitignoreMode::Respect,
            example_directories: Vec::new(),
            record_binary_files: true,
            detect_phantom_paths: true,
        }
    }
}

/// Which hosts may be called.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Network {
    /// Hosts, besides those of the repositories and services named in the configuration.
    #[schemars(length(max = 1000))]
    pub allowed_hosts: Vec<String>,
}

/// Where a run stops.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Budgets {
    /// Seconds.
    #[schemars(range(min = 1, max = LARGEST))]
    pub max_runtime_s: u64,
    /// Calls to a language model.
    #[schemars(range(min = 1, max = LARGEST))]
    pub max_llm_calls: u64,
    /// Tokens in and out.
    #[schemars(range(min = 1, max = LARGEST))]
    pub max_llm_tokens: u64,
    /// Files written.
    #[schemars(range(min = 1, max = LARGEST))]
    pub max_file_writes: u64,
    /// Patches tried.
    #[schemars(range(min = 1, max = LARGEST))]
    pub max_patch_attempts: u64,
    /// Lines in a file that is written.
    #[schemars(range(min = 1, max = LARGEST))]
    pub max_lines_per_file: u64,
    /// Files changed.
    #[schemars(range(min = 1, max = LARGEST))]
    pub max_files_changed: u64,
}

impl Default for Budgets {
    fn default() -> Self {
        Self {
            max_runtime_s: 3600,
            max_llm_calls: 500,
            max_llm_tokens: 2_000_000,
            max_file_writes: 1000,
            max_patch_attempts: 100,
            max_lines_per_file: 500,
            max_files_changed: 100,
        }
    }
}
