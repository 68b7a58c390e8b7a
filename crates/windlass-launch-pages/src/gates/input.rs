//! Everything gates and fixers look at, gathered once per validation.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::PathBuf,
    sync::{
        Arc, OnceLock,
        atomic::{AtomicBool, Ordering},
    },
};

use serde_json::Value;
use windlass_launch_model::{
    Claim, EvidenceMap, FrontmatterContract, Page, PagePlan, ProductFacts, Profile, Section,
    SectionContract, SiteContext, SnippetCatalog, markdown::Document,
};
use windlass_types::Digest;

use crate::gates::{
    outside::{LinkProbe, ProductFiles, Toolchain},
    severity::Strictness,
    site::{SiteTree, is_page},
};

/// A JSON artifact of the run and the schema it must satisfy.
#[derive(Clone, Debug, PartialEq)]
pub struct ArtifactFile {
    /// Its name, e.g. `page_plan.json`.
    pub name: String,
    /// Its bytes.
    pub bytes: Vec<u8>,
    /// Its JSON Schema.
    pub schema: Value,
}

/// The parts of the run's configuration that gates obey.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Settings {
    /// Sections that must have a page.
    pub required_sections: Vec<Section>,
    /// `product`, `docs`, `reference`: the address each is known by.
    pub canonical_urls: BTreeMap<String, String>,
    /// Whether concluded claims may be shown.
    pub allow_inference: bool,
    /// Whether the HugoConfig gate is switched off.
    pub skip_hugo_config: bool,
    /// The version of Hugo that is pinned.
    pub hugo_version: Option<String>,
    /// Where Hugo's configuration is, relative to the site; none for Hugo's own lookup.
    pub hugo_config_dir: Option<String>,
    /// Programs Hugo may start, as patterns of its `security.exec.allow`.
    pub hugo_exec_allow: Vec<String>,
    /// Where Hugo may fetch files from.
    pub hugo_http_allow: Vec<String>,
    /// Where Hugo may download modules from.
    pub hugo_module_proxy: Option<String>,
    /// Values for template tokens.
    pub token_values: BTreeMap<String, String>,
}

/// A sentence that a model proposed for a page and that does not follow from its claims.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RefusedRewrite {
    /// The page.
    pub path: String,
    /// The sentence; empty when the whole answer was refused.
    pub sentence: String,
    /// Why.
    pub why: String,
}

/// What is judged.
pub struct Subject {
    /// How strictly.
    pub profile: Profile,
    /// Whether a build is relaxed about taste.
    pub strictness: Strictness,
    /// The configuration that matters here.
    pub settings: Settings,
    /// The site's worktree on disk, for Hugo.
    pub site_dir: PathBuf,
    /// Where Hugo writes its output; emptied by the provider.
    pub hugo_out: PathBuf,
    /// The site's worktree in memory.
    pub site: SiteTree,
    /// The files the run created or changed, each with its content before; none when created.
    pub changed: BTreeMap<String, Option<Vec<u8>>>,
    /// Sentences of a model that were not taken.
    pub refused_rewrites: Vec<RefusedRewrite>,
    /// Files a person edited since the run wrote them.
    pub manual_edited_files: Vec<String>,
    /// `site_context.json`.
    pub context: SiteContext,
    /// `frontmatter_contract.json`.
    pub contract: FrontmatterContract,
    /// `product_facts.json`.
    pub facts: ProductFacts,
    /// `evidence_map.json`.
    pub evidence: EvidenceMap,
    /// `snippet_catalog.json`.
    pub snippets: SnippetCatalog,
    /// `page_plan.json`.
    pub plan: PagePlan,
    /// Every JSON artifact, by name.
    pub artifacts: Vec<ArtifactFile>,
    /// Template sentences that state no fact, by [`crate::gates::prose::digest`].
    pub registered: BTreeSet<Digest>,
    /// The external tools.
    pub toolchain: Arc<dyn Toolchain>,
    /// The link prober.
    pub links: Arc<dyn LinkProbe>,
    /// The product repository.
    pub product: Arc<dyn ProductFiles>,
}

/// What is judged, with every page parsed at most once. Cloning shares it.
#[derive(Clone)]
pub struct GateInput {
    shared: Arc<Shared>,
    stopped: Arc<AtomicBool>,
}

struct Shared {
    subject: Subject,
    documents: OnceLock<BTreeMap<String, Document>>,
}

impl std::ops::Deref for GateInput {
    type Target = Subject;

    fn deref(&self) -> &Subject {
        &self.shared.subject
    }
}

impl GateInput {
    /// Gathers it.
    pub fn new(subject: Subject) -> Self {
        Self {
            shared: Arc::new(Shared {
                subject,
                documents: OnceLock::new(),
            }),
            stopped: Arc::default(),
        }
    }

    /// The same, for one gate: it can be stopped without stopping others.
    pub(crate) fn for_one_gate(&self) -> Self {
        Self {
            shared: Arc::clone(&self.shared),
            stopped: Arc::default(),
        }
    }

    /// Every Markdown page of the site, parsed.
    pub fn documents(&self) -> &BTreeMap<String, Document> {
        self.shared.documents.get_or_init(|| {
            let pages = self.site.paths().filter(|path| is_page(path));
            pages
                .filter_map(|path| Some((path.to_owned(), Document::parse(self.site.text(path)?))))
                .collect()
        })
    }

    /// A page.
    pub fn document(&self, path: &str) -> Option<&Document> {
        self.documents().get(path)
    }

    /// The pages the run created or changed. Ends early once the gate's time is up.
    pub fn changed_pages(&self) -> impl Iterator<Item = (&str, &Document)> {
        self.documents()
            .iter()
            .filter(|(path, _)| self.changed.contains_key(*path))
            .take_while(|_| !self.stopped())
            .map(|(path, document)| (path.as_str(), document))
    }

    /// The planned page of a file.
    pub fn planned(&self, path: &str) -> Option<&Page> {
        self.plan.pages.iter().find(|page| page.output_path == path)
    }

    /// A planned page by its id.
    pub fn page(&self, id: &str) -> Option<&Page> {
        self.plan.pages.iter().find(|page| page.page_id == id)
    }

    /// The section a file belongs to: as planned, else by where it is.
    pub fn section(&self, path: &str) -> Option<Section> {
        let by_root = || {
            let roots = self.context.section_roots.iter();
            let within = roots.filter(|(_, root)| {
                path.strip_prefix(root.trim_end_matches('/'))
                    .is_some_and(|rest| rest.starts_with('/'))
            });
            within
                .max_by_key(|(_, root)| root.len())
                .map(|(section, _)| *section)
        };
        self.planned(path).map(|page| page.section).or_else(by_root)
    }

    /// What the front matter of a file must hold; a title where no page was there to learn from.
    pub fn section_contract(&self, path: &str) -> SectionContract {
        let known = self
            .section(path)
            .and_then(|section| self.contract.sections.get(&section));
        known.cloned().unwrap_or_else(|| SectionContract {
            format: "yaml".to_owned(),
            required_keys: vec!["title".to_owned()],
            ..SectionContract::default()
        })
    }

    /// A claim.
    pub fn claim(&self, id: &str) -> Option<&Claim> {
        self.facts.claims.iter().find(|claim| claim.claim_id == id)
    }

    /// An artifact's JSON; none when absent or broken.
    pub fn artifact(&self, name: &str) -> Option<Value> {
        let file = self.artifacts.iter().find(|file| file.name == name)?;
        serde_json::from_slice(&file.bytes).ok()
    }

    /// Signals to a gate that its time is up.
    pub(crate) fn stop(&self) {
        self.stopped.store(true, Ordering::Relaxed);
    }

    /// Whether the gate should end.
    pub fn stopped(&self) -> bool {
        self.stopped.load(Ordering::Relaxed)
    }
}
