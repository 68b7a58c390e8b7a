//! Every code of the severity table: one thing spoilt, one run of all gates in each profile, and
//! the issue has the severity of its row. Long because there is a case for every row.

use std::{collections::BTreeSet, sync::Arc};

use serde_json::json;
use windlass_launch_model::{
    Profile, Section, Severity, SiteKind, TruthStatus, claim::marker, facts::Contradiction,
    page::Quota,
};

use crate::gates::{
    input::{GateInput, RefusedRewrite, Subject},
    outside::{HugoBuild, LinkAnswer, ToolError},
    run::run_gates,
    sample::{
        self, CONVERTS, FakeHugo, FakeLinks, GUIDE, LONG, READS, SNIPPET, TOC, page_with, subject,
    },
    severity::{SEVERITIES, Strictness, severity},
};

const ALL: &[Profile] = &[Profile::Local, Profile::Ci, Profile::Prod];
const NOT_LOCAL: &[Profile] = &[Profile::Ci, Profile::Prod];
/// The claim where it stands with its marker, not in the front matter.
const READS_CITED: &str = "Acme PDF reads DOCX files. <!--";
const LOCAL: &[Profile] = &[Profile::Local];

type Spoil = fn(&mut Subject);

fn edit(subject: &mut Subject, path: &str, from: &str, to: &str) {
    let text = subject.site.text(path).unwrap();
    assert!(text.contains(from), "{from}");
    let text = text.replace(from, to);
    subject.site.insert(path, text);
}

fn add(subject: &mut Subject, body: &str) {
    edit(subject, GUIDE, LONG, &format!("{body}\n\n{LONG}"));
}

fn plan(subject: &mut Subject, change: impl FnOnce(&mut windlass_launch_model::Page)) {
    let mut pages = subject.plan.pages.iter_mut();
    change(pages.find(|page| page.output_path == GUIDE).unwrap());
}

fn pr_plan(subject: &mut Subject, change: impl FnOnce(&mut serde_json::Value)) {
    let mut value = serde_json::from_slice(&subject.artifacts[0].bytes).unwrap();
    change(&mut value);
    subject.artifacts[0].bytes = value.to_string().into_bytes();
}

fn answer(subject: &mut Subject, answer: LinkAnswer) {
    add(subject, "- [a](https://a.example/x)");
    let link = ("https://a.example/x".to_owned(), answer);
    subject.links = Arc::new(FakeLinks([link].into()));
}

fn hugo(subject: &mut Subject, result: Result<HugoBuild, ToolError>) {
    subject.context.site_kind = SiteKind::Hugo;
    subject.toolchain = Arc::new(FakeHugo::new(Some("0.1"), result, &[]));
}

fn built(success: bool) -> Result<HugoBuild, ToolError> {
    let log = "ERROR x".to_owned();
    Ok(HugoBuild { success, log })
}

/// The sample on a site without Hugo, which needs no folder on disk.
fn good() -> Subject {
    let mut subject = subject();
    subject.context.site_kind = SiteKind::Markdown;
    subject
}

const CASES: &[(&str, &[Profile], Spoil)] = &[
    ("GATE_SCHEMA_VALIDATION_FAILED", ALL, |s| {
        s.artifacts[0].schema = json!({"type": "array"});
    }),
    ("GATE_FRONTMATTER_MISSING", ALL, |s| {
        s.site.insert(GUIDE, format!("## Convert\n\n{LONG}\n"));
    }),
    ("GATE_FRONTMATTER_INVALID_SYNTAX", ALL, |s| {
        edit(s, GUIDE, "weight: 2", "weight: [2");
    }),
    ("GATE_FRONTMATTER_REQUIRED_FIELD_MISSING", ALL, |s| {
        edit(s, GUIDE, "title: Acme PDF guide\n", "");
    }),
    ("GATE_FRONTMATTER_TYPE_MISMATCH", ALL, |s| {
        edit(s, GUIDE, "weight: 2", "weight: heavy");
    }),
    ("GATE_MARKDOWN_LINT_ERROR", ALL, |s| {
        edit(s, GUIDE, "## Limitations\n\n", "## Limitations\n");
    }),
    ("GATE_TEMPLATE_TOKEN_UNRESOLVED", ALL, |s| {
        add(s, "__A_TOKEN__")
    }),
    ("GATE_TEMPLATE_PLACEHOLDER_TEXT", ALL, |s| {
        add(s, "Lorem ipsum dolor.")
    }),
    ("GATE_HUGO_CONFIG_MISSING", ALL, |s| {
        hugo(s, built(true));
        s.site.insert("hugo.toml", "= broken");
    }),
    ("GATE_HUGO_CONFIG_PATH_MISMATCH", ALL, |s| {
        hugo(s, built(true));
        s.site.insert("hugo.toml", "contentDir = 'src'\n");
    }),
    ("GATE_HUGO_CONFIG_SECTION_NOT_ENABLED", ALL, |s| {
        hugo(s, built(true));
        s.site.insert("hugo.toml", "disableKinds = ['section']\n");
    }),
    ("GATE_HUGO_BUILD_FAILED", ALL, |s| hugo(s, built(false))),
    ("GATE_HUGO_BUILD_PAGE_NOT_RENDERED", ALL, |s| {
        hugo(s, built(true))
    }),
    ("GATE_LINK_BROKEN_INTERNAL", ALL, |s| {
        add(s, "- [a](/nowhere/)")
    }),
    ("GATE_LINK_BROKEN_RELATIVE", ALL, |s| {
        add(s, "- [a](gone.md)")
    }),
    ("GATE_LINK_BROKEN_ANCHOR", ALL, |s| {
        add(s, "- [a](#nothing)")
    }),
    ("GATE_LINK_ORPHAN_PAGE", ALL, |s| {
        edit(s, TOC, "- [Acme PDF guide](guide/)\n", "");
    }),
    ("GATE_LINK_EXTERNAL_UNREACHABLE", NOT_LOCAL, |s| {
        answer(s, LinkAnswer::Status(404));
    }),
    ("GATE_LINK_EXTERNAL_TIMEOUT", NOT_LOCAL, |s| {
        answer(s, LinkAnswer::TimedOut)
    }),
    ("GATE_LINK_EXTERNAL_NOT_PROBED", NOT_LOCAL, |s| {
        answer(s, LinkAnswer::NotAllowed);
    }),
    ("GATE_LINK_INSECURE_HTTP", ALL, |s| {
        add(s, "- [a](http://a.example)")
    }),
    ("GATE_SNIPPET_SYNTAX_ERROR", ALL, |s| {
        s.snippets.snippets[0].code = "x = (\n".to_owned();
        s.snippets.snippets[0].validation.syntax_ok = Some(false);
        edit(s, GUIDE, SNIPPET, "x = (\n");
    }),
    ("GATE_SNIPPET_LANGUAGE_MISMATCH", ALL, |s| {
        edit(s, GUIDE, "```python", "```js");
    }),
    ("GATE_SNIPPET_NOT_IN_CATALOG", ALL, |s| {
        edit(s, GUIDE, SNIPPET, "print(1)\n");
    }),
    ("GATE_SNIPPET_NO_PARSER", ALL, |s| {
        s.snippets.snippets[0].language = "kotlin".to_owned();
        s.snippets.snippets[0].validation.syntax_ok = None;
        edit(s, GUIDE, "```python", "```kotlin");
    }),
    ("GATE_TRUTHLOCK_UNCITED_FACT", ALL, |s| {
        add(s, "It is fast.")
    }),
    ("GATE_TRUTHLOCK_UNSUPPORTED", ALL, |s| {
        edit(
            s,
            GUIDE,
            READS_CITED,
            "Acme PDF reads and encrypts DOCX files. <!--",
        );
    }),
    ("GATE_TRUTHLOCK_REWRITE_REFUSED", ALL, |s| {
        s.refused_rewrites.push(RefusedRewrite {
            path: GUIDE.to_owned(),
            sentence: "Acme PDF encrypts everything.".to_owned(),
            why: "“encrypts” is not in the evidence".to_owned(),
        });
    }),
    ("GATE_TRUTHLOCK_INVALID_CLAIM_ID", ALL, |s| {
        add(s, &format!("It is fast. {}", marker("nobody")));
    }),
    ("GATE_TRUTHLOCK_UNRESOLVED_CONTRADICTION", ALL, |s| {
        s.evidence.contradictions.push(Contradiction {
            claim_a_id: sample::id(READS),
            claim_b_id: sample::id(CONVERTS),
            resolution: "unresolved".to_owned(),
            winning_claim_id: None,
            reasoning: String::new(),
        });
    }),
    ("GATE_TRUTHLOCK_EVIDENCE_MISSING", ALL, |s| {
        s.evidence.claims.clear()
    }),
    ("GATE_TRUTHLOCK_FORBIDDEN_INFERENCE", ALL, |s| {
        for claim in &mut s.facts.claims {
            claim.truth_status = TruthStatus::Inference;
        }
    }),
    ("GATE_CONSISTENCY_PRODUCT_NAME", ALL, |s| {
        edit(s, GUIDE, "title: Acme PDF", "title: AcmePDF");
    }),
    ("GATE_CONSISTENCY_REPO_URL", ALL, |s| {
        add(s, "- [a](https://git.example/fork/acme-pdf)");
    }),
    ("GATE_CONSISTENCY_CANONICAL_URL", ALL, |s| {
        let docs = ("docs".to_owned(), "https://docs.example/acme/".to_owned());
        s.settings.canonical_urls = [docs].into();
        add(s, "- [a](https://www.docs.example/acme)");
    }),
    ("GATE_CONSISTENCY_REQUIRED_HEADING", ALL, |s| {
        plan(s, |page| page.required_headings.push("History".to_owned()));
    }),
    ("GATE_CONSISTENCY_REQUIRED_SECTION", ALL, |s| {
        s.settings.required_sections.push(Section::Blog);
    }),
    ("GATE_UNIVERSALITY_TIER", ALL, |s| {
        let quota = Quota { min: 0, max: 1 };
        s.plan.effective_quotas.insert(Section::Docs, quota);
    }),
    ("GATE_UNIVERSALITY_LIMITATIONS_MISSING", ALL, |s| {
        s.site.insert(GUIDE, page_with("See the overview."));
    }),
    ("GATE_UNIVERSALITY_INSTALL_COMMAND", ALL, |s| {
        add(s, "Run `pip install acme` first.");
    }),
    ("GATE_UNIVERSALITY_HIDDEN_INFERENCE", ALL, |s| {
        edit(
            s,
            GUIDE,
            "Acme PDF reads DOCX files. <",
            "Acme PDF reads 40 DOCX files. <",
        );
    }),
    ("GATE_DISTRIBUTION_ROLE_MISSING", ALL, |s| {
        let path = "content/docs/acme/extra.md";
        s.site.insert(path, page_with("See the overview."));
        s.changed.insert(path.to_owned(), None);
    }),
    ("GATE_DISTRIBUTION_STRATEGY_MISSING", ALL, |s| {
        plan(s, |page| page.content_strategy.scenario_coverage.clear());
    }),
    ("GATE_DISTRIBUTION_TOC_SNIPPET", ALL, |s| {
        edit(s, TOC, LONG, &format!("{LONG}\n\n```python\n{SNIPPET}```"));
    }),
    ("GATE_DISTRIBUTION_TOC_CHILD_MISSING", ALL, |s| {
        edit(s, TOC, "(guide/)", "(/docs/acme/)");
    }),
    ("GATE_DISTRIBUTION_GUIDE_COVERAGE", ALL, |s| {
        plan(s, |page| {
            let covered = &mut page.content_strategy.scenario_coverage;
            covered.push("split".to_owned());
        });
    }),
    ("GATE_DISTRIBUTION_FORBIDDEN_TOPIC", ALL, |s| {
        plan(s, |page| {
            page.forbidden_topics = vec!["XLSX files".to_owned()]
        });
    }),
    ("GATE_DISTRIBUTION_QUOTA_BELOW", ALL, |s| {
        plan(s, |page| {
            page.content_strategy.claim_quota = Quota { min: 8, max: 9 }
        });
    }),
    ("GATE_DISTRIBUTION_QUOTA_ABOVE", ALL, |s| {
        plan(s, |page| {
            page.content_strategy.claim_quota = Quota { min: 0, max: 1 }
        });
    }),
    ("GATE_DISTRIBUTION_DUPLICATE", ALL, |s| {
        let text = s.site.text(GUIDE).unwrap().to_owned();
        s.site.insert(TOC, text);
    }),
    ("GATE_DISTRIBUTION_MANDATORY_PAGE", ALL, |s| {
        plan(s, |page| {
            page.output_path = "content/docs/acme/none.md".to_owned()
        });
    }),
    ("GATE_CHANGE_BUDGET_FORMATTING", ALL, |s| {
        let before = s.site.text(GUIDE).unwrap().replace(". <!--", ".  <!--");
        s.changed
            .insert(GUIDE.to_owned(), Some(before.into_bytes()));
    }),
    ("PR_MISSING_ROLLBACK_METADATA", NOT_LOCAL, |s| {
        s.artifacts.clear()
    }),
    ("PR_INVALID_BASE_REF_FORMAT", NOT_LOCAL, |s| {
        pr_plan(s, |plan| plan["base_ref"] = json!("main"));
    }),
    ("PR_EMPTY_ROLLBACK_STEPS", NOT_LOCAL, |s| {
        pr_plan(s, |plan| plan["rollback_steps"] = json!([]));
    }),
    ("PR_EMPTY_AFFECTED_PATHS", NOT_LOCAL, |s| {
        pr_plan(s, |plan| plan["affected_paths"] = json!([]));
    }),
    ("PR_AFFECTED_PATH_NOT_IN_DIFF", NOT_LOCAL, |s| {
        pr_plan(s, |plan| plan["affected_paths"] = json!(["other.md"]));
    }),
    ("GATE_SECRET_FOUND", ALL, |s| {
        add(
            s,
            concat!("- `ghp", "_a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8`"),
        );
    }),
    ("GATE_XSS_SCRIPT", ALL, |s| add(s, "<script>x()</script>")),
    ("GATE_XSS_EMBED", ALL, |s| add(s, "<embed src=x>")),
    ("GATE_ACCESSIBILITY_HEADING_SKIP", ALL, |s| {
        add(s, "#### Deep")
    }),
    ("GATE_ACCESSIBILITY_ALT_MISSING", ALL, |s| {
        edit(s, GUIDE, "![A converted page]", "![]");
    }),
    ("GATE_ACCESSIBILITY_LINK_TEXT_EMPTY", ALL, |s| {
        add(s, "- [](/docs/acme/)")
    }),
    ("GATE_WEIGHT_PAGE", ALL, |s| {
        add(s, &format!("- `{}`", "x".repeat(500 * 1024)));
    }),
    ("GATE_WEIGHT_IMAGE", ALL, |s| {
        s.site.insert_size("static/img/a.png", 200 * 1024);
    }),
    ("GATE_TIMEOUT", ALL, |s| hugo(s, Err(ToolError::TimedOut))),
    ("GATE_TOOL_VERSION_MISMATCH", ALL, |s| {
        hugo(s, built(true));
        s.settings.hugo_version = Some("0.2".to_owned());
    }),
    ("GATE_TOOLCHAIN_SKIPPED", LOCAL, |s| {
        s.context.site_kind = SiteKind::Hugo;
        s.toolchain = Arc::new(FakeHugo::new(None, Err(ToolError::TimedOut), &[]));
    }),
];

/// The codes a run finds, with their severity.
fn found(subject: Subject) -> BTreeSet<(String, Severity)> {
    let report = run_gates(&GateInput::new(subject), &mut |_| {}).unwrap();
    let issues = report.issues.into_iter();
    issues
        .filter(|issue| issue.files != [sample::HOME])
        .map(|issue| (issue.error_code.unwrap_or_default(), issue.severity))
        .collect()
}

#[test]
fn every_row_has_a_case() {
    let rows: BTreeSet<&str> = SEVERITIES.iter().map(|(code, _)| *code).collect();
    let cases: BTreeSet<&str> = CASES.iter().map(|(code, ..)| *code).collect();
    assert_eq!(cases, rows);
    assert_eq!(cases.len(), CASES.len());
}

#[test]
fn good_pages_have_no_findings() {
    for profile in ALL {
        let mut subject = good();
        subject.profile = *profile;
        assert_eq!(found(subject), BTreeSet::new(), "{profile:?}");
    }
}

#[test]
fn every_code_is_found_with_the_severity_of_its_row() {
    let mut missing = Vec::new();
    for (code, profiles, spoil) in CASES {
        for profile in *profiles {
            let mut subject = good();
            subject.profile = *profile;
            spoil(&mut subject);
            let found = found(subject);
            let expected = severity("any", code, *profile, Strictness::Strict);
            if !found.contains(&((*code).to_owned(), expected)) {
                missing.push((code, profile, expected, found));
            }
        }
    }
    assert!(missing.is_empty(), "{missing:#?}");
}

#[test]
fn one_fault_is_reported_by_one_gate() {
    for code in [
        "GATE_WEIGHT_IMAGE",
        "GATE_LINK_BROKEN_ANCHOR",
        "GATE_XSS_EMBED",
    ] {
        let (_, _, spoil) = CASES.iter().find(|(name, ..)| *name == code).unwrap();
        let mut subject = good();
        spoil(&mut subject);
        let codes: Vec<String> = found(subject).into_iter().map(|(code, _)| code).collect();
        assert_eq!(codes, [code]);
    }
}
