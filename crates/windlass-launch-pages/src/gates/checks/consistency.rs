//! Consistency: one product name, one repository, one address, and every heading that was promised.

use std::ops::Range;

use serde_json::Value;
use windlass_launch_model::{Section, markdown::Document};

use crate::{
    draft::canonical_url,
    gates::{
        finding::{Checked, Finding, Limit},
        input::GateInput,
        outside::GateFault,
        run::Gate,
    },
};

/// The product is spelled differently.
pub const NAME: &str = "GATE_CONSISTENCY_PRODUCT_NAME";
/// A link to another copy of the repository.
pub const REPO: &str = "GATE_CONSISTENCY_REPO_URL";
/// An address that is nearly the canonical one.
pub const CANONICAL: &str = "GATE_CONSISTENCY_CANONICAL_URL";
/// A planned heading is not there.
pub const HEADING: &str = "GATE_CONSISTENCY_REQUIRED_HEADING";
const SECTION: &str = "GATE_CONSISTENCY_REQUIRED_SECTION";

/// The gate.
pub struct Consistency;

impl Gate for Consistency {
    fn name(&self) -> &'static str {
        "Consistency"
    }

    fn limit(&self) -> Limit {
        Limit::Total(30, 60)
    }

    fn check(&self, input: &GateInput) -> Result<Checked, GateFault> {
        let mut findings = Vec::new();
        for (path, document) in input.changed_pages() {
            let mut report = |code, range: &Range<usize>, message| {
                let excerpt = &document.text[range.clone()];
                findings.push(Finding::at(
                    code,
                    path,
                    document.line(range.start),
                    excerpt,
                    message,
                ));
            };
            for range in wrong_names(input, document) {
                let name = &input.facts.product_name;
                report(NAME, &range, format!("The product is called {name}."));
            }
            for (range, right) in wrong_repos(input, document) {
                report(
                    REPO,
                    &range,
                    format!("The product's repository is {right}."),
                );
            }
            for (range, right) in wrong_canonicals(input, document) {
                report(
                    CANONICAL,
                    &range,
                    format!("The canonical address is {right}."),
                );
            }
            for (key, right) in wrong_canonical_keys(input, path, document) {
                let line = super::truth_lock::key_line(document, key);
                let message = format!("The canonical address is {right}.");
                let excerpt = document.line_text(line);
                findings.push(Finding::at(CANONICAL, path, line, excerpt, message));
            }
            for heading in missing_headings(input, path, document) {
                let message = format!("The heading “{heading}” is planned and missing.");
                findings.push(Finding::file(HEADING, path, &heading, message));
            }
        }
        findings.extend(missing_sections(input));
        Ok(Checked::Ran(findings))
    }
}

/// Where the product's name is spelled in another way, outside code, HTML and addresses.
pub fn wrong_names(input: &GateInput, document: &Document) -> Vec<Range<usize>> {
    let name = input.facts.product_name.as_str();
    let words: Vec<String> = name
        .split(|c: char| c.is_whitespace() || c == '-' || c == '_')
        .filter(|word| !word.is_empty())
        .map(regex::escape)
        .collect();
    let pattern = format!(r"(?i)\b{}\b", words.join(r"[\s_-]?"));
    let Ok(pattern) = regex::Regex::new(&pattern) else {
        return Vec::new();
    };
    // Names of packages and repositories are right as they are.
    let mut right: Vec<&str> = vec![&input.facts.product_slug];
    right.extend(
        input
            .facts
            .distribution
            .iter()
            .map(|way| way.identifier.as_str()),
    );
    right.extend(
        input
            .facts
            .repo_url
            .trim_end_matches(".git")
            .rsplit('/')
            .next(),
    );
    let claims: Vec<&str> = input
        .facts
        .claims
        .iter()
        .map(|claim| claim.claim_text.as_str())
        .collect();
    pattern
        .find_iter(&document.text)
        .filter(|found| {
            let spelled = found
                .as_str()
                .split_whitespace()
                .collect::<Vec<_>>()
                .join(" ");
            let before = document.text[..found.start()].chars().next_back();
            let after = document.text[found.end()..].chars().next();
            // Part of a path, a package or an import.
            let joined =
                |c: Option<char>| c.is_some_and(|c| matches!(c, '/' | '@' | '\\' | ':' | '='));
            let dotted = after == Some('.')
                && document.text[found.end() + 1..].starts_with(|c: char| c.is_alphanumeric());
            let in_path = joined(before) || matches!(after, Some('/' | '@' | '\\')) || dotted;
            let start = found.start();
            let hidden = document.in_code(start)
                || document.in_html(start)
                || document.in_link_target(start);
            let is_right = spelled == name || right.contains(&spelled.as_str());
            let is_quoted = claims.iter().any(|claim| claim.contains(found.as_str()));
            !(is_right || in_path || hidden || is_quoted)
        })
        .map(|found| found.range())
        .collect()
}

/// Links to a repository of the same name on the same host under another owner.
pub fn wrong_repos(input: &GateInput, document: &Document) -> Vec<(Range<usize>, String)> {
    let right = input
        .facts
        .repo_url
        .trim_end_matches('/')
        .trim_end_matches(".git");
    let Some((host, owner, name)) = repo_parts(right) else {
        return Vec::new();
    };
    addresses(document)
        .into_iter()
        .filter(|(_, url)| {
            repo_parts(url).is_some_and(|(h, o, n)| h == host && n == name && o != owner)
        })
        .map(|(range, url)| {
            // What follows the repository is kept.
            let rest: String = url
                .splitn(6, '/')
                .nth(5)
                .map(|rest| format!("/{rest}"))
                .unwrap_or_default();
            (range, format!("{right}{rest}"))
        })
        .collect()
}

fn repo_parts(url: &str) -> Option<(String, String, String)> {
    let rest = url
        .strip_prefix("https://")
        .or_else(|| url.strip_prefix("http://"))?;
    let mut parts = rest.split(['/', '?', '#']);
    let host = parts.next()?.to_ascii_lowercase();
    let owner = parts
        .next()
        .filter(|owner| !owner.is_empty())?
        .to_ascii_lowercase();
    let name = parts.next().filter(|name| !name.is_empty())?;
    Some((
        host,
        owner,
        name.trim_end_matches(".git").to_ascii_lowercase(),
    ))
}

/// Addresses that are a canonical one but for scheme, case, `www.` or the last slash.
pub fn wrong_canonicals(input: &GateInput, document: &Document) -> Vec<(Range<usize>, String)> {
    let plain = |url: &str| {
        let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
        rest.trim_start_matches("www.")
            .trim_end_matches('/')
            .to_ascii_lowercase()
    };
    let mut found = Vec::new();
    for right in input.settings.canonical_urls.values() {
        for (range, url) in addresses(document) {
            if url != *right && plain(&url) == plain(right) {
                found.push((range, right.clone()));
            }
        }
    }
    found.sort_by_key(|(range, _)| range.start);
    found.dedup_by_key(|(range, _)| range.start);
    found
}

/// Keys of the front matter whose canonical address is empty or lies elsewhere, with the right
/// one.
pub fn wrong_canonical_keys(
    input: &GateInput,
    path: &str,
    document: &Document,
) -> Vec<(&'static str, String)> {
    let known = &input.settings.canonical_urls;
    let right = input
        .planned(path)
        .and_then(|page| canonical_url(page, &input.plan, known));
    let Some(right) = right else {
        return Vec::new();
    };
    let lies_there = |url: &str| {
        let mut known = known.values().map(|known| known.trim_end_matches('/'));
        known.any(|known| right.starts_with(known) && url.starts_with(known))
    };
    ["canonical", "canonicalURL", "canonical_url", "canonicalUrl"]
        .into_iter()
        .filter(|key| {
            // What is no text is a matter of the contract.
            let url = document.key(key).and_then(Value::as_str);
            url.is_some_and(|url| !lies_there(url))
        })
        .map(|key| (key, right.clone()))
        .collect()
}

/// Every http address of the body outside code, with where it is written.
fn addresses(document: &Document) -> Vec<(Range<usize>, String)> {
    document
        .links
        .iter()
        .filter(|link| link.target.starts_with("http"))
        .filter_map(|link| {
            let source = &document.text[link.range.clone()];
            let at = link.range.start + source.rfind(&link.target)?;
            Some((at..at + link.target.len(), link.target.clone()))
        })
        .collect()
}

/// Planned headings that a page lacks.
pub fn missing_headings(input: &GateInput, path: &str, document: &Document) -> Vec<String> {
    let same = |a: &str, b: &str| a.trim().to_lowercase() == b.trim().to_lowercase();
    let planned = input
        .planned(path)
        .map_or(&[][..], |page| &page.required_headings);
    planned
        .iter()
        .filter(|wanted| {
            !document
                .headings
                .iter()
                .any(|heading| same(&heading.text, wanted))
        })
        .cloned()
        .collect()
}

fn missing_sections(input: &GateInput) -> Vec<Finding> {
    // A planned page that an earlier launch wrote and this one need not change is there, too.
    let has_page = |section: Section| {
        let planned = input.plan.pages.iter().map(|page| &page.output_path);
        input
            .changed
            .keys()
            .chain(planned)
            .any(|path| input.site.contains(path) && input.section(path) == Some(section))
    };
    let required = input.settings.required_sections.iter();
    required
        .filter(|section| !has_page(**section))
        .map(|section| {
            let message = format!(
                "The section {} is required and has no page.",
                section.as_str()
            );
            Finding::run(SECTION, section.as_str(), message)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gates::sample::{GUIDE, codes, page_with, subject, with_text};

    /// The guide's planned headings, so that only what a case adds can fail.
    fn on_page(body: &str) -> crate::gates::input::Subject {
        with_text(
            GUIDE,
            &page_with(&format!("## Convert\n\n## Limitations\n\n{body}")),
        )
    }

    #[test]
    fn names_are_spelled_as_the_product_is() {
        let cases: [(&str, &[&str]); 9] = [
            ("Acme PDF reads.", &[]),
            ("acme PDF reads.", &[NAME]),
            ("AcmePDF and Acme-PDF read.", &[NAME, NAME]),
            ("Install acme-pdf.", &[]),
            ("`acme pdf` is code.", &[]),
            ("[Acme PDF](https://x.example/AcmePDF)", &[]),
            ("Import acmepdf.reader now.", &[]),
            ("Acmepdfs are others.", &[]),
            ("Acme\nPDF reads.", &[]),
        ];
        for (body, expected) in cases {
            assert_eq!(codes(&Consistency, on_page(body)), expected, "{body}");
        }
    }

    #[test]
    fn links_go_to_the_products_repository() {
        let cases: [(&str, &[&str]); 5] = [
            ("[a](https://git.example/acme/acme-pdf)", &[]),
            ("[a](https://git.example/acme/acme-pdf/issues)", &[]),
            ("[a](https://git.example/fork/acme-pdf)", &[REPO]),
            ("[a](https://git.example/acme/other)", &[]),
            ("`https://git.example/fork/acme-pdf`", &[]),
        ];
        for (body, expected) in cases {
            assert_eq!(codes(&Consistency, on_page(body)), expected, "{body}");
        }
    }

    #[test]
    fn canonical_addresses_are_written_exactly() {
        let cases: [(&str, &str, &[&str]); 7] = [
            ("[a](https://docs.example/acme/)", "", &[]),
            ("Text.", "canonical: \"\"\n", &[CANONICAL]),
            ("Text.", "canonical:\n", &[]),
            ("[a](http://www.docs.example/acme)", "", &[CANONICAL]),
            ("[a](https://docs.example/other/)", "", &[]),
            (
                "Text.",
                "canonical: https://docs.example/acme/guide/\n",
                &[],
            ),
            (
                "Text.",
                "canonical: https://old.example/acme/\n",
                &[CANONICAL],
            ),
        ];
        for (body, key, expected) in cases {
            let text =
                format!("---\ntitle: T\n{key}---\n\n## Convert\n\n## Limitations\n\n{body}\n");
            let mut subject = with_text(GUIDE, &text);
            subject.settings.canonical_urls =
                [("docs".to_owned(), "https://docs.example/acme/".to_owned())].into();
            assert_eq!(codes(&Consistency, subject), expected, "{body} {key}");
        }
    }

    #[test]
    fn planned_headings_and_required_sections_are_there() {
        assert!(codes(&Consistency, subject()).is_empty());
        assert_eq!(
            codes(&Consistency, with_text(GUIDE, &page_with("## convert"))),
            [HEADING]
        );
        let mut subject = subject();
        subject.settings.required_sections.push(Section::Blog);
        assert_eq!(codes(&Consistency, subject), [SECTION]);
    }

    #[test]
    fn a_section_that_need_not_change_is_there() {
        let mut unchanged = subject();
        assert!(!unchanged.settings.required_sections.is_empty());
        unchanged.changed.clear();
        assert!(codes(&Consistency, unchanged).is_empty());
        let mut gone = subject();
        gone.changed.clear();
        gone.site = crate::gates::site::SiteTree::default();
        let sections = gone.settings.required_sections.len();
        assert_eq!(codes(&Consistency, gone), vec![SECTION; sections]);
    }
}
