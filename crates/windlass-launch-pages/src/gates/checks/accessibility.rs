//! Accessibility: heading levels without gaps, pictures with a text, links with a name.

use windlass_launch_model::markdown::{Document, html::attribute, html::tag_name};

use crate::gates::{
    finding::{Checked, Finding, Limit},
    input::GateInput,
    outside::GateFault,
    run::Gate,
};

/// A level is left out.
pub const SKIP: &str = "GATE_ACCESSIBILITY_HEADING_SKIP";
/// A picture has no text.
pub const ALT: &str = "GATE_ACCESSIBILITY_ALT_MISSING";
/// A link has no name.
pub const NAME: &str = "GATE_ACCESSIBILITY_LINK_TEXT_EMPTY";

/// The gate.
pub struct Accessibility;

impl Gate for Accessibility {
    fn name(&self) -> &'static str {
        "Accessibility"
    }

    fn limit(&self) -> Limit {
        Limit::Total(30, 60)
    }

    fn check(&self, input: &GateInput) -> Result<Checked, GateFault> {
        let pages = input.changed_pages();
        Ok(Checked::Ran(
            pages.flat_map(|(path, page)| faults(path, page)).collect(),
        ))
    }
}

fn faults(path: &str, document: &Document) -> Vec<Finding> {
    let mut found = Vec::new();
    // The title stands above the body as its heading of level 1.
    let mut above = 1;
    for heading in &document.headings {
        if heading.level > above + 1 {
            let line = document.line(heading.range.start);
            let message = format!(
                "“{}” is of level {} below a heading of level {above}.",
                heading.text, heading.level
            );
            found.push(Finding::at(SKIP, path, line, &heading.text, message));
        }
        above = heading.level;
    }
    for link in &document.links {
        let line = document.line(link.range.start);
        if link.image && lacks_alt(document, link) {
            let message = format!("The picture {} has no alternative text.", link.target);
            found.push(Finding::at(ALT, path, line, &link.target, message));
        } else if !link.image && !link.html && link.text.trim().is_empty() {
            let message = format!("The link to {} has no text.", link.target);
            found.push(Finding::at(NAME, path, line, &link.target, message));
        }
    }
    found
}

/// In Markdown an empty text is a missing one; in HTML an empty `alt` says “decoration”.
pub fn lacks_alt(document: &Document, link: &windlass_launch_model::markdown::Link) -> bool {
    let source = &document.text[link.range.clone()];
    if link.html {
        tag_name(source) == "img" && attribute(source, "alt").is_none()
    } else {
        link.text.trim().is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gates::sample::{GUIDE, codes, page_with, with_text};

    #[test]
    fn levels_pictures_and_links() {
        let cases: [(&str, &[&str]); 12] = [
            ("## A\n\n### B\n\n## C", &[]),
            ("# A\n\n## B", &[]),
            ("## A\n\n#### B", &[SKIP]),
            ("### A", &[SKIP]),
            ("## A\n\n#### B\n\n##### C", &[SKIP]),
            ("![text](/i.png)", &[]),
            ("![](/i.png)", &[ALT]),
            ("a <img src=x> b", &[ALT]),
            ("a <img src=x alt=\"\"> b", &[]),
            ("[](/x)", &[NAME]),
            ("[![text](/i.png)](/x)", &[]),
            ("[`code`](/x)", &[]),
        ];
        for (body, expected) in cases {
            assert_eq!(
                codes(&Accessibility, with_text(GUIDE, &page_with(body))),
                expected,
                "{body}"
            );
        }
    }
}
