//! What the drafting side writes passes every gate as it comes, on both kinds of site.

use std::{collections::BTreeMap, sync::Arc};

use windlass_launch_model::{
    ClaimKind, Profile, RepoInventory, Section, Severity, SiteKind,
    claim::claim_id,
    facts::{ApiSymbol, Evidence},
    inventory::{Fingerprint, RepoProfile},
};
use windlass_types::Digest;

use crate::{
    draft::{DraftInput, draft_pages},
    evidence::Material,
    gates::{
        input::{GateInput, Subject},
        outside::ProductFiles,
        run::run_gates,
        sample,
        site::SiteTree,
    },
    plan::{PlanInput, PlanSettings, plan_pages},
    ruleset::Ruleset,
    url::UrlRules,
};

const CLAIMS: [(&str, ClaimKind, &str); 14] = [
    (
        "Acme PDF is a library that converts office documents.",
        ClaimKind::Feature,
        "key_features",
    ),
    (
        "Acme PDF reads DOCX files.",
        ClaimKind::Format,
        "key_features",
    ),
    (
        "Acme PDF writes PDF files.",
        ClaimKind::Format,
        "key_features",
    ),
    (
        "It keeps headings, e.g. those of a report, in place.",
        ClaimKind::Feature,
        "key_features",
    ),
    (
        "Fonts are embedded when `embed_fonts` is set.",
        ClaimKind::Feature,
        "key_features",
    ),
    (
        "Run the installer of your package manager.",
        ClaimKind::Workflow,
        "install_steps",
    ),
    (
        "Import `convert` from the package.",
        ClaimKind::Workflow,
        "quickstart_steps",
    ),
    (
        "Call `convert` with a source and a target.",
        ClaimKind::Workflow,
        "workflow_claims",
    ),
    (
        "Pass `pages` to convert only 3 pages.",
        ClaimKind::Workflow,
        "workflow_claims",
    ),
    (
        "Acme PDF does not write XLSX files.",
        ClaimKind::Limitation,
        "limitations",
    ),
    (
        "Encrypted files are not supported.",
        ClaimKind::Limitation,
        "limitations",
    ),
    (
        "Python 3.10 or newer is needed.",
        ClaimKind::Feature,
        "compatibility_notes",
    ),
    (
        "It runs on Linux, macOS and Windows.",
        ClaimKind::Feature,
        "compatibility_notes",
    ),
    (
        "The `Reader` class opens a document.",
        ClaimKind::Api,
        "key_features",
    ),
];

struct Readme;

impl ProductFiles for Readme {
    fn read(&self, path: &str) -> Option<Vec<u8>> {
        let text: String = CLAIMS
            .iter()
            .map(|(text, ..)| format!("{text}\n"))
            .collect();
        (path == "README.md").then(|| text.into_bytes())
    }
}

fn facts(subject: &mut Subject) {
    let sample = subject.facts.claims[0].clone();
    let citation = subject.evidence.claims.values().next().unwrap().citations[0].clone();
    subject.facts.claims.clear();
    subject.facts.claim_groups.clear();
    subject.facts.workflows.clear();
    subject.evidence.claims.clear();
    for (index, (text, kind, group)) in CLAIMS.into_iter().enumerate() {
        let id = claim_id(text, "Acme PDF", kind);
        let mut claim = sample.clone();
        claim.claim_id.clone_from(&id);
        claim.claim_text = text.to_owned();
        claim.claim_kind = kind;
        subject.facts.claims.push(claim);
        subject
            .facts
            .claim_groups
            .entry(group.to_owned())
            .or_default()
            .push(id.clone());
        if group == "workflow_claims" {
            subject
                .facts
                .workflows
                .entry("convert_documents".to_owned())
                .or_default()
                .push(id.clone());
        }
        let mut citation = citation.clone();
        citation.start_line = index as u64 + 1;
        citation.end_line = citation.start_line;
        citation.excerpt_sha256 = Digest::of(text.as_bytes()).to_string();
        let evidence = Evidence {
            citations: vec![citation],
            source_priority: 6,
        };
        subject.evidence.claims.insert(id, evidence);
    }
    subject
        .facts
        .claims
        .sort_by(|a, b| a.claim_id.cmp(&b.claim_id));
    let (first, kind, _) = CLAIMS[0];
    subject.facts.positioning_claim_id = Some(claim_id(first, "Acme PDF", kind));
    let symbol = |name: &str| ApiSymbol {
        name: name.to_owned(),
        path: "acme/__init__.py".to_owned(),
        line: 3,
        summary: None,
    };
    subject.facts.api_surface_summary.classes = vec![symbol("Reader")];
    subject.facts.api_surface_summary.functions = vec![symbol("convert")];
    for tags in [
        &["quickstart", "convert", "example"][..],
        &["convert_documents", "workflow"],
    ] {
        let mut snippet = subject.snippets.snippets[0].clone();
        snippet.tags = tags.iter().map(|tag| (*tag).to_owned()).collect();
        subject.snippets.snippets.push(snippet);
    }
    subject.snippets.snippets.remove(0);
    subject.product = Arc::new(Readme);
}

fn launch(kind: SiteKind, profile: Profile) -> Subject {
    let mut subject = sample::subject();
    facts(&mut subject);
    subject.profile = profile;
    subject.site = SiteTree::default();
    let hugo = kind == SiteKind::Hugo;
    let root = if hugo { "content" } else { "." };
    if hugo {
        subject.site.insert("hugo.toml", "title = 'Site'\n");
    }
    subject.context.site_kind = kind;
    subject.context.content_root = root.to_owned();
    subject.context.section_roots = Section::ALL
        .into_iter()
        .map(|section| {
            let folder = section.as_str();
            (
                section,
                if hugo {
                    format!("content/{folder}")
                } else {
                    folder.to_owned()
                },
            )
        })
        .collect();
    subject.contract.sections = BTreeMap::new();
    subject.settings.required_sections = Section::ALL.to_vec();
    let urls = UrlRules::of(&subject.context, None);
    let inventory = RepoInventory {
        schema_version: "1.0".to_owned(),
        repo_url: subject.facts.repo_url.clone(),
        repo_sha: "b".repeat(40),
        fingerprint: Fingerprint::default(),
        repo_profile: RepoProfile::default(),
        paths: Vec::new(),
        doc_entrypoints: Vec::new(),
        example_paths: Vec::new(),
        binary_assets: Vec::new(),
        phantom_paths: Vec::new(),
        inferred_product_type: "library".to_owned(),
    };
    let settings = PlanSettings {
        family: "acme".to_owned(),
        locales: vec!["en".to_owned()],
        required_sections: Section::ALL.to_vec(),
        locale_modes: BTreeMap::new(),
        launch_tier: windlass_launch_model::config::LaunchTier::Standard,
        ruleset_version: None,
        templates_version: None,
        allow_inference: false,
        max_lines: 500,
    };
    let planned = plan_pages(&PlanInput {
        facts: &subject.facts,
        evidence: &subject.evidence,
        snippets: &subject.snippets,
        inventory: &inventory,
        site: &subject.context,
        urls: &urls,
        site_paths: &[],
        settings: &settings,
    })
    .unwrap();
    let material = Material::gather(
        &subject.facts,
        &subject.evidence,
        &subject.snippets,
        kind,
        false,
    );
    let drafts = draft_pages(&DraftInput {
        plan: &planned.plan,
        material: &material,
        contract: &subject.contract,
        site_kind: kind,
        ruleset: &Ruleset::load(None).unwrap(),
        date: "2024-05-06",
        canonical_urls: &subject.settings.canonical_urls,
        max_lines: 500,
    })
    .unwrap();
    subject.changed.clear();
    for draft in drafts {
        subject.changed.insert(draft.output_path.clone(), None);
        subject.site.insert(&draft.output_path, draft.text);
    }
    subject.plan = planned.plan;
    let paths: Vec<&String> = subject.changed.keys().collect();
    let plan = serde_json::json!({"base_ref": "ab".repeat(20), "rollback_steps": ["git revert"], "affected_paths": paths});
    subject.artifacts[0].bytes = plan.to_string().into_bytes();
    subject
}

#[test]
fn drafts_pass_every_gate_as_they_come() {
    for kind in [SiteKind::Markdown, SiteKind::Hugo] {
        for profile in [Profile::Local, Profile::Prod] {
            let mut subject = launch(kind, profile);
            let out = tempfile::tempdir().unwrap();
            subject.hugo_out = out.path().to_path_buf();
            let pages: Vec<&str> = subject
                .plan
                .pages
                .iter()
                .map(|page| page.url_path.trim_matches('/'))
                .collect();
            let built = Ok(crate::gates::outside::HugoBuild {
                success: true,
                log: String::new(),
            });
            subject.toolchain = Arc::new(sample::FakeHugo::new(Some("0.1"), built, &pages));
            let input = GateInput::new(subject);
            let report = run_gates(&input, &mut |_| {}).unwrap();
            let findings: Vec<String> = report
                .issues
                .iter()
                .filter(|issue| issue.severity >= Severity::Warn)
                .map(|issue| {
                    let places: Vec<String> = issue
                        .occurrences
                        .iter()
                        .map(|o| format!("{}: {}", o.line, o.excerpt))
                        .collect();
                    format!(
                        "{:?} {:?} {} {places:?}",
                        issue.severity, issue.files, issue.message
                    )
                })
                .collect();
            assert!(
                findings.is_empty(),
                "{kind:?} {profile:?}\n{}",
                findings.join("\n")
            );
            assert!(report.ok && input.changed.len() > 4);
        }
    }
}
