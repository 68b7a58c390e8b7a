//! How good drafts are: three dimensions, each scored from 5 to 1.
//!
//! A pure reading of the drafts against plan, contract and catalogue. The gates judge the site
//! later; a review judges before anything is patched, and gives a rewrite its chance to improve.

use std::collections::{BTreeMap, BTreeSet};

use windlass_launch_model::{
    ARTIFACT_VERSION, FrontmatterContract, Issue, IssueStatus, Location, Page, PagePlan, PageRole,
    ReviewReport, Severity, SnippetCatalog,
    draft::{DimensionScores, ReviewStatus},
    markdown::{Document, frontmatter},
};

use crate::{
    draft::Draft,
    markup,
    phrases::{not_documented, registered_sentences},
};

/// How often drafts are reviewed and fixed before the last result is kept.
pub const MAX_REVIEW_ITERATIONS: u32 = 3;
/// A page with less is no page.
const SHORTEST_BODY: usize = 100;
/// Search engines cut longer titles.
const LONGEST_TITLE: usize = 70;

/// What a review looks at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dimension {
    /// What is said.
    Content,
    /// Whether it holds.
    Technical,
    /// Whether it can be used.
    Usability,
}

impl Dimension {
    /// The code of issues in it.
    pub const fn code(self) -> &'static str {
        match self {
            Self::Content => "REVIEW_CONTENT",
            Self::Technical => "REVIEW_TECHNICAL",
            Self::Usability => "REVIEW_USABILITY",
        }
    }
}

/// What drafts are reviewed against.
#[derive(Clone, Copy, Debug)]
pub struct ReviewInput<'a> {
    /// The pages.
    pub plan: &'a PagePlan,
    /// What front matter looks like.
    pub contract: &'a FrontmatterContract,
    /// Code that may be shown.
    pub snippets: &'a SnippetCatalog,
    /// The ids of all claims.
    pub claim_ids: &'a BTreeSet<String>,
}

/// Reviews drafts: `review_report.json`.
pub fn review(drafts: &[Draft], input: &ReviewInput<'_>) -> ReviewReport {
    let mut findings = Vec::new();
    let texts: BTreeMap<&str, &Draft> = drafts
        .iter()
        .map(|draft| (draft.page_id.as_str(), draft))
        .collect();
    let mut bodies: BTreeMap<&str, &str> = BTreeMap::new();
    for page in &input.plan.pages {
        let mut page_review = PageReview {
            page,
            findings: &mut findings,
        };
        let Some(draft) = texts.get(page.page_id.as_str()) else {
            page_review.add(
                Dimension::Content,
                Severity::Blocker,
                None,
                "the page was not drafted",
            );
            continue;
        };
        let read = Document::parse(&draft.text);
        page_review.content(&read, &draft.text);
        page_review.technical(&read, &draft.text, input);
        page_review.usability(&read, &draft.text);
        let body = draft.text[read.body..].trim();
        if let Some(other) = bodies.insert(body, &page.page_id) {
            let message = format!("the body is the same as that of {other}");
            page_review.add(Dimension::Content, Severity::Error, None, message);
        }
    }
    findings.sort_by(Issue::fix_order);
    let score = |dimension: Dimension| {
        let of_dimension = |found: &&Issue| found.error_code.as_deref() == Some(dimension.code());
        score(
            findings
                .iter()
                .filter(of_dimension)
                .map(|found| found.severity),
        )
    };
    let dimension_scores = DimensionScores {
        content: score(Dimension::Content),
        technical: score(Dimension::Technical),
        usability: score(Dimension::Usability),
    };
    let overall_status = dimension_scores.status();
    ReviewReport {
        schema_version: ARTIFACT_VERSION.to_owned(),
        ok: overall_status == ReviewStatus::Pass,
        overall_status,
        dimension_scores,
        issues: findings,
    }
}

/// 5 nothing, 4 up to three warnings, 3 up to two errors or six warnings, 2 more, 1 a blocker.
fn score(severities: impl Iterator<Item = Severity>) -> u8 {
    let (mut warnings, mut errors) = (0_u32, 0_u32);
    for severity in severities {
        match severity {
            Severity::Blocker => return 1,
            Severity::Error => errors += 1,
            Severity::Warn => warnings += 1,
            Severity::Info => {}
        }
    }
    match (errors, warnings) {
        (0, 0) => 5,
        (0, 1..=3) => 4,
        (0..=2, 0..=6) => 3,
        _ => 2,
    }
}

struct PageReview<'a> {
    page: &'a Page,
    findings: &'a mut Vec<Issue>,
}

impl PageReview<'_> {
    fn add(
        &mut self,
        dimension: Dimension,
        severity: Severity,
        line: Option<u64>,
        message: impl Into<String>,
    ) {
        let (gate, code) = ("Review", dimension.code());
        let (path, message) = (&self.page.output_path, message.into());
        let ordinal = self
            .findings
            .iter()
            .filter(|found| found.path() == path && found.message == message)
            .count();
        self.findings.push(Issue {
            issue_id: Issue::id(gate, code, path, &message, ordinal),
            gate: gate.to_owned(),
            severity,
            title: message.chars().take(80).collect(),
            message,
            status: IssueStatus::Open,
            error_code: Some(code.to_owned()),
            files: vec![path.clone()],
            location: Some(Location {
                path: path.clone(),
                line,
            }),
            occurrences: Vec::new(),
            suggested_fix: None,
            fixable: false,
        });
    }

    fn content(&mut self, read: &Document, text: &str) {
        let page = self.page;
        let shown = read.claim_ids();
        for id in page
            .required_claim_ids
            .iter()
            .filter(|id| !shown.contains(id.as_str()))
        {
            self.add(
                Dimension::Content,
                Severity::Error,
                None,
                format!("the claim {id} is not shown"),
            );
        }
        let headings: Vec<&str> = read
            .headings
            .iter()
            .map(|heading| heading.text.as_str())
            .collect();
        for heading in &page.required_headings {
            let wanted = prose_text(heading);
            if !headings.contains(&wanted.as_str()) {
                let message = format!("the heading {heading:?} is missing");
                self.add(Dimension::Content, Severity::Error, None, message);
            }
        }
        let quota = page.content_strategy.claim_quota;
        let count = u32::try_from(read.stated_claim_ids().len()).unwrap_or(u32::MAX);
        if count < quota.min || count > quota.max {
            let message = format!(
                "{count} claims are shown, not {} to {}",
                quota.min, quota.max
            );
            self.add(Dimension::Content, Severity::Error, None, message);
        }
        for sentence in read
            .sentences
            .iter()
            .filter(|sentence| sentence.text == not_documented())
        {
            // What the repository does not say cannot be fixed.
            let message = "there is no evidence for this text";
            self.add(
                Dimension::Content,
                Severity::Info,
                Some(sentence.line),
                message,
            );
        }
        let lower = text[read.body..].to_lowercase();
        for topic in page
            .forbidden_topics
            .iter()
            .filter(|topic| lower.contains(topic.as_str()))
        {
            self.add(
                Dimension::Content,
                Severity::Error,
                None,
                format!("the page mentions {topic}"),
            );
        }
    }

    fn technical(&mut self, read: &Document, text: &str, input: &ReviewInput<'_>) {
        let dimension = Dimension::Technical;
        for sentence in read.uncited(registered_sentences()) {
            let message = format!("no claim backs {:?}", sentence.text);
            self.add(dimension, Severity::Blocker, Some(sentence.line), message);
        }
        for marker in read
            .markers()
            .filter(|marker| !input.claim_ids.contains(&marker.claim_id))
        {
            let message = format!("there is no claim {}", marker.claim_id);
            self.add(dimension, Severity::Blocker, Some(marker.line), message);
        }
        for block in &read.code {
            let known = input.snippets.snippets.iter().any(|snippet| {
                snippet.code.trim_end_matches(['\n', '\r'])
                    == block.text.trim_end_matches(['\n', '\r'])
            });
            if self.page.page_role == PageRole::Toc {
                self.add(
                    dimension,
                    Severity::Blocker,
                    Some(block.line),
                    "a list page shows code",
                );
            } else if !known {
                let message = "the code is not in the catalogue";
                self.add(dimension, Severity::Blocker, Some(block.line), message);
            }
        }
        match frontmatter::read(text) {
            Ok(Some((_, keys))) => {
                let contract = input.contract.sections.get(&self.page.section);
                for key in contract.iter().flat_map(|contract| &contract.required_keys) {
                    if !keys.contains_key(key) {
                        let message = format!("the front matter has no {key:?}");
                        self.add(dimension, Severity::Error, Some(1), message);
                    } else if keys.get(key).and_then(serde_json::Value::as_str) == Some("") {
                        let message = format!("no value is known for {key:?}");
                        self.add(dimension, Severity::Info, Some(1), message);
                    }
                }
            }
            Ok(None) => self.add(
                dimension,
                Severity::Blocker,
                Some(1),
                "there is no front matter",
            ),
            Err(error) => self.add(dimension, Severity::Blocker, Some(1), error.to_string()),
        }
    }

    fn usability(&mut self, read: &Document, text: &str) {
        let dimension = Dimension::Usability;
        let page = self.page;
        if text[read.body..].trim().chars().count() < SHORTEST_BODY {
            let message = format!("the body has fewer than {SHORTEST_BODY} characters");
            self.add(dimension, Severity::Error, None, message);
        }
        let mut level = 1;
        for heading in &read.headings {
            if heading.level > level + 1 {
                let message = format!("the heading {:?} skips a level", heading.text);
                self.add(dimension, Severity::Error, Some(heading.line), message);
            }
            level = heading.level;
        }
        for link in read.links.iter().filter(|link| link.text.trim().is_empty()) {
            let message = format!("the link to {} has no text", link.target);
            self.add(dimension, Severity::Error, Some(link.line), message);
        }
        let listed = page.content_strategy.child_pages.len();
        let links = read.links.iter().filter(|link| !link.image).count();
        if links < listed {
            let message = format!("{links} links cannot lead to {listed} children");
            self.add(dimension, Severity::Error, None, message);
        }
        if page.title.chars().count() > LONGEST_TITLE {
            // The product is called what it is called.
            let message = format!("the title is longer than {LONGEST_TITLE} characters");
            self.add(dimension, Severity::Info, Some(1), message);
        }
    }
}

/// A planned heading as a reader of the page has it.
fn prose_text(heading: &str) -> String {
    let line = format!("## {}\n", markup::heading_text(heading));
    Document::parse_body(&line)
        .headings
        .into_iter()
        .next()
        .map(|found| found.text)
        .unwrap_or_default()
}

#[cfg(test)]
#[path = "review_tests.rs"]
mod tests;
