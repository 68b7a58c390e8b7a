//! Cases of `plan`, as tables.

use proptest::prelude::*;
use windlass_launch_model::{ClaimKind, PageRole, SiteKind, TruthStatus};

use super::*;
use crate::{sample, url::Language};

fn ids(planned: &Planned) -> Vec<&str> {
    planned
        .plan
        .pages
        .iter()
        .map(|page| page.page_id.as_str())
        .collect()
}

#[test]
fn a_product_with_evidence_gets_its_pages() {
    let sample = sample::full(SiteKind::Hugo);
    let planned = sample.plan();
    assert_eq!(planned.issues, []);
    insta::assert_debug_snapshot!(
        planned
            .plan
            .pages
            .iter()
            .map(|page| format!("{} {} {}", page.page_id, page.output_path, page.url_path))
            .collect::<Vec<_>>(), @r#"
    [
        "products/_index content/products/acme/_index.md /products/acme/",
        "docs/_index content/docs/acme/_index.md /docs/acme/",
        "docs/developer-guide content/docs/acme/developer-guide.md /docs/acme/developer-guide/",
        "docs/getting-started content/docs/acme/getting-started.md /docs/acme/getting-started/",
        "reference/_index content/reference/acme/_index.md /reference/acme/",
        "reference/api content/reference/acme/api.md /reference/acme/api/",
        "kb/_index content/kb/acme/_index.md /kb/acme/",
        "blog/_index content/blog/acme/_index.md /blog/acme/",
        "blog/introducing content/blog/acme/introducing.md /blog/acme/introducing/",
    ]
    "#);
    insta::assert_debug_snapshot!(planned.plan.evidence_volume, @r#"
    {
        "api_symbols": 1,
        "claims": 13,
        "score": 30,
        "snippets": 1,
    }
    "#);
}

#[test]
fn a_product_without_evidence_gets_a_minimal_launch() {
    let planned = sample::bare(SiteKind::Hugo).plan();
    assert_eq!(planned.plan.launch_tier, "minimal");
    assert_eq!(
        planned.plan.tier_adjustments,
        ["0 usable claims are fewer than 5"]
    );
    assert_eq!(
        ids(&planned),
        [
            "products/_index",
            "docs/_index",
            "docs/developer-guide",
            "docs/getting-started",
            "reference/_index",
            "reference/api",
            "kb/_index",
            "blog/_index",
            "blog/introducing",
        ]
    );
}

#[test]
fn the_tier_sets_the_maximum_and_the_evidence_the_number() {
    let mut sample = sample::full(SiteKind::Hugo);
    for number in 0..200 {
        sample.claim(
            &format!("Feature number {number} works."),
            ClaimKind::Feature,
            "key_features",
        );
    }
    let count = |tier: LaunchTier, sample: &mut sample::Sample| {
        sample.settings.launch_tier = tier;
        let planned = sample.plan();
        (
            planned.plan.effective_quotas[&Section::Docs],
            planned
                .plan
                .pages
                .iter()
                .filter(|page| page.section == Section::Docs)
                .count(),
        )
    };
    assert_eq!(
        count(LaunchTier::Minimal, &mut sample),
        (Quota { min: 3, max: 3 }, 3)
    );
    assert_eq!(
        count(LaunchTier::Standard, &mut sample),
        (Quota { min: 3, max: 5 }, 5)
    );
    assert_eq!(
        count(LaunchTier::Rich, &mut sample),
        (Quota { min: 3, max: 6 }, 6)
    );
    for page in &sample.plan().plan.pages {
        assert!(page.required_claim_ids.len() <= page.content_strategy.claim_quota.max as usize);
    }
}

#[test]
fn a_kind_of_product_may_need_a_page_besides() {
    let mut sample = sample::bare(SiteKind::Hugo);
    assert!(!ids(&sample.plan()).contains(&"docs/installation"));
    sample.inventory.inferred_product_type = "cli".to_owned();
    assert!(ids(&sample.plan()).contains(&"docs/installation"));
}

#[test]
fn what_is_not_backed_or_contradicted_or_concluded_is_not_used() {
    let mut sample = sample::full(SiteKind::Hugo);
    let loser = sample.claim("It writes ODT files.", ClaimKind::Feature, "key_features");
    let winner = sample.claim(
        "It does not write ODT files.",
        ClaimKind::Feature,
        "key_features",
    );
    sample.contradict(&loser, &winner, Some(&winner));
    let inferred = sample.claim("It is probably quick.", ClaimKind::Feature, "key_features");
    sample
        .facts
        .claims
        .iter_mut()
        .find(|claim| claim.claim_id == inferred)
        .unwrap()
        .truth_status = TruthStatus::Inference;
    let unbacked = sample.claim("It has no evidence.", ClaimKind::Feature, "key_features");
    sample.evidence.claims.remove(&unbacked);
    let token = sample.claim("It says {{ hello }}.", ClaimKind::Feature, "key_features");
    let forbidden = sample.claim("The pricing is fair.", ClaimKind::Feature, "key_features");
    let planned = sample.plan();
    let used: BTreeSet<&String> = planned
        .plan
        .pages
        .iter()
        .flat_map(|page| &page.required_claim_ids)
        .collect();
    assert!(used.contains(&winner));
    for id in [&loser, &inferred, &unbacked, &token, &forbidden] {
        assert!(!used.contains(id), "{id}");
    }
    assert_eq!(planned.plan.launch_tier, "standard");
    sample.contradict(
        &winner,
        &used.iter().next().map(|id| (*id).clone()).unwrap(),
        None,
    );
    let planned = sample.plan();
    assert_eq!(planned.plan.launch_tier, "minimal");
    assert_eq!(
        planned.plan.tier_adjustments,
        ["1 contradictions leave both claims withheld"]
    );
}

#[test]
fn two_pages_with_one_address_block() {
    let mut sample = sample::full(SiteKind::Hugo);
    sample.site_paths = vec![
        "content/docs/Acme/getting-started/index.md".to_owned(),
        "content/docs/acme/developer-guide.md".to_owned(),
    ];
    let planned = sample.plan();
    let [issue] = planned.issues.as_slice() else {
        panic!("{:?}", planned.issues)
    };
    assert_eq!(issue.severity, Severity::Blocker);
    assert_eq!(
        issue.error_code.as_deref(),
        Some("GATE_DISTRIBUTION_DUPLICATE")
    );
    assert_eq!(
        issue.message,
        "content/docs/Acme/getting-started/index.md, content/docs/acme/getting-started.md would all be served as /docs/acme/getting-started/"
    );
    // Two workflows whose names make one slug.
    let mut sample = sample::full(SiteKind::Hugo);
    sample.settings.launch_tier = LaunchTier::Rich;
    let claims = sample.facts.workflows["merge_files"].clone();
    sample
        .facts
        .workflows
        .insert("merge-files".to_owned(), claims);
    for number in 0..60 {
        sample.claim(
            &format!("Feature number {number} works."),
            ClaimKind::Feature,
            "key_features",
        );
    }
    assert_eq!(sample.plan().issues.len(), 1);
}

#[test]
fn languages_get_their_own_files_and_addresses() {
    let mut sample = sample::bare(SiteKind::Hugo);
    sample.settings.locales = vec!["en".to_owned(), "de".to_owned()];
    sample.urls.languages = ["en", "de"]
        .map(|code| Language {
            code: code.to_owned(),
            content_dir: None,
        })
        .to_vec();
    for (in_subdir, english) in [(true, "/en/docs/acme/"), (false, "/docs/acme/")] {
        sample.urls.default_language_in_subdir = in_subdir;
        let planned = sample.plan();
        assert_eq!(planned.issues, []);
        let urls: BTreeMap<&str, (&str, &str)> = planned
            .plan
            .pages
            .iter()
            .map(|page| {
                (
                    page.page_id.as_str(),
                    (page.output_path.as_str(), page.url_path.as_str()),
                )
            })
            .collect();
        assert_eq!(
            urls["docs/_index"],
            ("content/docs/acme/_index.en.md", english)
        );
        assert_eq!(
            urls["docs/_index.de"],
            ("content/docs/acme/_index.de.md", "/de/docs/acme/")
        );
    }
}

#[test]
fn every_page_is_linked_and_lists_are_complete() {
    for kind in [SiteKind::Hugo, SiteKind::Markdown] {
        let planned = sample::full(kind).plan();
        let pages = &planned.plan.pages;
        for page in pages {
            let reached = pages.iter().any(|other| {
                other.page_id != page.page_id
                    && (other.cross_links.contains(&page.page_id)
                        || other.content_strategy.child_pages.contains(&page.page_id))
            });
            assert!(reached, "{}", page.page_id);
            if page.page_role == PageRole::Toc {
                let siblings = pages
                    .iter()
                    .filter(|other| other.section == page.section)
                    .count()
                    - 1;
                assert_eq!(page.content_strategy.child_pages.len(), siblings);
            }
            for id in &page.cross_links {
                assert!(pages.iter().any(|other| other.page_id == *id));
                assert_ne!(*id, page.page_id);
            }
        }
    }
}

#[test]
fn a_guide_covers_every_workflow() {
    let planned = sample::full(SiteKind::Hugo).plan();
    let guide = planned
        .plan
        .pages
        .iter()
        .find(|page| page.page_role == PageRole::ComprehensiveGuide)
        .unwrap();
    assert_eq!(
        guide.content_strategy.scenario_coverage,
        ["merge_files", "split_a_file"]
    );
}

#[test]
fn an_unknown_rule_or_template_set_is_refused() {
    for (rules, templates) in [(Some("99"), None), (None, Some("99"))] {
        let mut sample = sample::bare(SiteKind::Hugo);
        sample.settings.ruleset_version = rules.map(str::to_owned);
        sample.settings.templates_version = templates.map(str::to_owned);
        let problem = plan_pages(&PlanInput {
            facts: &sample.facts,
            evidence: &sample.evidence,
            snippets: &sample.snippets,
            inventory: &sample.inventory,
            site: &sample.site,
            urls: &sample.urls,
            site_paths: &sample.site_paths,
            settings: &sample.settings,
        })
        .unwrap_err();
        assert_eq!(problem.code().name, "INVALID_INPUT");
    }
}

const GROUPS: [(ClaimKind, &str); 6] = [
    (ClaimKind::Feature, "key_features"),
    (ClaimKind::Workflow, "install_steps"),
    (ClaimKind::Workflow, "quickstart_steps"),
    (ClaimKind::Limitation, "limitations"),
    (ClaimKind::Feature, "compatibility_notes"),
    (ClaimKind::Api, "workflow_claims"),
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]
    /// Whatever is known of a product: the same plan every time, every page at an address of its
    /// own or an issue that says so, and no more pages or claims than the quotas allow.
    #[test]
    fn any_facts_produce_a_valid_plan(
        claims in prop::collection::vec((0..GROUPS.len(), "[a-z ]{3,20}"), 0..40),
        workflows in prop::collection::btree_map("[a-zA-Z_é -]{1,10}", prop::collection::vec(any::<prop::sample::Index>(), 0..4), 0..8),
        locales in prop::sample::subsequence(vec!["en", "de", "fr"], 1..=3),
        sections in prop::sample::subsequence(Section::ALL.to_vec(), 1..=5),
        tier in prop::sample::select(vec![LaunchTier::Minimal, LaunchTier::Standard, LaunchTier::Rich]),
        is_hugo in any::<bool>(),
    ) {
        let kind = if is_hugo { SiteKind::Hugo } else { SiteKind::Markdown };
        let mut sample = sample::bare(kind);
        let ids: Vec<String> = claims
            .iter()
            .map(|(group, text)| sample.claim(text, GROUPS[*group].0, GROUPS[*group].1))
            .collect();
        for (name, steps) in workflows {
            let steps = steps.iter().filter(|_| !ids.is_empty()).map(|at| at.get(&ids).clone());
            sample.facts.workflows.insert(name, steps.collect());
        }
        sample.settings.locales = locales.iter().map(|locale| (*locale).to_owned()).collect();
        sample.settings.required_sections = sections;
        sample.settings.launch_tier = tier;
        sample.urls.languages = locales
            .iter()
            .map(|locale| Language { code: (*locale).to_owned(), content_dir: None })
            .collect();
        let planned = sample.plan();
        prop_assert_eq!(&planned, &sample.plan());

        let pages = &planned.plan.pages;
        let unique = |of: fn(&Page) -> &str| {
            let all: BTreeSet<String> = pages.iter().map(|page| of(page).to_lowercase()).collect();
            all.len() == pages.len()
        };
        if planned.issues.is_empty() {
            prop_assert!(unique(|page| &page.url_path) && unique(|page| &page.output_path));
            prop_assert!(unique(|page| &page.page_id));
        } else {
            prop_assert!(!unique(|page| &page.url_path) || !unique(|page| &page.output_path));
        }
        for (section, quota) in &planned.plan.effective_quotas {
            prop_assert!(quota.min <= quota.max);
            for locale in &sample.settings.locales {
                let count = pages
                    .iter()
                    .filter(|page| page.section == *section && page.locale == *locale)
                    .count();
                prop_assert!(count <= quota.max as usize);
            }
        }
        for page in pages {
            let quota = page.content_strategy.claim_quota;
            let used = page.required_claim_ids.len();
            prop_assert!(sample.settings.required_sections.contains(&page.section));
            prop_assert!(quota.min <= quota.max && used <= quota.max as usize);
            prop_assert!(used >= quota.min as usize);
            prop_assert!(page.required_claim_ids.iter().all(|id| ids.contains(id)));
        }
    }
}
