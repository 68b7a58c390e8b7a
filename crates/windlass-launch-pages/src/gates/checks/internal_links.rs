//! InternalLinks: every link within the site leads somewhere, and something leads to every page.

use std::collections::BTreeSet;

use windlass_launch_model::markdown::Document;

use crate::gates::{
    addresses::{Addresses, Target},
    finding::{Checked, Finding, Limit},
    input::GateInput,
    outside::GateFault,
    run::Gate,
};

/// A link from the root leads nowhere.
pub const INTERNAL: &str = "GATE_LINK_BROKEN_INTERNAL";
/// A relative link leads nowhere.
pub const RELATIVE: &str = "GATE_LINK_BROKEN_RELATIVE";
/// The page is there and the anchor is not.
pub const ANCHOR: &str = "GATE_LINK_BROKEN_ANCHOR";
/// Nothing leads to a page.
pub const ORPHAN: &str = "GATE_LINK_ORPHAN_PAGE";

/// The gate.
pub struct InternalLinks;

impl Gate for InternalLinks {
    fn name(&self) -> &'static str {
        "InternalLinks"
    }

    fn limit(&self) -> Limit {
        Limit::Total(120, 180)
    }

    fn check(&self, input: &GateInput) -> Result<Checked, GateFault> {
        let addresses = Addresses::new(input);
        let mut findings = Vec::new();
        let mut reached = BTreeSet::new();
        for (path, document) in input.documents() {
            if input.stopped() {
                break;
            }
            for (target, at) in targets(document) {
                match judge(input, &addresses, path, document, &target) {
                    Judged::Fine(Some(page)) if page != *path => {
                        reached.insert(page);
                    }
                    Judged::Fine(_) => {}
                    Judged::Broken(code, message) => {
                        findings.push(Finding::at(code, path, document.line(at), &target, message));
                    }
                }
            }
        }
        findings.extend(orphans(input, &reached));
        Ok(Checked::Ran(findings))
    }
}

/// How one link is judged.
pub enum Judged {
    /// It leads somewhere; to this page, if to a page.
    Fine(Option<String>),
    /// It does not.
    Broken(&'static str, String),
}

/// Judges a link of a page.
pub fn judge(
    input: &GateInput,
    addresses: &Addresses<'_>,
    path: &str,
    document: &Document,
    target: &str,
) -> Judged {
    match addresses.resolve(path, target) {
        Target::Outside | Target::File(_) => Judged::Fine(None),
        Target::Here(anchor) if document.has_anchor(&anchor) => Judged::Fine(None),
        Target::Here(anchor) => {
            Judged::Broken(ANCHOR, format!("The page has no heading #{anchor}."))
        }
        Target::Page(page, anchor) => {
            if input
                .document(&page)
                .is_none_or(|there| there.has_anchor(&anchor))
            {
                Judged::Fine(Some(page))
            } else {
                Judged::Broken(ANCHOR, format!("{page} has no heading #{anchor}."))
            }
        }
        Target::Nothing { wanted, absolute } => {
            let code = if absolute { INTERNAL } else { RELATIVE };
            Judged::Broken(code, format!("Nothing is at {wanted}."))
        }
    }
}

/// Every target of a page with where it stands; links, images and Hugo's own references.
pub fn targets(document: &Document) -> Vec<(String, usize)> {
    let links = document.links.iter();
    let mut found: Vec<(String, usize)> = links
        .map(|link| (link.target.clone(), link.range.start))
        .collect();
    for name in ["ref", "relref"] {
        for open in ["{{<", "{{%"] {
            found.extend(references(document, open, name));
        }
    }
    found.sort_by_key(|(_, at)| *at);
    found
}

/// `{{< ref "page" >}}`, outside code.
fn references(document: &Document, open: &str, name: &str) -> Vec<(String, usize)> {
    let text = document.text.as_str();
    text.match_indices(open)
        .filter(|(at, _)| !document.in_code(*at))
        .filter_map(|(at, _)| {
            let inner = text[at + open.len()..].trim_start().strip_prefix(name)?;
            let quoted = inner.strip_prefix(char::is_whitespace)?.trim_start();
            let target = quoted.strip_prefix('"')?.split('"').next()?;
            Some((target.to_owned(), at))
        })
        .collect()
}

fn orphans(input: &GateInput, reached: &BTreeSet<String>) -> Vec<Finding> {
    let lists = |path: &str| {
        let name = path.rsplit('/').next().unwrap_or_default();
        name.starts_with("_index.") || name.starts_with("index.") || name.starts_with("README.")
    };
    input
        .changed_pages()
        .filter(|(path, _)| !lists(path) && !reached.contains(*path))
        .map(|(path, _)| {
            let message = "No page of the site links to this one.".to_owned();
            Finding::file(ORPHAN, path, "", message)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gates::sample::{GUIDE, TOC, codes, page_with, subject, with_text};

    #[test]
    fn links_have_a_target() {
        let cases: [(&str, &[&str]); 12] = [
            ("[a](/docs/acme/)", &[]),
            ("[a](/docs/acme/guide/#extra)", &[]),
            ("[a](../)", &[]),
            ("![a](/img/a.png)", &[]),
            ("[a](https://x.example/none)", &[]),
            ("[a](/nowhere/)", &[INTERNAL]),
            ("[a](gone.md)", &[RELATIVE]),
            ("![a](/img/none.png)", &[INTERNAL]),
            ("[a](#nothing)", &[ANCHOR]),
            ("[a](/docs/acme/#nothing)", &[ANCHOR]),
            ("<a href=\"/nowhere/\">x</a>", &[INTERNAL]),
            (
                "[a]({{< relref \"gone.md\" >}}) and `[b](/nowhere/)`",
                &[RELATIVE],
            ),
        ];
        for (body, expected) in cases {
            let text = page_with(&format!("## Extra\n\n{body}"));
            assert_eq!(
                codes(&InternalLinks, with_text(GUIDE, &text)),
                expected,
                "{body}"
            );
        }
    }

    #[test]
    fn a_page_without_links_to_it_is_an_orphan() {
        assert!(codes(&InternalLinks, subject()).is_empty());
        assert_eq!(
            codes(&InternalLinks, with_text(TOC, &page_with("No links."))),
            [ORPHAN]
        );
    }
}
