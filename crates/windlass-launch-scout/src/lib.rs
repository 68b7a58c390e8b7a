//! Reads a product repository and a site: inventory, facts with evidence, snippets.
//!
//! Two checked-out directories go in, the artifacts of the first three workers come out. Nothing
//! found in a repository is executed, no symbolic link is followed, no network is used, and the
//! same files give the same artifacts, byte for byte. Planning and writing pages is the business
//! of `windlass-launch-pages`; cloning is the caller's. [`syntax`] says whether a snippet parses; the
//! gates ask it as well.

mod addressed;
mod api;
mod claims;
mod collect;
mod contract;
mod contradictions;
mod enrich;
mod facts;
mod formats;
mod hugo;
mod input;
mod installs;
mod inventory;
mod kind;
mod license;
mod manifests;
mod markdown;
mod phantom;
mod platform;
mod secret;
mod sentences;
mod site;
mod snippets;
pub mod syntax;
mod tree;
mod typed;
mod words;

use std::{path::Path, sync::OnceLock};

use windlass_launch_model::{
    EvidenceMap, FrontmatterContract, HugoFacts, ProductFacts, RepoInventory, SiteContext,
    SnippetCatalog,
    config::{Found, GitignoreMode, PlatformFamily, ProductType, TargetPlatform},
};
use windlass_types::Problem;

pub use claims::excerpt;
pub use hugo::{Files, HugoSettings, hugo_settings};
pub use input::ScoutInput;
pub use secret::SecretScan;
pub use tree::Skipped;

use kind::{Use, language, use_of};
use tree::{Tree, TreeRules};

/// The version of every artifact made here.
pub(crate) const SCHEMA_VERSION: &str = "1.0";

/// Everything the scout found.
#[derive(Clone, Debug)]
pub struct Scouted {
    /// `repo_inventory.json`.
    pub inventory: RepoInventory,
    /// `frontmatter_contract.json`.
    pub frontmatter_contract: FrontmatterContract,
    /// `site_context.json`.
    pub site_context: SiteContext,
    /// `hugo_facts.json`, for a Hugo site.
    pub hugo_facts: Option<HugoFacts>,
    /// `product_facts.json`.
    pub facts: ProductFacts,
    /// `evidence_map.json`.
    pub evidence: EvidenceMap,
    /// `snippet_catalog.json`.
    pub snippets: SnippetCatalog,
    /// What the configuration left open.
    pub found: Found,
    /// What a person should know.
    pub notes: Notes,
}

/// What was left out, and why.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Notes {
    /// Of the product repository.
    pub product_skipped: Skipped,
    /// Of the site.
    pub site_skipped: Skipped,
    /// Manifests and configuration files that cannot be read, sorted.
    pub unreadable: Vec<String>,
    /// Statements whose lines do not hold them; dropped.
    pub unsupported_statements: u64,
    /// Passages that give orders to programs and were left out, as `path:line`, sorted.
    pub orders_to_programs: Vec<String>,
    /// Why the launch can only be minimal; empty when it need not be.
    pub minimal_because: Vec<String>,
}

/// Reads both directories and looks at everything.
pub fn scout(product_dir: &Path, site_dir: &Path, input: &ScoutInput) -> Result<Scouted, Problem> {
    Ok(Scout::open(product_dir, site_dir, input.clone())?.everything())
}

/// Both repositories, read; each look at them is made when it is asked for.
pub struct Scout {
    input: ScoutInput,
    product: Tree,
    site: Tree,
    manifests: Vec<manifests::Manifest>,
    unreadable_manifests: Vec<String>,
    symbols: OnceLock<collect::Symbols>,
}

/// What the site is like.
#[derive(Clone, Debug)]
pub struct SiteFindings {
    /// `frontmatter_contract.json`.
    pub frontmatter_contract: FrontmatterContract,
    /// `site_context.json`.
    pub site_context: SiteContext,
    /// `hugo_facts.json`, for a Hugo site.
    pub hugo_facts: Option<HugoFacts>,
    hugo_content_dir: Option<String>,
    with_language_folders: std::collections::BTreeSet<windlass_launch_model::Section>,
    broken: Vec<String>,
}

/// What the product repository holds.
#[derive(Clone, Debug)]
pub struct ProductFindings {
    /// `repo_inventory.json`.
    pub inventory: RepoInventory,
    /// What the configuration left open.
    pub found: Found,
}

/// What can be said about the product.
#[derive(Clone, Debug)]
pub struct FactFindings {
    /// `product_facts.json`.
    pub facts: ProductFacts,
    /// `evidence_map.json`.
    pub evidence: EvidenceMap,
    unsupported: u64,
    orders: Vec<String>,
    minimal_because: Vec<String>,
}

impl Scout {
    /// Reads both directories.
    pub fn open(product_dir: &Path, site_dir: &Path, input: ScoutInput) -> Result<Self, Problem> {
        let ingestion = &input.config.ingestion;
        let product = Tree::read(
            product_dir,
            &TreeRules {
                gitignore: ingestion.gitignore_mode,
                scan: &ingestion.scan_directories,
                exclude: &ingestion.exclude_patterns,
            },
        )?;
        let site = Tree::read(
            site_dir,
            &TreeRules {
                gitignore: GitignoreMode::Ignore,
                ..TreeRules::default()
            },
        )?;
        Ok(Self::of(product, site, input))
    }

    fn of(product: Tree, site: Tree, input: ScoutInput) -> Self {
        let (manifests, unreadable_manifests) = manifests::all(&product);
        Self {
            input,
            product,
            site,
            manifests,
            unreadable_manifests,
            symbols: OnceLock::new(),
        }
    }

    /// Looks at the site.
    pub fn site(&self) -> SiteFindings {
        let looked = site::site(&self.site, &self.input);
        SiteFindings {
            frontmatter_contract: contract::contract(&self.site, &looked.context.section_roots),
            hugo_facts: looked.hugo,
            hugo_content_dir: looked.hugo_content_dir,
            with_language_folders: looked.with_language_folders,
            broken: looked.broken,
            site_context: looked.context,
        }
    }

    /// Looks at what the product repository holds.
    pub fn inventory(&self, site: &SiteFindings) -> ProductFindings {
        let platform = platform::platform(&self.product);
        let inventory =
            inventory::inventory(&self.product, &self.manifests, &platform, &self.input);
        ProductFindings {
            found: Found {
                site_ref: self.input.site_sha.clone(),
                target_platform: TargetPlatform::by_name(&platform.target)
                    .unwrap_or(TargetPlatform::Other),
                platform_family: PlatformFamily::of_profile(&platform.family),
                product_type: ProductType::by_name(&inventory.inferred_product_type)
                    .unwrap_or(ProductType::Other),
                hugo_config_dir: site
                    .site_context
                    .hugo
                    .as_ref()
                    .map(|hugo| hugo.config_root.clone()),
                hugo_content_dir: site.hugo_content_dir.clone(),
                sections_with_language_folders: site.with_language_folders.clone(),
            },
            inventory,
        }
    }

    /// Establishes what can be said, and by what evidence.
    pub fn facts(&self) -> FactFindings {
        let symbols = self.symbols();
        let surface = api::surface(
            symbols
                .iter()
                .filter(|(path, _)| use_of(path, &self.input) == Use::Source)
                .map(|(path, symbols)| (path.as_str(), symbols.as_slice())),
        );
        let collected = collect::collect(&self.product, &self.manifests, symbols, &self.input);
        let established = facts::establish(
            &self.product,
            &self.manifests,
            collected.found,
            surface,
            &self.input,
        );
        FactFindings {
            facts: established.facts,
            evidence: established.evidence,
            unsupported: established.unsupported,
            orders: collected
                .orders
                .iter()
                .map(|(path, line)| format!("{path}:{line}"))
                .collect(),
            minimal_because: established.minimal_because,
        }
    }

    /// Collects code that may be shown.
    pub fn snippets(&self) -> SnippetCatalog {
        snippets::catalog(&self.product, self.symbols(), &self.input)
    }

    /// Every file of the site, relative to it, sorted.
    pub fn site_paths(&self) -> Vec<String> {
        self.site.files.keys().cloned().collect()
    }

    /// Everything at once.
    pub fn everything(&self) -> Scouted {
        let site = self.site();
        let product = self.inventory(&site);
        let facts = self.facts();
        let notes = self.notes(&site, &facts);
        Scouted {
            inventory: product.inventory,
            frontmatter_contract: site.frontmatter_contract,
            site_context: site.site_context,
            hugo_facts: site.hugo_facts,
            facts: facts.facts,
            evidence: facts.evidence,
            snippets: self.snippets(),
            found: product.found,
            notes,
        }
    }

    /// What a person should know.
    pub fn notes(&self, site: &SiteFindings, facts: &FactFindings) -> Notes {
        let mut unreadable = self.unreadable_manifests.clone();
        unreadable.extend(site.broken.iter().cloned());
        unreadable.sort();
        Notes {
            product_skipped: self.product.skipped.clone(),
            site_skipped: self.site.skipped.clone(),
            unreadable,
            unsupported_statements: facts.unsupported,
            orders_to_programs: facts.orders.clone(),
            minimal_because: facts.minimal_because.clone(),
        }
    }

    /// The symbols of sources and tests: facts and snippets both need them.
    fn symbols(&self) -> &collect::Symbols {
        self.symbols.get_or_init(|| {
            self.product
                .texts()
                .filter(|(path, _)| matches!(use_of(path, &self.input), Use::Source | Use::Test))
                .filter_map(|(path, text)| {
                    let found = api::symbols(language(path)?, path, text);
                    (!found.is_empty()).then(|| (path.to_owned(), found))
                })
                .collect()
        })
    }
}

/// An input for tests: the product "Acme PDF".
#[cfg(test)]
pub(crate) fn test_input() -> ScoutInput {
    let config = serde_json::json!({
        "product_name": "Acme PDF",
        "product_slug": "acme-pdf",
        "family": "acme-pdf",
        "github_repo_url": "https://example.org/acme/acme-pdf.git",
        "github_ref": "a".repeat(40),
        "site_repo_url": "https://example.org/acme/site.git",
        "allowed_paths": ["content"],
        "locales": ["en"],
    });
    ScoutInput {
        config: serde_json::from_value(config).expect("the configuration is complete"),
        site_sha: "b".repeat(40),
        workflows_sha: None,
        default_branch: None,
        latest_release_tag: None,
    }
}
