//! A small product and a small site for the tests of this crate.

use std::collections::BTreeMap;

use windlass_launch_model::{
    Citation, Claim, ClaimKind, EvidenceMap, FrontmatterContract, ProductFacts, RepoInventory,
    Section, SectionContract, SiteContext, SiteKind, Snippet, SnippetCatalog, TruthStatus,
    config::LaunchTier,
    facts::{ApiSurface, ApiSymbol, Contradiction, Distribution, Evidence},
    inventory::{Fingerprint, RepoProfile, RepoRef},
    snippet::{SnippetSource, SnippetValidation},
};

use crate::{
    draft::{Draft, DraftInput, draft_pages},
    evidence::Material,
    plan::{PlanInput, PlanSettings, Planned, plan_pages},
    ruleset::Ruleset,
    url::UrlRules,
};

/// Everything a launch is planned from.
pub(crate) struct Sample {
    pub(crate) facts: ProductFacts,
    pub(crate) evidence: EvidenceMap,
    pub(crate) snippets: SnippetCatalog,
    pub(crate) inventory: RepoInventory,
    pub(crate) site: SiteContext,
    pub(crate) urls: UrlRules,
    pub(crate) site_paths: Vec<String>,
    pub(crate) settings: PlanSettings,
    pub(crate) contract: FrontmatterContract,
    pub(crate) canonical_urls: BTreeMap<String, String>,
}

fn id(number: usize) -> String {
    format!("{number:064x}")
}

impl Sample {
    pub(crate) fn plan(&self) -> Planned {
        plan_pages(&PlanInput {
            facts: &self.facts,
            evidence: &self.evidence,
            snippets: &self.snippets,
            inventory: &self.inventory,
            site: &self.site,
            urls: &self.urls,
            site_paths: &self.site_paths,
            settings: &self.settings,
        })
        .unwrap()
    }

    pub(crate) fn drafts(&self) -> (Planned, Vec<Draft>) {
        let planned = self.plan();
        let material = self.material();
        let ruleset = Ruleset::load(None).unwrap();
        let drafts = draft_pages(&DraftInput {
            plan: &planned.plan,
            material: &material,
            contract: &self.contract,
            site_kind: self.site.site_kind,
            ruleset: &ruleset,
            date: "2024-05-06",
            canonical_urls: &self.canonical_urls,
            max_lines: self.settings.max_lines,
        })
        .unwrap();
        (planned, drafts)
    }

    pub(crate) fn material(&self) -> Material<'_> {
        Material::gather(
            &self.facts,
            &self.evidence,
            &self.snippets,
            self.site.site_kind,
            self.settings.allow_inference,
        )
    }

    /// Adds a claim with evidence to a group.
    pub(crate) fn claim(&mut self, text: &str, kind: ClaimKind, group: &str) -> String {
        let claim_id = id(self.facts.claims.len() + 1);
        self.facts.claims.push(Claim {
            claim_id: claim_id.clone(),
            claim_text: text.to_owned(),
            claim_kind: kind,
            truth_status: TruthStatus::Fact,
            confidence: "high".to_owned(),
        });
        self.facts
            .claim_groups
            .entry(group.to_owned())
            .or_default()
            .push(claim_id.clone());
        let citation = Citation {
            path: "README.md".to_owned(),
            start_line: 1,
            end_line: 1,
            source_type: "readme_technical".to_owned(),
            excerpt_sha256: id(0),
        };
        let evidence = Evidence {
            citations: vec![citation],
            source_priority: 6,
        };
        self.evidence.claims.insert(claim_id.clone(), evidence);
        claim_id
    }

    pub(crate) fn contradict(&mut self, left: &str, right: &str, winner: Option<&str>) {
        self.evidence.contradictions.push(Contradiction {
            claim_a_id: left.to_owned(),
            claim_b_id: right.to_owned(),
            resolution: if winner.is_some() {
                "prefer"
            } else {
                "withhold"
            }
            .to_owned(),
            winning_claim_id: winner.map(str::to_owned),
            reasoning: "test".to_owned(),
        });
    }
}

/// A product without a single claim.
pub(crate) fn bare(site_kind: SiteKind) -> Sample {
    let root = if site_kind == SiteKind::Hugo {
        "content/"
    } else {
        ""
    };
    let repository = |url: &str| RepoRef {
        repo_url: url.to_owned(),
        requested_ref: None,
        resolved_sha: "a".repeat(40),
    };
    Sample {
        facts: ProductFacts {
            claim_enrichment: BTreeMap::new(),
            schema_version: "1.0".to_owned(),
            product_name: "Acme PDF".to_owned(),
            product_slug: "acme-pdf".to_owned(),
            repo_url: "https://example.org/acme/pdf".to_owned(),
            positioning_claim_id: None,
            claims: Vec::new(),
            claim_groups: BTreeMap::new(),
            supported_formats: Vec::new(),
            workflows: BTreeMap::new(),
            api_surface_summary: ApiSurface::default(),
            license: None,
            distribution: Vec::new(),
            runtime_requirements: Vec::new(),
            dependencies: Vec::new(),
        },
        evidence: EvidenceMap::default(),
        snippets: SnippetCatalog::default(),
        inventory: RepoInventory {
            schema_version: "1.0".to_owned(),
            repo_url: "https://example.org/acme/pdf".to_owned(),
            repo_sha: "b".repeat(40),
            fingerprint: Fingerprint::default(),
            repo_profile: RepoProfile::default(),
            paths: Vec::new(),
            doc_entrypoints: Vec::new(),
            example_paths: Vec::new(),
            binary_assets: Vec::new(),
            phantom_paths: Vec::new(),
            inferred_product_type: "library".to_owned(),
        },
        site: SiteContext {
            schema_version: "1.0".to_owned(),
            site: repository("https://example.org/site"),
            workflows: None,
            site_kind,
            content_root: if site_kind == SiteKind::Hugo {
                "content"
            } else {
                "."
            }
            .to_owned(),
            section_roots: Section::ALL
                .into_iter()
                .map(|section| (section, format!("{root}{}", section.as_str())))
                .collect(),
            hugo: None,
        },
        urls: UrlRules {
            site_kind,
            content_root: if site_kind == SiteKind::Hugo {
                "content"
            } else {
                "."
            }
            .to_owned(),
            languages: Vec::new(),
            default_language: "en".to_owned(),
            default_language_in_subdir: false,
            permalinks: BTreeMap::new(),
        },
        site_paths: Vec::new(),
        settings: PlanSettings {
            family: "acme".to_owned(),
            locales: vec!["en".to_owned()],
            required_sections: Section::ALL.to_vec(),
            locale_modes: BTreeMap::new(),
            launch_tier: LaunchTier::Standard,
            ruleset_version: None,
            templates_version: None,
            allow_inference: false,
            max_lines: 500,
        },
        contract: FrontmatterContract::default(),
        canonical_urls: BTreeMap::new(),
    }
}

/// A product with something to say.
pub(crate) fn full(site_kind: SiteKind) -> Sample {
    let mut sample = bare(site_kind);
    let first = sample.claim(
        "Acme PDF reads and writes PDF files.",
        ClaimKind::Feature,
        "key_features",
    );
    sample.facts.positioning_claim_id = Some(first);
    sample.claim(
        "It merges files with `merge(a, b)`.",
        ClaimKind::Feature,
        "key_features",
    );
    sample.claim(
        "Text is found with <fast> search | index.",
        ClaimKind::Feature,
        "key_features",
    );
    sample.claim(
        "Install the wheel first. Then import it.",
        ClaimKind::Workflow,
        "install_steps",
    );
    sample.claim(
        "Open a file with `Reader`.",
        ClaimKind::Workflow,
        "quickstart_steps",
    );
    sample.claim(
        "Encrypted files are not read.",
        ClaimKind::Limitation,
        "limitations",
    );
    sample.claim(
        "It runs on Linux and macOS.",
        ClaimKind::Feature,
        "compatibility_notes",
    );
    sample.claim("Acme PDF reads DOCX files.", ClaimKind::Format, "formats");
    let merge = sample.claim(
        "Call `merge` with two paths.",
        ClaimKind::Workflow,
        "workflow_claims",
    );
    let split = sample.claim(
        "Call `split` with one path.",
        ClaimKind::Workflow,
        "workflow_claims",
    );
    for (text, group) in [
        (
            "Install Acme PDF with `pip install acme-pdf`.",
            "distribution",
        ),
        ("Acme PDF is licensed under `Apache-2.0`.", "license"),
        ("Acme PDF requires python `>= 3.10`.", "runtimes"),
        ("Acme PDF depends on `lxml`.", "dependencies"),
    ] {
        sample.claim(text, ClaimKind::Feature, group);
    }
    sample
        .facts
        .workflows
        .insert("merge_files".to_owned(), vec![merge]);
    sample
        .facts
        .workflows
        .insert("split_a_file".to_owned(), vec![split]);
    sample.facts.supported_formats = vec!["DOCX".to_owned(), "PDF".to_owned()];
    sample.facts.license = Some("Apache-2.0".to_owned());
    sample.facts.runtime_requirements = vec!["python >= 3.10".to_owned()];
    sample.facts.dependencies = vec!["lxml".to_owned()];
    sample.facts.distribution = vec![Distribution {
        method: "pip".to_owned(),
        identifier: "acme-pdf".to_owned(),
        install_commands: vec!["pip install acme-pdf".to_owned()],
    }];
    sample.facts.api_surface_summary.classes = vec![ApiSymbol {
        name: "Reader".to_owned(),
        path: "src/reader.py".to_owned(),
        line: 12,
        summary: None,
    }];
    sample.snippets.snippets = vec![Snippet {
        snippet_id: id(99),
        language: "python".to_owned(),
        tags: vec!["example".to_owned(), "quickstart".to_owned()],
        source: SnippetSource {
            r#type: "example".to_owned(),
            path: "examples/read.py".to_owned(),
            start_line: 1,
            end_line: 3,
        },
        code: "from acme import Reader\n\nReader(\"a.pdf\")\n".to_owned(),
        requirements: Vec::new(),
        validation: SnippetValidation {
            syntax_ok: Some(true),
        },
    }];
    sample.contract.sections.insert(
        Section::Docs,
        SectionContract {
            sample_size: 4,
            format: "toml".to_owned(),
            required_keys: [
                "date",
                "description",
                "draft",
                "mood",
                "tags",
                "title",
                "type",
                "weight",
            ]
            .map(str::to_owned)
            .to_vec(),
            optional_keys: Vec::new(),
            key_types: [
                ("date", "date"),
                ("description", "string"),
                ("draft", "boolean"),
                ("mood", "string"),
                ("tags", "array_string"),
                ("title", "string"),
                ("type", "string"),
                ("weight", "integer"),
            ]
            .into_iter()
            .map(|(key, kind)| (key.to_owned(), kind.to_owned()))
            .collect(),
            default_values: BTreeMap::from([
                ("type".to_owned(), "docs".into()),
                ("draft".to_owned(), true.into()),
            ]),
        },
    );
    sample
}
