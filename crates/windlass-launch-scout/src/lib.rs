//! Reads a product repository and a site: inventory, facts with evidence, snippets.
//!
//! Two checked-out directories go in, the artifacts of the first three workers come out. Nothing
//! found in a repository is executed, no symbolic link is followed, no network is used, and the
//! same files give the same artifacts, byte for byte. Planning and writing pages is the business
//! of `windlass-launch-pages`; cloning is the caller's.

mod api;
mod claims;
mod collect;
mod contradictions;
mod facts;
mod formats;
pub mod frontmatter;
mod hugo;
mod input;
mod inventory;
mod kind;
mod license;
mod manifests;
mod markdown;
mod phantom;
mod platform;
mod sentences;
mod site;
mod snippets;
mod tree;
mod words;

use std::path::Path;

use windlass_launch_model::{
    EvidenceMap, FrontmatterContract, HugoFacts, ProductFacts, RepoInventory, SiteContext,
    SnippetCatalog,
    config::{Found, GitignoreMode, PlatformFamily, ProductType, TargetPlatform},
};
use windlass_types::Problem;

pub use api::syntax_ok;
pub use claims::excerpt;
pub use input::ScoutInput;
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
    /// Why the launch can only be minimal; empty when it need not be.
    pub minimal_because: Vec<String>,
}

/// Reads both directories.
pub fn scout(product_dir: &Path, site_dir: &Path, input: &ScoutInput) -> Result<Scouted, Problem> {
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
    Ok(examine(&product, &site, input))
}

/// Everything after reading: a function of the two trees.
fn examine(product: &Tree, site: &Tree, input: &ScoutInput) -> Scouted {
    let (manifests, mut unreadable) = manifests::all(product);
    let platform = platform::platform(product);
    let inventory = inventory::inventory(product, &manifests, &platform, input);

    let symbols: collect::Symbols = product
        .texts()
        .filter(|(path, _)| matches!(use_of(path, input), Use::Source | Use::Test))
        .filter_map(|(path, text)| {
            let found = api::symbols(language(path)?, path, text);
            (!found.is_empty()).then(|| (path.to_owned(), found))
        })
        .collect();
    let surface = api::surface(
        symbols
            .iter()
            .filter(|(path, _)| use_of(path, input) == Use::Source)
            .map(|(path, symbols)| (path.as_str(), symbols.as_slice())),
    );
    let statements = collect::collect(product, &manifests, &symbols, input);
    let established = facts::establish(product, &manifests, statements, surface, input);
    let snippets = snippets::catalog(product, &symbols, input);

    let looked = site::site(site, input);
    unreadable.extend(looked.broken);
    unreadable.sort();
    Scouted {
        frontmatter_contract: frontmatter::contract(site, &looked.context.section_roots),
        hugo_facts: looked.hugo,
        facts: established.facts,
        evidence: established.evidence,
        snippets,
        found: Found {
            site_ref: input.site_sha.clone(),
            target_platform: TargetPlatform::by_name(&platform.target)
                .unwrap_or(TargetPlatform::Other),
            platform_family: PlatformFamily::of_profile(&platform.family),
            product_type: ProductType::by_name(&inventory.inferred_product_type)
                .unwrap_or(ProductType::Other),
            hugo_config_dir: looked
                .context
                .hugo
                .as_ref()
                .map(|hugo| hugo.config_root.clone()),
            hugo_content_dir: looked.hugo_content_dir,
            sections_with_language_folders: looked.with_language_folders,
        },
        site_context: looked.context,
        notes: Notes {
            product_skipped: product.skipped.clone(),
            site_skipped: site.skipped.clone(),
            unreadable,
            unsupported_statements: established.unsupported,
            minimal_because: established.minimal_because,
        },
        inventory,
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
