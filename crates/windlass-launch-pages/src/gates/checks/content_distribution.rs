//! ContentDistribution: every page does what its role says, no more and no less.

use std::collections::{BTreeMap, BTreeSet};

use windlass_launch_model::{Page, PageRole, markdown::Document};

use crate::{
    budget::changed_lines,
    gates::{
        addresses::{Addresses, Target},
        finding::{Checked, Finding, Limit},
        input::GateInput,
        outside::GateFault,
        prose,
        run::Gate,
        site::is_page,
    },
};

const ROLE: &str = "GATE_DISTRIBUTION_ROLE_MISSING";
const STRATEGY: &str = "GATE_DISTRIBUTION_STRATEGY_MISSING";
const TOC_SNIPPET: &str = "GATE_DISTRIBUTION_TOC_SNIPPET";
/// A table of contents leaves out a child.
pub const TOC_CHILD: &str = "GATE_DISTRIBUTION_TOC_CHILD_MISSING";
const COVERAGE: &str = "GATE_DISTRIBUTION_GUIDE_COVERAGE";
const TOPIC: &str = "GATE_DISTRIBUTION_FORBIDDEN_TOPIC";
const BELOW: &str = "GATE_DISTRIBUTION_QUOTA_BELOW";
const ABOVE: &str = "GATE_DISTRIBUTION_QUOTA_ABOVE";
const DUPLICATE: &str = "GATE_DISTRIBUTION_DUPLICATE";
const MANDATORY: &str = "GATE_DISTRIBUTION_MANDATORY_PAGE";
const FORMATTING: &str = "GATE_CHANGE_BUDGET_FORMATTING";

/// The gate.
pub struct ContentDistribution;

impl Gate for ContentDistribution {
    fn name(&self) -> &'static str {
        "ContentDistribution"
    }

    fn limit(&self) -> Limit {
        Limit::Total(60, 120)
    }

    fn check(&self, input: &GateInput) -> Result<Checked, GateFault> {
        let addresses = Addresses::new(input);
        let mut findings = unplanned(input);
        for page in &input.plan.pages {
            if input.stopped() {
                break;
            }
            findings.extend(strategy(input, page));
            let path = page.output_path.as_str();
            match input.document(path) {
                Some(document) => findings.extend(role(input, &addresses, page, document)),
                None => {
                    let message = format!("“{}” is planned and was not written.", page.title);
                    findings.push(Finding::file(MANDATORY, path, &page.page_id, message));
                }
            }
        }
        findings.extend(duplicates(input));
        findings.extend(looks_alone(input));
        Ok(Checked::Ran(findings))
    }
}

/// Pages the run created without a plan have no role.
fn unplanned(input: &GateInput) -> Vec<Finding> {
    let created = input
        .changed
        .iter()
        .filter(|(path, before)| before.is_none() && is_page(path) && input.site.contains(path));
    created
        .filter(|(path, _)| input.planned(path).is_none())
        .map(|(path, _)| {
            let message = "The page is in no plan, so it has no role.".to_owned();
            Finding::file(ROLE, path, "", message)
        })
        .collect()
}

fn strategy(input: &GateInput, page: &Page) -> Vec<Finding> {
    let plan = &page.content_strategy;
    let lacks = if plan.claim_quota.max == 0 && page.page_role != PageRole::Toc {
        "a claim quota"
    } else if plan.claim_quota.min > plan.claim_quota.max {
        "a claim quota whose minimum is not above its maximum"
    } else if page.page_role == PageRole::ComprehensiveGuide
        && plan.scenario_coverage.is_empty()
        && !input.facts.workflows.is_empty()
    {
        "the workflows it covers"
    } else {
        return Vec::new();
    };
    let message = format!("The plan of “{}” lacks {lacks}.", page.title);
    vec![Finding::file(
        STRATEGY,
        &page.output_path,
        &page.page_id,
        message,
    )]
}

fn role(
    input: &GateInput,
    addresses: &Addresses<'_>,
    page: &Page,
    document: &Document,
) -> Vec<Finding> {
    let mut found = quotas(page, document);
    let path = page.output_path.as_str();
    if page.page_role == PageRole::Toc {
        for code in &document.code {
            let line = document.line(code.range.start);
            let message = "A table of contents shows no code.".to_owned();
            found.push(Finding::at(TOC_SNIPPET, path, line, &code.text, message));
        }
        for child in missing_children(input, addresses, page, document) {
            let message = format!("The table of contents does not link to “{}”.", child.title);
            found.push(Finding::file(TOC_CHILD, path, &child.page_id, message));
        }
    }
    if page.page_role == PageRole::ComprehensiveGuide {
        found.extend(uncovered(input, page, document));
    }
    let text = prose::readable(document).to_lowercase();
    for topic in &page.forbidden_topics {
        let wanted = topic.to_lowercase();
        let mentions = text.match_indices(&wanted).any(|(at, _)| {
            let inner = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
            !inner(text[..at].chars().next_back())
                && !inner(text[at + wanted.len()..].chars().next())
        });
        if mentions && !wanted.trim().is_empty() {
            let message = format!("The page must not mention {topic}.");
            found.push(Finding::file(TOPIC, path, topic, message));
        }
    }
    found
}

/// Planned children that a page does not link to.
pub fn missing_children<'a>(
    input: &'a GateInput,
    addresses: &Addresses<'_>,
    page: &Page,
    document: &Document,
) -> Vec<&'a Page> {
    let linked: BTreeSet<String> = super::internal_links::targets(document)
        .into_iter()
        .filter_map(
            |(target, _)| match addresses.resolve(&page.output_path, &target) {
                Target::Page(path, _) => Some(path),
                _ => None,
            },
        )
        .collect();
    let children = page.content_strategy.child_pages.iter();
    children
        .filter_map(|id| input.page(id))
        .filter(|child| !linked.contains(&child.output_path))
        .collect()
}

fn uncovered(input: &GateInput, page: &Page, document: &Document) -> Vec<Finding> {
    let cited = document.claim_ids();
    let mut found = Vec::new();
    for workflow in &page.content_strategy.scenario_coverage {
        let claims = input.facts.workflows.get(workflow);
        let shown =
            claims.is_some_and(|claims| claims.iter().any(|id| cited.contains(id.as_str())));
        let plain = |text: &str| text.to_lowercase().replace(['_', '-'], " ");
        let headed = document
            .headings
            .iter()
            .any(|heading| plain(&heading.text).contains(&plain(workflow)));
        if !shown && !headed {
            let message = format!("The guide does not cover the workflow {workflow}.");
            found.push(Finding::file(
                COVERAGE,
                &page.output_path,
                workflow,
                message,
            ));
        }
    }
    found
}

fn quotas(page: &Page, document: &Document) -> Vec<Finding> {
    let cited = document.stated_claim_ids();
    let quota = page.content_strategy.claim_quota;
    let count = u32::try_from(cited.len()).unwrap_or(u32::MAX);
    let (code, word, bound) = if count < quota.min {
        (BELOW, "at least", quota.min)
    } else if quota.max > 0 && count > quota.max {
        (ABOVE, "at most", quota.max)
    } else {
        return Vec::new();
    };
    let message = format!("The page shows {count} claims, and its plan says {word} {bound}.");
    vec![Finding::file(code, &page.output_path, "", message)]
}

/// Two pages of one language with the same title in a section, or with the same text.
fn duplicates(input: &GateInput) -> Vec<Finding> {
    let mut titles: BTreeMap<(String, String, String), &str> = BTreeMap::new();
    let mut bodies: BTreeMap<String, &str> = BTreeMap::new();
    let mut found = Vec::new();
    for (path, document) in input.changed_pages() {
        let Some(page) = input.planned(path) else {
            continue;
        };
        let title = document.title().unwrap_or_default().to_lowercase();
        let key = (
            page.section.as_str().to_owned(),
            page.locale.clone(),
            title.clone(),
        );
        let same_title = titles.get(&key).copied().filter(|_| !title.is_empty());
        titles.entry(key).or_insert(path);
        let body = prose::readable(document).to_lowercase();
        let same_body = bodies.get(&body).copied().filter(|_| !body.is_empty());
        bodies.entry(body).or_insert(path);
        if let Some(other) = same_body.or(same_title) {
            let message = format!("The page repeats {other}.");
            found.push(Finding::file(DUPLICATE, path, other, message));
        }
    }
    found
}

/// Files that were there before and are changed for their looks and hardly anything else.
fn looks_alone(input: &GateInput) -> Vec<Finding> {
    let mut found = Vec::new();
    for (path, before) in &input.changed {
        let before = before
            .as_deref()
            .and_then(|bytes| str::from_utf8(bytes).ok());
        let (Some(before), Some(after)) = (before, input.site.text(path)) else {
            continue;
        };
        let lines = changed_lines(before, after);
        if lines.is_mostly_formatting() {
            let message = format!(
                "{} of {} changed lines change only formatting. Leave them as they were.",
                lines.formatting, lines.all
            );
            found.push(Finding::file(FORMATTING, path, "", message));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use windlass_launch_model::{claim::marker, page::Quota};

    use super::*;
    use crate::gates::{
        input::Subject,
        sample::{self, GUIDE, LANDING, TOC, codes, page_with, subject},
    };

    fn changed(change: impl FnOnce(&mut Subject)) -> Vec<&'static str> {
        let mut subject = subject();
        change(&mut subject);
        codes(&ContentDistribution, subject)
    }

    fn plan(subject: &mut Subject, path: &str) -> usize {
        subject
            .plan
            .pages
            .iter()
            .position(|page| page.output_path == path)
            .unwrap()
    }

    #[test]
    fn every_code_has_its_case() {
        assert!(changed(|_| {}).is_empty());
        let role = changed(|subject| {
            subject
                .site
                .insert("content/docs/acme/extra.md", page_with("Extra."));
            subject
                .changed
                .insert("content/docs/acme/extra.md".to_owned(), None);
        });
        assert_eq!(role, [ROLE]);
        let strategy = changed(|subject| {
            let at = plan(subject, LANDING);
            subject.plan.pages[at].content_strategy.claim_quota = Quota::default();
        });
        assert_eq!(strategy, [STRATEGY]);
        let scenarios = changed(|subject| {
            let at = plan(subject, GUIDE);
            subject.plan.pages[at]
                .content_strategy
                .scenario_coverage
                .clear();
        });
        assert_eq!(scenarios, [STRATEGY]);
        let snippet = changed(|subject| {
            let text = subject.site.text(TOC).unwrap().to_owned();
            subject.site.insert(TOC, text + "\n```py\nx\n```\n");
        });
        assert_eq!(snippet, [TOC_SNIPPET]);
        let child = changed(|subject| {
            let text = subject
                .site
                .text(TOC)
                .unwrap()
                .replace("(guide/)", "(/docs/acme/)");
            subject.site.insert(TOC, text);
        });
        assert_eq!(child, [TOC_CHILD]);
        let coverage = changed(|subject| {
            let at = plan(subject, GUIDE);
            subject.plan.pages[at]
                .content_strategy
                .scenario_coverage
                .push("split".to_owned());
        });
        assert_eq!(coverage, [COVERAGE]);
        let topic = changed(|subject| {
            let at = plan(subject, GUIDE);
            subject.plan.pages[at].forbidden_topics = vec!["XLSX files".to_owned()];
        });
        assert_eq!(topic, [TOPIC]);
        let mandatory = changed(|subject| {
            let at = plan(subject, LANDING);
            subject.plan.pages[at].output_path = "content/products/acme/none.md".to_owned();
            subject.changed.remove(LANDING);
        });
        assert_eq!(mandatory, [MANDATORY]);
        let duplicate = changed(|subject| {
            let text = subject.site.text(LANDING).unwrap().to_owned();
            let text = text.replace("---\n\n", "---\n\n## Convert\n\n");
            subject.site.insert(LANDING, text.clone());
            let at = plan(subject, LANDING);
            let mut copy = subject.plan.pages[at].clone();
            copy.output_path = "content/products/acme/copy.md".to_owned();
            copy.page_id = "products/copy".to_owned();
            copy.url_path = "/products/acme/copy/".to_owned();
            subject.plan.pages.push(copy);
            subject.site.insert("content/products/acme/copy.md", text);
            subject
                .changed
                .insert("content/products/acme/copy.md".to_owned(), None);
        });
        assert_eq!(duplicate, [DUPLICATE]);
    }

    #[test]
    fn a_change_is_for_more_than_looks() {
        let text = sample::subject().site.text(GUIDE).unwrap().to_owned();
        let spaced = text.replace(". <!--", ".  <!--").replace("\n\n", "\n\n\n");
        let other = text
            .replace("## Convert", "## Export")
            .replace("See the", "Read the");
        let cases: [(Option<&str>, &[&str]); 4] = [
            (None, &[]),
            (Some(&text), &[]),
            (Some(&other), &[]),
            (Some(&spaced), &[FORMATTING]),
        ];
        for (before, expected) in cases {
            let codes = changed(|subject| {
                let before = before.map(|text| text.as_bytes().to_vec());
                subject.changed.insert(GUIDE.to_owned(), before);
            });
            assert_eq!(codes, expected);
        }
    }

    #[test]
    fn quotas_count_different_claims() {
        let reads = marker(&sample::id(sample::READS));
        let converts = marker(&sample::id(sample::CONVERTS));
        let text = format!("A. {reads} B. {reads} C. {converts}");
        for (min, max, expected) in [(1, 2, vec![]), (3, 4, vec![BELOW]), (1, 1, vec![ABOVE])] {
            let found = changed(|subject| {
                subject.site.insert(GUIDE, page_with(&text));
                let at = plan(subject, GUIDE);
                subject.plan.pages[at].content_strategy.claim_quota = Quota { min, max };
            });
            assert_eq!(found, expected, "{min}..{max}");
        }
    }
}
