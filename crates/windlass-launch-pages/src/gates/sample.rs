//! A small launch on which every gate passes; tests break one thing each.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::PathBuf,
    sync::Arc,
    time::Duration,
};

use serde_json::json;
use windlass_launch_model::{
    Citation, Claim, ClaimKind, EvidenceMap, FrontmatterContract, Page, PagePlan, PageRole,
    ProductFacts, Profile, Section, SectionContract, SiteContext, SiteKind, Snippet,
    SnippetCatalog, TruthStatus,
    claim::{claim_id, marker},
    facts::{ApiSurface, Distribution, Evidence},
    inventory::RepoRef,
    page::{ContentStrategy, Quota},
    snippet::{SnippetSource, SnippetValidation},
};
use windlass_types::Digest;

use crate::gates::{
    finding::{Checked, Finding},
    input::{ArtifactFile, GateInput, Settings, Subject},
    outside::{HugoBuild, HugoJob, LinkAnswer, LinkProbe, ProductFiles, ToolError, Toolchain},
    prose,
    run::Gate,
    severity::Strictness,
    site::SiteTree,
};

pub const GUIDE: &str = "content/docs/acme/guide.md";
pub const TOC: &str = "content/docs/acme/_index.md";
pub const LANDING: &str = "content/products/acme/_index.md";
pub const HOME: &str = "content/_index.md";

pub const READS: &str = "Acme PDF reads DOCX files.";
pub const CONVERTS: &str = "Call `convert` to turn a DOCX file into a PDF file.";
pub const LIMIT: &str = "Acme PDF does not write XLSX files.";
pub const SNIPPET: &str = "from acme import convert\n\nconvert(\"a.docx\", \"a.pdf\")\n";

/// Registered text that makes a page long enough.
pub const LONG: &str = "This page belongs to a set of pages that are read in the order in which the overview lists them for you.";
const REGISTERED: [&str; 4] = [
    LONG,
    "See the overview.",
    "This is not documented.",
    "The steps are these.",
];

/// The id of a sample claim.
pub fn id(text: &str) -> String {
    claim_id(text, "Acme PDF", kind(text))
}

fn kind(text: &str) -> ClaimKind {
    match text {
        LIMIT => ClaimKind::Limitation,
        CONVERTS => ClaimKind::Workflow,
        _ => ClaimKind::Format,
    }
}

fn cited(text: &str) -> String {
    format!("{text} {}", marker(&id(text)))
}

/// A page of front matter, a body and enough registered text.
pub fn page_with(body: &str) -> String {
    format!("---\ntitle: T\nweight: 1\n---\n\n{body}\n\n{LONG}\n")
}

/// The sample with one page's text replaced.
pub fn with_text(path: &str, text: &str) -> Subject {
    let mut subject = subject();
    subject.site.insert(path, text);
    subject
}

fn guide() -> String {
    format!(
        "---\ntitle: Acme PDF guide\ndescription: {READS}\nweight: 2\n---\n\n## Convert\n\n{}\n{}\n\n```python\n{SNIPPET}```\n\n## Limitations\n\n{}\n\n![A converted page](/img/a.png)\n\nSee the [overview](/docs/acme/).\n\n{LONG}\n",
        cited(READS),
        cited(CONVERTS),
        cited(LIMIT)
    )
}

fn page(id: &str, section: Section, path: &str, url: &str, role: PageRole) -> Page {
    Page {
        page_id: id.to_owned(),
        section,
        slug: if path.ends_with("/_index.md") {
            "_index"
        } else {
            id.rsplit('/').next().unwrap_or_default()
        }
        .to_owned(),
        locale: "en".to_owned(),
        output_path: path.to_owned(),
        url_path: url.to_owned(),
        title: format!("Page {id}"),
        purpose: String::new(),
        page_role: role,
        required_headings: Vec::new(),
        required_claim_ids: Vec::new(),
        required_snippet_tags: Vec::new(),
        cross_links: Vec::new(),
        seo_keywords: Vec::new(),
        forbidden_topics: Vec::new(),
        template: "t".to_owned(),
        content_strategy: ContentStrategy {
            claim_quota: Quota { min: 0, max: 9 },
            ..ContentStrategy::default()
        },
    }
}

fn plan() -> PagePlan {
    let mut toc = page(
        "docs/index",
        Section::Docs,
        TOC,
        "/docs/acme/",
        PageRole::Toc,
    );
    toc.content_strategy.child_pages = vec!["docs/guide".to_owned()];
    let mut guide = page(
        "docs/guide",
        Section::Docs,
        GUIDE,
        "/docs/acme/guide/",
        PageRole::ComprehensiveGuide,
    );
    guide.title = "Acme PDF guide".to_owned();
    guide.required_headings = vec!["Convert".to_owned(), "Limitations".to_owned()];
    guide.required_claim_ids = vec![id(CONVERTS), id(LIMIT)];
    guide.required_snippet_tags = vec!["convert".to_owned()];
    guide.content_strategy.scenario_coverage = vec!["convert".to_owned()];
    let landing = page(
        "products/index",
        Section::Products,
        LANDING,
        "/products/acme/",
        PageRole::Landing,
    );
    PagePlan {
        schema_version: "1.0".to_owned(),
        launch_tier: "standard".to_owned(),
        tier_adjustments: Vec::new(),
        evidence_volume: BTreeMap::new(),
        effective_quotas: [(Section::Docs, Quota { min: 1, max: 4 })].into(),
        pages: vec![landing, toc, guide],
    }
}

fn facts() -> ProductFacts {
    let claim = |text: &str| Claim {
        claim_id: id(text),
        claim_text: text.to_owned(),
        claim_kind: kind(text),
        truth_status: TruthStatus::Fact,
        confidence: "high".to_owned(),
    };
    let mut claims = vec![claim(READS), claim(CONVERTS), claim(LIMIT)];
    claims.sort_by(|a, b| a.claim_id.cmp(&b.claim_id));
    ProductFacts {
        claim_enrichment: BTreeMap::new(),
        schema_version: "1.0".to_owned(),
        product_name: "Acme PDF".to_owned(),
        product_slug: "acme".to_owned(),
        repo_url: "https://git.example/acme/acme-pdf".to_owned(),
        positioning_claim_id: Some(id(READS)),
        claims,
        claim_groups: [("limitations".to_owned(), vec![id(LIMIT)])].into(),
        supported_formats: vec!["DOCX".to_owned()],
        workflows: [("convert".to_owned(), vec![id(CONVERTS)])].into(),
        api_surface_summary: ApiSurface::default(),
        license: None,
        distribution: vec![Distribution {
            method: "pip".to_owned(),
            identifier: "acme-pdf".to_owned(),
            install_commands: vec!["pip install acme-pdf".to_owned()],
        }],
        runtime_requirements: Vec::new(),
        dependencies: Vec::new(),
    }
}

fn evidence() -> EvidenceMap {
    let readme = [READS, CONVERTS, LIMIT];
    let claims = readme.iter().enumerate().map(|(index, text)| {
        let line = index as u64 + 1;
        let citation = Citation {
            path: "README.md".to_owned(),
            start_line: line,
            end_line: line,
            source_type: "readme_technical".to_owned(),
            excerpt_sha256: Digest::of(text.as_bytes()).to_string(),
        };
        (
            id(text),
            Evidence {
                citations: vec![citation],
                source_priority: 6,
            },
        )
    });
    EvidenceMap {
        schema_version: "1.0".to_owned(),
        claims: claims.collect(),
        contradictions: Vec::new(),
    }
}

fn contract() -> FrontmatterContract {
    let section = SectionContract {
        sample_size: 3,
        format: "yaml".to_owned(),
        required_keys: vec!["title".to_owned()],
        optional_keys: vec!["weight".to_owned()],
        key_types: [("title", "string"), ("weight", "integer")]
            .map(|(key, kind)| (key.to_owned(), kind.to_owned()))
            .into(),
        default_values: BTreeMap::new(),
    };
    FrontmatterContract {
        schema_version: "1.0".to_owned(),
        sections: [
            (Section::Docs, section.clone()),
            (Section::Products, section),
        ]
        .into(),
    }
}

/// Everything as it should be.
pub fn subject() -> Subject {
    let mut site = SiteTree::default();
    site.insert("hugo.toml", "title = 'Site'\n");
    site.insert(
        HOME,
        "---\ntitle: Home\n---\n\nOld text with [docs](/docs/acme/) and [gone](/gone/).\n",
    );
    site.insert_size("static/img/a.png", 1000);
    site.insert(GUIDE, guide());
    site.insert(TOC, format!("---\ntitle: Acme PDF documentation\nweight: 1\n---\n\n{LONG}\n\n- [Acme PDF guide](guide/)\n"));
    site.insert(
        LANDING,
        format!("---\ntitle: Acme PDF\nweight: 1\n---\n\n{}\n{LONG}\n\n- [Documentation](/docs/acme/)\n", cited(READS)),
    );
    let changed: BTreeMap<String, Option<Vec<u8>>> = [GUIDE, TOC, LANDING]
        .map(|path| (path.to_owned(), None))
        .into();
    let paths: Vec<&String> = changed.keys().collect();
    let pr_plan = json!({"schema_version": "1.0", "base_ref": "ab".repeat(20), "rollback_steps": ["git revert"], "affected_paths": paths});
    Subject {
        profile: Profile::Local,
        strictness: Strictness::Strict,
        settings: Settings {
            required_sections: vec![Section::Docs, Section::Products],
            ..Settings::default()
        },
        site_dir: PathBuf::from("site"),
        hugo_out: PathBuf::from("out"),
        site,
        refused_rewrites: Vec::new(),
        manual_edited_files: Vec::new(),
        context: SiteContext {
            schema_version: "1.0".to_owned(),
            site: RepoRef {
                repo_url: "https://git.example/acme/site".to_owned(),
                requested_ref: None,
                resolved_sha: "ab".repeat(20),
            },
            workflows: None,
            site_kind: SiteKind::Hugo,
            content_root: "content".to_owned(),
            section_roots: [
                (Section::Docs, "content/docs".to_owned()),
                (Section::Products, "content/products".to_owned()),
            ]
            .into(),
            hugo: None,
        },
        contract: contract(),
        facts: facts(),
        evidence: evidence(),
        snippets: SnippetCatalog {
            schema_version: "1.0".to_owned(),
            snippets: vec![Snippet {
                snippet_id: "s1".to_owned(),
                language: "python".to_owned(),
                tags: vec!["convert".to_owned()],
                source: SnippetSource {
                    r#type: "example".to_owned(),
                    path: "examples/a.py".to_owned(),
                    start_line: 1,
                    end_line: 3,
                },
                code: SNIPPET.to_owned(),
                requirements: Vec::new(),
                validation: SnippetValidation {
                    syntax_ok: Some(true),
                },
            }],
        },
        plan: plan(),
        artifacts: vec![ArtifactFile {
            name: "pr_plan.json".to_owned(),
            bytes: pr_plan.to_string().into_bytes(),
            schema: json!({"type": "object"}),
        }],
        registered: REGISTERED
            .iter()
            .map(|text| prose::digest(text))
            .chain(crate::registered_sentences().iter().copied())
            .collect::<BTreeSet<_>>(),
        toolchain: Arc::new(FakeHugo::new(
            Some("0.1"),
            Ok(HugoBuild {
                success: false,
                log: "no files here".to_owned(),
            }),
            &[],
        )),
        links: Arc::new(FakeLinks(BTreeMap::new())),
        product: Arc::new(FakeProduct),
        changed,
    }
}

/// What a gate finds, by code.
pub fn codes(gate: &dyn Gate, subject: Subject) -> Vec<&'static str> {
    found(gate, subject)
        .iter()
        .map(|finding| finding.code)
        .collect()
}

/// What a gate finds in files the run touched.
pub fn found(gate: &dyn Gate, subject: Subject) -> Vec<Finding> {
    let input = GateInput::new(subject);
    match gate.check(&input).expect("the gate works") {
        Checked::Ran(mut findings) | Checked::Logged { mut findings, .. } => {
            findings.retain(|finding| match &finding.place {
                crate::gates::finding::Place::Site(path) => path != HOME,
                _ => true,
            });
            findings
        }
        other => panic!("{} did not run: {other:?}", gate.name()),
    }
}

/// Why a gate did not run.
pub fn skipped(gate: &dyn Gate, subject: Subject) -> Option<&'static str> {
    match gate
        .check(&GateInput::new(subject))
        .expect("the gate works")
    {
        Checked::Skipped { reason, .. } => Some(reason),
        _ => None,
    }
}

/// A Hugo that renders configured output.
pub struct FakeHugo {
    version: Option<String>,
    result: Result<HugoBuild, ToolError>,
    pages: Vec<String>,
}

impl FakeHugo {
    pub fn new(
        version: Option<&str>,
        result: Result<HugoBuild, ToolError>,
        pages: &[&str],
    ) -> Self {
        Self {
            version: version.map(str::to_owned),
            result,
            pages: pages.iter().map(|page| (*page).to_owned()).collect(),
        }
    }
}

impl Toolchain for FakeHugo {
    fn hugo_version(&self) -> Option<String> {
        self.version.clone()
    }

    fn hugo_build(&self, job: &HugoJob<'_>) -> Result<HugoBuild, ToolError> {
        for page in &self.pages {
            let folder = job.out.join(page);
            fs_err::create_dir_all(&folder).expect("a folder");
            fs_err::write(folder.join("index.html"), "x").expect("a page");
        }
        self.result.clone()
    }
}

/// Addresses and what they answer.
pub struct FakeLinks(pub BTreeMap<String, LinkAnswer>);

impl LinkProbe for FakeLinks {
    fn probe(&self, urls: &[String], _: Duration) -> BTreeMap<String, LinkAnswer> {
        let asked = |(url, _): &(&String, &LinkAnswer)| urls.contains(url);
        let known = self.0.iter().filter(asked);
        known
            .map(|(url, answer)| (url.clone(), answer.clone()))
            .collect()
    }
}

struct FakeProduct;

impl ProductFiles for FakeProduct {
    fn read(&self, path: &str) -> Option<Vec<u8>> {
        (path == "README.md").then(|| format!("{READS}\n{CONVERTS}\n{LIMIT}\n").into_bytes())
    }
}
