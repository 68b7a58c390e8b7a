//! Every fixer: its failing case passes afterwards, and no other gate breaks.
//!
//! Long because every fixer is one scene with its page before and after.

use serde_json::json;
use windlass_launch_model::{Severity, SiteKind, ValidationReport, claim::marker, page::Quota};

use super::*;
use crate::{
    gates::{
        input::Subject,
        run::run_gates,
        sample::{self, GUIDE, LANDING, LONG, READS, SNIPPET, TOC, page_with, subject},
        select::next_issue,
    },
    patch::{Outcome, apply_patch},
};

fn plain(mut subject: Subject) -> Subject {
    subject.context.site_kind = SiteKind::Hugo;
    subject.toolchain = std::sync::Arc::new(sample::FakeHugo::new(
        None,
        Err(crate::gates::outside::ToolError::TimedOut),
        &[],
    ));
    subject
}

fn report(input: &GateInput) -> ValidationReport {
    run_gates(input, &mut |_| {}).unwrap()
}

fn failing(report: &ValidationReport) -> Vec<(String, String)> {
    let failing = report
        .issues
        .iter()
        .filter(|issue| issue.severity >= Severity::Warn);
    failing
        .map(|issue| {
            (
                issue.error_code.clone().unwrap_or_default(),
                issue.message.clone(),
            )
        })
        .filter(|(code, _)| code != "GATE_TOOLCHAIN_SKIPPED")
        .collect()
}

/// Spoils the sample, fixes the one issue of that code, applies the patches, and gives the text.
/// The code is gone afterwards and nothing else came.
fn fix_result(code: &str, path: &str, spoil: impl Fn(&mut Subject)) -> String {
    let make = || {
        let mut subject = plain(subject());
        spoil(&mut subject);
        subject
    };
    let input = GateInput::new(make());
    let before = report(&input);
    let issue = before
        .issues
        .iter()
        .find(|issue| issue.error_code.as_deref() == Some(code) && issue.severity >= Severity::Warn)
        .unwrap_or_else(|| panic!("{code} is not found: {:?}", failing(&before)));
    assert!(issue.fixable, "{code}");
    let fixed = fix(&input, issue, 7).unwrap();
    assert_eq!(fixed.patches[0].patch_id, "patch_007");
    assert!(!fixed.notes.is_empty());
    assert_eq!(fix(&input, issue, 7).unwrap(), fixed, "the same again");

    let mut after = make();
    for patch in &fixed.patches {
        let Ok(Outcome::Written(text)) = apply_patch(input.site.bytes(&patch.path), patch) else {
            panic!("the patch of {code} does not apply");
        };
        after.site.insert(&patch.path, text);
    }
    let text = after.site.text(path).unwrap().to_owned();
    let after = report(&GateInput::new(after));
    let known = failing(&before);
    let left = failing(&after);
    assert!(
        !left.iter().any(|(found, _)| found == code),
        "{code} stays: {left:?}\n{text}"
    );
    let new: Vec<_> = left
        .iter()
        .filter(|(found, _)| !known.iter().any(|(k, _)| k == found))
        .collect();
    assert!(new.is_empty(), "{code} brings {new:?}\n{text}");
    let (before, after) = (counted(&before), counted(&after));
    for (gate, count) in after {
        let had = before.get(&gate).copied().unwrap_or_default();
        assert!(count <= had, "{code} makes {gate} worse: {count} > {had}");
    }
    text
}

/// How often each gate is not content.
fn counted(report: &ValidationReport) -> std::collections::BTreeMap<String, usize> {
    let mut counts = std::collections::BTreeMap::new();
    for issue in &report.issues {
        if issue.severity >= Severity::Warn {
            *counts.entry(issue.gate.clone()).or_default() += issue.occurrences.len().max(1);
        }
    }
    counts
}

/// The sample's guide with something put before its last paragraph.
fn guide_with(body: &str) -> impl Fn(&mut Subject) + '_ {
    move |subject| {
        let text = subject.site.text(GUIDE).unwrap();
        let text = text.replace(LONG, &format!("{body}\n\n{LONG}"));
        subject.site.insert(GUIDE, text);
    }
}

fn guide_replacing<'a>(from: &'a str, to: &'a str) -> impl Fn(&mut Subject) + 'a {
    move |subject| {
        let text = subject.site.text(GUIDE).unwrap();
        assert!(text.contains(from), "{from}");
        let text = text.replace(from, to);
        subject.site.insert(GUIDE, text);
    }
}

#[test]
fn tokens_get_their_value_or_go() {
    let code = "GATE_TEMPLATE_TOKEN_UNRESOLVED";
    let text = fix_result(
        code,
        GUIDE,
        guide_replacing("Acme PDF guide", "__PRODUCT_NAME__ guide"),
    );
    assert!(text.contains("title: \"Acme PDF guide\"\n"), "{text}");
    let text = fix_result(
        code,
        GUIDE,
        guide_replacing("weight: 2", "layout: {{ layout }}\nweight: 2"),
    );
    assert!(!text.contains("layout"), "{text}");
    let text = fix_result(
        code,
        GUIDE,
        guide_with("- [{{ unknown }}](/docs/acme/)\n- [Overview](/docs/acme/)"),
    );
    assert!(text.contains("\n\n- [Overview](/docs/acme/)\n"), "{text}");
    let text = fix_result(
        code,
        GUIDE,
        guide_with("<img src=\"/img/a.png\" alt=\"x\" title=\"{{ unknown }}\">"),
    );
    assert!(
        text.contains("<img src=\"/img/a.png\" alt=\"x\">"),
        "{text}"
    );
    let text = fix_result(code, GUIDE, |subject| {
        subject.settings.token_values = [("spot".to_owned(), "/docs/acme/".to_owned())].into();
        guide_with("- [Overview]({{spot}})")(subject);
    });
    assert!(text.contains("- [Overview](/docs/acme/)"), "{text}");
}

#[test]
fn front_matter_is_added_fixed_and_completed() {
    let text = fix_result("GATE_FRONTMATTER_MISSING", GUIDE, |subject| {
        let text = subject.site.text(GUIDE).unwrap();
        let body = text
            .splitn(3, "---\n")
            .nth(2)
            .unwrap()
            .trim_start()
            .to_owned();
        subject.site.insert(GUIDE, body);
    });
    assert!(
        text.starts_with("---\ntitle: \"Acme PDF guide\"\n---\n\n## Convert\n"),
        "{text}"
    );

    let syntax = "GATE_FRONTMATTER_INVALID_SYNTAX";
    let text = fix_result(
        syntax,
        GUIDE,
        guide_replacing("title: Acme PDF guide", "title: \"Acme: PDF\" guide"),
    );
    assert!(
        text.contains("title: ") && text.contains("weight: 2\n"),
        "{text}"
    );
    let text = fix_result(
        syntax,
        GUIDE,
        guide_replacing("weight: 2\n---\n", "weight: 2\n"),
    );
    assert!(text.contains("weight: 2\n---\n\n## Convert"), "{text}");
    let text = fix_result(
        syntax,
        GUIDE,
        guide_replacing("weight: 2\n", "weight: 2\nweight: 3\nstray\n"),
    );
    assert!(text.contains("weight: 2\n---\n"), "{text}");

    let text = fix_result(
        "GATE_FRONTMATTER_REQUIRED_FIELD_MISSING",
        GUIDE,
        guide_replacing("title: Acme PDF guide\n", ""),
    );
    assert!(text.contains("title: \"Acme PDF guide\"\n"), "{text}");
    let text = fix_result(
        "GATE_FRONTMATTER_TYPE_MISMATCH",
        GUIDE,
        guide_replacing("weight: 2", "weight: \"2\""),
    );
    assert!(text.contains("weight: 2\n"), "{text}");
}

#[test]
fn links_are_corrected_or_removed() {
    let internal = "GATE_LINK_BROKEN_INTERNAL";
    let text = fix_result(internal, LANDING, |subject| {
        let text = subject
            .site
            .text(LANDING)
            .unwrap()
            .replace("](/docs/acme/)", "](/old/guide/)");
        subject.site.insert(LANDING, text);
    });
    assert!(
        text.contains("[Documentation](") && text.contains("docs/acme/guide"),
        "{text}"
    );
    let text = fix_result(
        internal,
        GUIDE,
        guide_replacing("](/docs/acme/).", "](/nowhere/)."),
    );
    assert!(text.contains("See the overview."), "{text}");
    let text = fix_result(internal, GUIDE, guide_with("- [Gone for good](/nowhere/)"));
    assert!(!text.contains("Gone for good"), "{text}");
    let text = fix_result(internal, GUIDE, guide_with("![A picture](/img/none.png)"));
    assert!(!text.contains("none.png"), "{text}");
    let text = fix_result(
        "GATE_LINK_BROKEN_RELATIVE",
        GUIDE,
        guide_with("- [Overview](/docs/acme/), [x]({{< ref \"gone.md\" >}})"),
    );
    assert!(!text.contains("gone.md"), "{text}");
    let text = fix_result(
        "GATE_LINK_BROKEN_ANCHOR",
        GUIDE,
        guide_with("- [Limits](#limitation)"),
    );
    assert!(text.contains("[Limits](#limitations)"), "{text}");
    let text = fix_result(
        "GATE_LINK_BROKEN_ANCHOR",
        GUIDE,
        guide_replacing("(/docs/acme/)", "(/docs/acme/#none)"),
    );
    assert!(text.contains("See the overview."), "{text}");
}

#[test]
fn lint_is_fixed_and_the_rules_are_listed() {
    let text = fix_result(
        "GATE_MARKDOWN_LINT_ERROR",
        GUIDE,
        guide_replacing("## Limitations\n\n", "## Limitations:   \n"),
    );
    assert!(text.contains("## Limitations\n\n"), "{text}");
}

#[test]
fn uncited_facts_are_cited_or_go() {
    let code = "GATE_TRUTHLOCK_UNCITED_FACT";
    let own = format!("{READS} {}", marker(&sample::id(READS)));
    let text = fix_result(code, GUIDE, guide_replacing(&own, READS));
    assert!(text.contains(&own), "{text}");
    let text = fix_result(code, GUIDE, guide_with("The Acme PDF reads DOCX files."));
    assert!(
        text.contains(&format!(
            "The Acme PDF reads DOCX files. {}",
            marker(&sample::id(READS))
        )),
        "{text}"
    );
    let text = fix_result(
        code,
        GUIDE,
        guide_with("Acme PDF always reads DOCX files. See the overview."),
    );
    assert!(
        !text.contains("always") && text.contains("\n\nSee the overview.\n"),
        "{text}"
    );
    // It says more than the claim it is like, so the claim is not named for it.
    let text = fix_result(code, GUIDE, guide_with("Acme PDF reads all DOCX files."));
    assert!(!text.contains("reads all"), "{text}");
    let text = fix_result(
        code,
        GUIDE,
        guide_with("- `encrypts`\n- [Overview](/docs/acme/)"),
    );
    assert!(!text.contains("encrypts"), "{text}");
    let text = fix_result(
        code,
        GUIDE,
        guide_with("- **Nobody** wrote this.\n- [Overview](/docs/acme/)"),
    );
    assert!(!text.contains("Nobody"), "{text}");
    let text = fix_result(
        code,
        GUIDE,
        guide_replacing(
            "description: Acme PDF reads DOCX files.\n",
            "description: The best.\n",
        ),
    );
    assert!(!text.contains("description"), "{text}");
}

#[test]
fn what_says_more_than_its_claim_is_put_right() {
    let code = "GATE_TRUTHLOCK_UNSUPPORTED";
    let own = format!("{READS} {}", marker(&sample::id(READS)));
    for lie in [
        "It encrypts all traffic and stores passwords in PostgreSQL.",
        "Acme PDF **securely** reads DOCX files.",
    ] {
        let lie = format!("{lie} {}", marker(&sample::id(READS)));
        let text = fix_result(code, GUIDE, guide_replacing(&own, &lie));
        assert!(text.contains(&own) && !text.contains(&lie), "{text}");
    }
}

#[test]
fn unknown_claims_are_matched_or_removed() {
    let code = "GATE_TRUTHLOCK_INVALID_CLAIM_ID";
    let bad = marker(&"0".repeat(64));
    let good = marker(&sample::id(READS));
    let text = fix_result(code, GUIDE, guide_replacing(&good, &bad));
    assert!(text.contains(&format!("{READS} {good}")), "{text}");
    let text = fix_result(
        code,
        GUIDE,
        guide_with(&format!("Nobody says this. {bad} See the overview.")),
    );
    assert!(
        !text.contains("Nobody says") && !text.contains(&bad),
        "{text}"
    );
    let text = fix_result(
        code,
        GUIDE,
        guide_replacing(&good, &format!("{good} {bad}")),
    );
    assert!(text.contains(&good) && !text.contains(&bad), "{text}");
}

#[test]
fn names_and_addresses_are_written_right() {
    let text = fix_result(
        "GATE_CONSISTENCY_PRODUCT_NAME",
        GUIDE,
        guide_replacing("title: Acme PDF", "title: AcmePDF"),
    );
    assert!(text.contains("title: Acme PDF guide"), "{text}");
    let text = fix_result(
        "GATE_CONSISTENCY_REPO_URL",
        GUIDE,
        guide_with("- [Issues](https://git.example/fork/acme-pdf/issues)"),
    );
    assert!(
        text.contains("(https://git.example/acme/acme-pdf/issues)"),
        "{text}"
    );
    let text = fix_result("GATE_CONSISTENCY_CANONICAL_URL", GUIDE, |subject| {
        subject.settings.canonical_urls =
            [("docs".to_owned(), "https://docs.example/acme/".to_owned())].into();
        guide_with("- [Docs](https://www.docs.example/acme)")(subject);
    });
    assert!(text.contains("(https://docs.example/acme/)"), "{text}");
    for wrong in [
        "\"\"",
        "''",
        "https://old.example/",
        "\"https://old.example/\"",
    ] {
        let text = fix_result("GATE_CONSISTENCY_CANONICAL_URL", GUIDE, |subject| {
            subject.settings.canonical_urls =
                [("docs".to_owned(), "https://docs.example/acme/".to_owned())].into();
            let keys = format!("weight: 2\ncanonical: {wrong}");
            guide_replacing("weight: 2", &keys)(subject);
        });
        let right = "\ncanonical: \"https://docs.example/acme/guide/\"\n---\n";
        assert!(text.contains(right), "{wrong}: {text}");
    }
}

#[test]
fn an_empty_default_is_not_a_value() {
    for (default, kind, expected) in [
        (json!(null), "unknown", "\naudience: \"\"\n"),
        (
            json!("__AUDIENCE__"),
            "string",
            "\naudience: \"Acme PDF guide\"\n",
        ),
        (json!("staff"), "string", "\naudience: \"staff\"\n"),
    ] {
        let blank = |subject: &mut Subject| {
            for contract in subject.contract.sections.values_mut() {
                let key = "audience".to_owned();
                contract.required_keys.push(key.clone());
                contract.key_types.insert(key.clone(), kind.to_owned());
                contract.default_values.insert(key, default.clone());
            }
            subject.changed.retain(|path, _| path == GUIDE);
            guide_replacing("weight: 2", "weight: 2\naudience:")(subject);
        };
        let text = fix_result("GATE_FRONTMATTER_REQUIRED_FIELD_MISSING", GUIDE, blank);
        assert!(text.contains(expected), "{default}: {text}");
        if default == json!("__AUDIENCE__") {
            let text = fix_result("GATE_TEMPLATE_TOKEN_UNRESOLVED", GUIDE, |subject| {
                blank(subject);
                guide_replacing("audience:\n", "audience: __AUDIENCE__\n")(subject);
            });
            assert!(text.contains(expected), "{default}: {text}");
        }
    }
}

#[test]
fn what_was_wrong_before_the_run_is_fixed_too() {
    let body = "## Notes of ours\n\nIt never fails.\n\n* [Docs](/docs/acme/)\n+ [Home](/)";
    for code in ["GATE_TRUTHLOCK_UNCITED_FACT", "GATE_MARKDOWN_LINT_ERROR"] {
        fix_result(code, GUIDE, |subject| {
            guide_with(body)(subject);
            let before = subject
                .site
                .text(GUIDE)
                .unwrap()
                .replace("weight: 2", "weight: 3");
            let before = Some(before.into_bytes());
            subject.changed.insert(GUIDE.to_owned(), before);
        });
    }
}

#[test]
fn headings_are_added_at_their_place() {
    let code = "GATE_CONSISTENCY_REQUIRED_HEADING";
    let limit = format!(
        "{} {}\n\n",
        sample::LIMIT,
        marker(&sample::id(sample::LIMIT))
    );
    let text = fix_result(
        code,
        GUIDE,
        guide_replacing(&format!("## Limitations\n\n{limit}"), ""),
    );
    assert!(
        text.contains(&format!("## Limitations\n\n- {}", limit.trim())),
        "{text}"
    );
    let text = fix_result(code, GUIDE, |subject| {
        for page in &mut subject.plan.pages {
            if page.output_path == GUIDE {
                page.required_headings.insert(1, "History".to_owned());
            }
        }
    });
    let place = |heading: &str| text.find(heading).unwrap();
    assert!(
        place("## Convert") < place("## History") && place("## History") < place("## Limitations"),
        "{text}"
    );
}

#[test]
fn code_comes_from_the_catalogue() {
    let code = "GATE_SNIPPET_NOT_IN_CATALOG";
    let text = fix_result(code, GUIDE, guide_replacing(SNIPPET, "print(1)\n"));
    assert!(
        text.contains(SNIPPET) && !text.contains("print(1)"),
        "{text}"
    );
    let text = fix_result(code, GUIDE, |subject| {
        subject
            .registered
            .insert(crate::gates::prose::digest("The steps are these:"));
        guide_with("The steps are these:\n\n```python\nprint(1)\n```")(subject);
    });
    assert!(
        !text.contains("print(1)") && !text.contains("The steps are these"),
        "{text}"
    );
    let text = fix_result(
        "GATE_SNIPPET_LANGUAGE_MISMATCH",
        GUIDE,
        guide_replacing("```python", "```js"),
    );
    assert!(text.contains("```python\nfrom acme"), "{text}");
}

#[test]
fn headings_pictures_and_addresses_are_accessible() {
    let text = fix_result(
        "GATE_ACCESSIBILITY_HEADING_SKIP",
        GUIDE,
        guide_with("#### Deep\n\n##### Deeper\n\n#### Beside\n\n## Next"),
    );
    assert!(
        text.contains("\n### Deep\n\n#### Deeper\n\n### Beside\n\n## Next\n"),
        "{text}"
    );
    let code = "GATE_ACCESSIBILITY_ALT_MISSING";
    let text = fix_result(code, GUIDE, guide_replacing("![A converted page]", "![]"));
    assert!(text.contains("![Limitations](/img/a.png)"), "{text}");
    let text = fix_result(
        code,
        GUIDE,
        guide_with("<img src=\"/img/a.png\" title=\"A page\">"),
    );
    assert!(text.contains("<img alt=\"A page\" src="), "{text}");
    let text = fix_result(
        "GATE_LINK_INSECURE_HTTP",
        GUIDE,
        guide_with("- [a](http://a.example/x)\n- [b](http://localhost/)"),
    );
    assert!(
        text.contains("(https://a.example/x)") && text.contains("(http://localhost/)"),
        "{text}"
    );
}

#[test]
fn pages_are_listed_in_their_table_of_contents() {
    let without = |subject: &mut Subject| {
        let text = subject
            .site
            .text(TOC)
            .unwrap()
            .replace("- [Acme PDF guide](guide/)", "- [Product](/products/acme/)");
        subject.site.insert(TOC, text);
    };
    for code in [
        "GATE_DISTRIBUTION_TOC_CHILD_MISSING",
        "GATE_LINK_ORPHAN_PAGE",
    ] {
        let text = fix_result(code, TOC, without);
        assert!(
            text.contains("- [Product](/products/acme/)\n- [Acme PDF guide]("),
            "{text}"
        );
    }
    let text = fix_result("GATE_DISTRIBUTION_TOC_CHILD_MISSING", TOC, |subject| {
        subject.site.insert(TOC, page_with("See the overview."));
    });
    assert!(text.ends_with(")\n"), "{text}");
}

#[test]
fn every_code_has_at_most_one_fixer_and_a_row() {
    let mut codes: Vec<&str> = FIXERS
        .iter()
        .flat_map(|fixer| fixer.codes)
        .copied()
        .collect();
    let count = codes.len();
    codes.sort_unstable();
    codes.dedup();
    assert_eq!(codes.len(), count);
    let rows = crate::gates::severity::SEVERITIES;
    assert!(
        codes
            .iter()
            .all(|code| rows.iter().any(|(row, _)| row == code))
    );
}

#[test]
fn every_fixer_is_tried() {
    // By name, in the text of these tests: a fixer without a scene is noticed here.
    let scenes = include_str!("fix_tests.rs");
    for code in FIXERS.iter().flat_map(|fixer| fixer.codes) {
        assert!(scenes.contains(&format!("\"{code}\"")), "{code}");
    }
}

#[test]
fn unfixable_issues_are_reported() {
    let input = GateInput::new(plain(subject()));
    let mut issue = report(&GateInput::new({
        let mut subject = plain(subject());
        guide_with("__A_TOKEN__")(&mut subject);
        subject
    }))
    .issues
    .remove(0);
    // The page it was found on is as it should be by now.
    issue.occurrences.clear();
    assert_eq!(
        fix(&input, &issue, 1),
        Err(FixError::NoDiff(issue.issue_id.clone()))
    );
    issue.files = vec!["gone.md".to_owned()];
    assert_eq!(
        fix(&input, &issue, 1),
        Err(FixError::NoPage("gone.md".to_owned()))
    );
    issue.error_code = Some("GATE_SECRET_FOUND".to_owned());
    assert_eq!(
        fix(&input, &issue, 1),
        Err(FixError::NoFixer("GATE_SECRET_FOUND".to_owned()))
    );
}

#[test]
fn fixing_one_after_another_ends_with_a_good_report() {
    let mut subject = plain(subject());
    guide_with(
        "#Bad heading\n\nA fact of my own.\n\n![](/img/a.png)\n\n- [a](http://a.example)\n- [b](/nowhere/)",
    )(&mut subject);
    let mut site = subject.site.clone();
    let fresh = |site: &crate::gates::site::SiteTree| {
        let mut next = plain(self::subject());
        next.site = site.clone();
        GateInput::new(next)
    };
    for round in 1.. {
        let input = fresh(&site);
        let report = report(&input);
        if report.ok {
            assert!(round > 3);
            break;
        }
        assert!(round < 10, "{:?}", failing(&report));
        let issue = next_issue(&report.issues).unwrap_or_else(|| panic!("{:?}", failing(&report)));
        for patch in fix(&input, issue, round).unwrap().patches {
            let Ok(Outcome::Written(text)) = apply_patch(site.bytes(&patch.path), &patch) else {
                panic!("a patch does not apply");
            };
            site.insert(&patch.path, text);
        }
    }
}

#[test]
fn a_quota_leaves_room_or_the_text_says_nothing_is_known() {
    let limit = format!(
        "## Limitations\n\n{} {}\n\n",
        sample::LIMIT,
        marker(&sample::id(sample::LIMIT))
    );
    let text = fix_result("GATE_CONSISTENCY_REQUIRED_HEADING", GUIDE, |subject| {
        guide_replacing(&limit, "")(subject);
        subject.facts.claim_groups = [("limitations".to_owned(), vec![])].into();
        for page in &mut subject.plan.pages {
            page.content_strategy.claim_quota = Quota { min: 0, max: 2 };
        }
    });
    assert!(text.contains(crate::phrases::not_documented()), "{text}");
}

proptest::proptest! {
    #![proptest_config(proptest::test_runner::Config::with_cases(48))]
    #[test]
    fn no_page_breaks_a_gate_or_a_fixer(
        parts in proptest::collection::vec(proptest::sample::select(PARTS.to_vec()), 0..14),
        front in proptest::sample::select(vec!["---\ntitle: é: [\n---\n", "+++\nt=\n+++\n", "{\"a\"", "", "---\nx: 1\n"]),
    ) {
        let mut subject = plain(subject());
        subject.site.insert(GUIDE, format!("{front}{}", parts.concat()));
        let input = GateInput::new(subject);
        for issue in report(&input).issues.iter().filter(|issue| issue.fixable) {
            if let Ok(fixed) = fix(&input, issue, 1) {
                for patch in fixed.patches {
                    let applied = apply_patch(input.site.bytes(&patch.path), &patch);
                    proptest::prop_assert!(matches!(applied, Ok(Outcome::Written(_))));
                }
            }
        }
    }
}

/// Pieces of Markdown that are hard to take apart.
const PARTS: [&str; 30] = [
    "é ü 漢字。",
    "\n",
    "\n\n",
    "# H\n",
    "#### Ünder\n",
    "- ",
    "> ",
    "**",
    "[a](/x)",
    "![](/é.png)",
    "`",
    "```py\n",
    "http://é.example/x",
    "<a href='/é'>",
    "<img src=x",
    "<!-- claim_id: é -->",
    "<!--",
    "__TÖKEN__",
    "__A_B__",
    "{{ é }}",
    "{{< ref \"é\" >}}",
    "| a | b |\n|--|--|\n",
    "A fact. ",
    "acme pdf ",
    "[x]: http://a.example\n",
    "[x]",
    "\t",
    "1. ",
    "AcmePDF é",
    "<<<<<<< x\n",
];

#[test]
fn an_address_in_a_definition_is_fixed_there() {
    let text = fix_result(
        "GATE_LINK_INSECURE_HTTP",
        GUIDE,
        guide_with("- [a][ref]\n\n[ref]: http://a.example/x"),
    );
    assert!(text.contains("[ref]: https://a.example/x"), "{text}");
    let text = fix_result(
        "GATE_LINK_BROKEN_INTERNAL",
        GUIDE,
        guide_with("- [a][ref]\n- [b](/docs/acme/)\n\n[ref]: /nowhere/"),
    );
    assert!(!text.contains("[a]"), "{text}");
}

#[test]
fn the_difference_is_one_range() {
    let cases = [
        ("a\nb\nc\n", "a\nX\nc\n", (2, 2, "X\n")),
        ("a\nb\n", "a\nX\nb\n", (2, 1, "X\n")),
        ("a\nb\n", "a\n", (2, 2, "")),
        ("a\n", "a\nb\n", (2, 1, "b\n")),
        ("a", "a\n", (1, 1, "a\n")),
    ];
    for (before, after, (start, end, text)) in cases {
        let expected = Edit::Range {
            start,
            end,
            text: text.to_owned(),
        };
        assert_eq!(
            difference(before, after),
            Some(expected),
            "{before:?} {after:?}"
        );
    }
    assert_eq!(difference("a", "a"), None);
}
