//! What a pull request says.

use serde_json::json;
use windlass_launch_model::{
    IssueStatus, Location, Profile, SiteKind, markdown::Document, truth::PageClaims,
};

use super::*;
use crate::{
    diff::{Change, pr_plan},
    sample,
};

fn report() -> ValidationReport {
    let gate = |name: &str, skipped: Option<&str>| GateResult {
        name: name.to_owned(),
        ok: true,
        skipped: skipped.is_some(),
        reason: skipped.map(str::to_owned),
        log_path: None,
    };
    ValidationReport {
        schema_version: "1.0".to_owned(),
        ok: true,
        error_code: None,
        profile: Profile::Ci,
        gates: vec![
            gate("Schema", None),
            gate("HugoBuild", Some("not_applicable")),
            gate("PageWeight", None),
        ],
        issues: vec![Issue {
            issue_id: "iss_1".to_owned(),
            gate: "PageWeight".to_owned(),
            severity: Severity::Warn,
            title: "A picture has *300* KB".to_owned(),
            message: String::new(),
            status: IssueStatus::Open,
            error_code: None,
            files: Vec::new(),
            location: Some(Location {
                path: "docs/a.md".to_owned(),
                line: Some(7),
            }),
            occurrences: Vec::new(),
            suggested_fix: None,
            fixable: false,
        }],
        manual_edits: false,
        manual_edited_files: Vec::new(),
    }
}

fn body(site_repo_url: &str) -> String {
    let sample = sample::full(SiteKind::Hugo);
    let config: RunConfig = serde_json::from_value(json!({
        "product_name": "Acme PDF",
        "product_slug": "acme-pdf",
        "family": "acme-pdf",
        "github_repo_url": "https://example.org/acme/acme-pdf.git",
        "github_ref": "a".repeat(40),
        "site_repo_url": site_repo_url,
        "allowed_paths": ["content"],
        "locales": ["en"],
    }))
    .unwrap();
    let (planned, drafts) = sample.drafts();
    let changes: Vec<Change> = drafts
        .iter()
        .take(2)
        .map(|draft| Change {
            path: draft.output_path.clone(),
            before: None,
            after: Some(draft.text.clone()),
        })
        .collect();
    let truth = TruthLockReport {
        pages: drafts
            .iter()
            .take(2)
            .map(|draft| PageClaims {
                path: draft.output_path.clone(),
                claim_ids: Document::parse(&draft.text)
                    .claim_ids()
                    .into_iter()
                    .map(str::to_owned)
                    .collect(),
            })
            .collect(),
        ..TruthLockReport::default()
    };
    pr_body(&PrBodyInput {
        run_id: "r_2026-01-31T10-00-00Z_abcdefghijklmnopqrstuvwxyz",
        config: &config,
        plan: &planned.plan,
        facts: &sample.facts,
        evidence: &sample.evidence,
        truth: &truth,
        report: &report(),
        pr_plan: &pr_plan(&"b".repeat(40), "acme-pdf", &changes),
        moved_to: None,
    })
}

#[test]
fn a_pull_request_says_what_to_review() {
    insta::assert_snapshot!(body("https://example.org/acme/site.git"), @r"
    # Launch of Acme PDF

    2 pages. Every factual sentence names its evidence.

    | what | value |
    | --- | --- |
    | run | `r_2026-01-31T10-00-00Z_abcdefghijklmnopqrstuvwxyz` |
    | profile | `ci` |
    | tier | `standard` |
    | gates | 2 of 3 passed, 1 skipped, 0 failed |
    | product commit | `aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa` |
    | site commit | `bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb` |
    | files | 2 |

    ## Pages

    | page | section | address | claims |
    | --- | --- | --- | --- |
    | [Acme PDF](https://example.org/acme/site/blob/launch/r_2026-01-31T10-00-00Z_abcdefghijklmnopqrstuvwxyz/acme-pdf/content/products/acme/_index.md) | products | `/products/acme/` | 8 |
    | [Acme PDF documentation](https://example.org/acme/site/blob/launch/r_2026-01-31T10-00-00Z_abcdefghijklmnopqrstuvwxyz/acme-pdf/content/docs/acme/_index.md) | docs | `/docs/acme/` | 0 |

    ## Evidence

    - 8 of 14 known claims are used.
    - They rest on 8 citations in 1 file of the product repository.
    - No contradiction was found.

    ## Gates

    | gate | result | open issues |
    | --- | --- | --- |
    | Schema | passed | 0 |
    | HugoBuild | skipped (not applicable) | 0 |
    | PageWeight | passed | 1 |

    ## Open warnings

    - PageWeight: A picture has \*300\* KB in `docs/a.md:7`

    ## Rollback

    Once this is merged, in a checkout of the site:

    ```sh
    git rm -- content/docs/acme/_index.md content/products/acme/_index.md
    git commit -m 'Roll back the launch of acme-pdf'
    ```

    ## Files

    - `content/docs/acme/_index.md`
    - `content/products/acme/_index.md`
    ");
}

#[test]
fn a_local_site_has_no_addresses_and_no_paths_of_the_machine() {
    let body = body("/home/me/site");
    assert!(!body.contains("/home/me") && !body.contains("/blob/"));
    assert!(body.contains("git rm -- "));
}
