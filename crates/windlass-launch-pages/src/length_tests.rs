//! Pages of products with a great deal to list keep to the budget of lines.

use windlass_launch_model::{
    ClaimKind, SiteKind,
    facts::{ApiSurface, ApiSymbol},
    markdown::Document,
};

use crate::{
    phrases::{phrase, registered_sentences},
    sample::{self, Sample},
};

fn symbols(prefix: &str, count: usize) -> Vec<ApiSymbol> {
    let symbol = |number: usize| ApiSymbol {
        name: format!("{prefix}{number:04}"),
        path: format!("src/{prefix}.py"),
        line: number as u64 + 1,
        // Every tenth is documented.
        summary: number
            .is_multiple_of(10)
            .then(|| "Does something.".to_owned()),
    };
    (0..count).map(symbol).collect()
}

/// A product with more of everything than fits.
fn large(kind: SiteKind) -> Sample {
    let mut sample = sample::full(kind);
    sample.facts.api_surface_summary = ApiSurface {
        modules: symbols("module", 150),
        classes: symbols("Class", 900),
        functions: symbols("function", 1500),
    };
    sample.facts.dependencies = (0..700).map(|number| format!("package{number}")).collect();
    for number in 0..150 {
        let text = format!("Turn wheel {number} to open lock {number}.");
        let id = sample.claim(&text, ClaimKind::Workflow, "workflow_claims");
        let workflow = format!("open_lock_{number:03}");
        sample.facts.workflows.insert(workflow, vec![id]);
        let text = format!("The lock {number} closes by itself.");
        sample.claim(&text, ClaimKind::Feature, "key_features");
        let text = format!("The lock {number} cannot be painted.");
        sample.claim(&text, ClaimKind::Limitation, "limitations");
    }
    for snippet in &mut sample.snippets.snippets {
        snippet.code = "open(lock)\n".repeat(400);
    }
    sample
}

#[test]
fn no_page_is_longer_than_its_budget() {
    for kind in [SiteKind::Hugo, SiteKind::Markdown] {
        for max_lines in [60, 100, 500, 5_000] {
            let mut sample = large(kind);
            sample.settings.max_lines = max_lines;
            let (planned, drafts) = sample.drafts();
            for (page, draft) in planned.plan.pages.iter().zip(&drafts) {
                let path = &draft.output_path;
                let lines = draft.text.lines().count() as u64;
                assert!(lines <= max_lines, "{path}: {lines} of {max_lines}");
                let read = Document::parse(&draft.text);
                let shown = read.claim_ids();
                for id in &page.required_claim_ids {
                    assert!(shown.contains(id.as_str()), "{path} lacks {id}");
                }
                let quota = page.content_strategy.claim_quota;
                let stated = read.stated_claim_ids().len();
                assert!(quota.min <= quota.max && stated <= quota.max as usize);
                assert_eq!(read.uncited(registered_sentences()).count(), 0, "{path}");
                for part in draft.text.split("\n### ").skip(1) {
                    assert!(part.contains("claim_id"), "{path}: {part}");
                }
            }
        }
    }
}

#[test]
fn a_shortened_list_says_so_and_keeps_what_is_documented() {
    let mut sample = large(SiteKind::Hugo);
    sample.facts.api_surface_summary.functions = symbols("function", 3);
    let (_, drafts) = sample.drafts();
    let of = |end: &str| {
        &drafts
            .iter()
            .find(|one| one.page_id.ends_with(end))
            .unwrap()
            .text
    };
    let api = of("reference/api");
    let part = |heading: &str| {
        let part = api.split("\n## ").find(|part| part.starts_with(heading));
        part.unwrap()
    };
    let classes = part("Classes");
    assert!(classes.contains(phrase("shortened")));
    for documented in (0..900).step_by(10) {
        assert!(
            classes.contains(&format!("`Class{documented:04}`")),
            "{documented}"
        );
    }
    let order: Vec<&str> = classes
        .lines()
        .filter(|line| line.starts_with("| `"))
        .collect();
    assert!(order.is_sorted() && order.len() > 100, "{}", order.len());
    assert!(!part("Functions").contains(phrase("shortened")));
    assert!(of("docs/developer-guide").contains(phrase("shortened")));

    let (_, drafts) = sample::full(SiteKind::Hugo).drafts();
    assert!(
        drafts
            .iter()
            .all(|draft| !draft.text.contains(phrase("shortened")))
    );
}
