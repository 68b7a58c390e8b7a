//! TemplateTokens: nothing of a template is left on a page, and a page says something.

use std::ops::Range;

use windlass_launch_model::markdown::{Document, filler};

use crate::gates::{
    finding::{Checked, Finding, Limit},
    input::GateInput,
    outside::GateFault,
    prose,
    run::Gate,
};

/// A token was not replaced.
pub const TOKEN: &str = "GATE_TEMPLATE_TOKEN_UNRESOLVED";
/// Text that stands for text.
pub const FILLER: &str = "GATE_TEMPLATE_PLACEHOLDER_TEXT";

/// A body shorter than this says nothing.
const SHORTEST: usize = 100;

/// The gate.
pub struct TemplateTokens;

impl Gate for TemplateTokens {
    fn name(&self) -> &'static str {
        "TemplateTokens"
    }

    fn limit(&self) -> Limit {
        Limit::Total(30, 60)
    }

    fn check(&self, input: &GateInput) -> Result<Checked, GateFault> {
        let mut findings = Vec::new();
        for (path, document) in input.changed_pages() {
            for range in tokens(document) {
                let token = &document.text[range.clone()];
                let message = format!("The token {token} was never replaced.");
                findings.push(Finding::at(
                    TOKEN,
                    path,
                    document.line(range.start),
                    token,
                    message,
                ));
            }
            findings.extend(fillers(path, document));
        }
        Ok(Checked::Ran(findings))
    }
}

/// Where tokens stand, outside code.
pub fn tokens(document: &Document) -> Vec<Range<usize>> {
    let text = document.text.as_str();
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(start) = text[at..].find("{{").map(|offset| at + offset) {
        at = start + 2;
        let rest = &text[at..];
        // Shortcodes are Hugo's own and are resolved when the site is built.
        if rest.starts_with(['<', '%']) || document.in_code(start) {
            continue;
        }
        if let Some(end) = rest.find("}}").filter(|end| !rest[..*end].contains('\n')) {
            at += end + 2;
            found.push(start..at);
        }
    }
    let mut at = 0;
    while let Some(start) = text[at..].find("__").map(|offset| at + offset) {
        let name: usize = text[start + 2..]
            .bytes()
            .take_while(|b| b.is_ascii_uppercase() || b.is_ascii_digit() || *b == b'_')
            .count();
        let whole = &text[start..start + 2 + name];
        at = start + whole.len().max(2);
        let inner = whole.trim_matches('_');
        let bounded = !text[..start].ends_with(|c: char| c.is_alphanumeric())
            && !text[at..].starts_with(|c: char| c.is_alphanumeric());
        let is_token = whole.ends_with("__") && inner.starts_with(|c: char| c.is_ascii_uppercase());
        if is_token && bounded && !document.in_code(start) {
            found.push(start..at);
        }
    }
    found.sort_by_key(|range| range.start);
    found
}

fn fillers(path: &str, document: &Document) -> Vec<Finding> {
    let mut found = Vec::new();
    let mut open_conflict = false;
    let mut at = 0;
    for line in document.text.split_inclusive('\n') {
        let start = at;
        at += line.len();
        if document.in_code(start) {
            continue;
        }
        let number = document.line(start);
        let conflict = match line.get(..7) {
            Some("<<<<<<<") => {
                open_conflict = true;
                true
            }
            Some("=======") => open_conflict && line.trim_end().len() == 7,
            Some(">>>>>>>") => std::mem::take(&mut open_conflict),
            _ => false,
        };
        if conflict {
            let message = "A merge was left unfinished: choose one side.".to_owned();
            found.push(Finding::at(FILLER, path, number, line, message));
            continue;
        }
        if let Some(word) = filler(line, |at| document.in_code(start + at)) {
            let message = format!("“{word}” is a placeholder for text.");
            found.push(Finding::at(FILLER, path, number, line, message));
        }
    }
    let length = prose::readable(document).chars().count();
    if length < SHORTEST && document.code.is_empty() {
        let message =
            format!("The page's text has {length} characters, and a page needs {SHORTEST}.");
        found.push(Finding::file(FILLER, path, "", message));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gates::sample::{GUIDE, LONG, codes, with_text};

    #[test]
    fn tokens_and_filler_are_found_outside_code() {
        let cases: [(&str, &[&str]); 15] = [
            ("Plain text.", &[]),
            ("Made by __PRODUCT_NAME__ today.", &[TOKEN]),
            ("Made by {{ product }} today.", &[TOKEN]),
            ("Hugo: {{< ref \"x\" >}} and {{% note %}}.", &[]),
            ("`{{ product }}` and `__INIT__` are code.", &[]),
            (concat!("```\n{{ x }} __A_B__ TO", "DO\n```"), &[]),
            ("Call __init__ first.", &[]),
            ("Lorem ipsum dolor.", &[FILLER]),
            (concat!("TO", "DO: write this."), &[FILLER]),
            ("Keeps your todo list.", &[]),
            ("Coming soon!", &[FILLER]),
            (
                "<<<<<<< ours\nA\n=======\nB\n>>>>>>> theirs",
                &[FILLER, FILLER, FILLER],
            ),
            ("Heading\n=======", &[]),
            ("{{ open", &[]),
            ("TODOS is a name.", &[]),
        ];
        for (body, expected) in cases {
            let text = format!("---\ntitle: T\n---\n\n{body}\n\n{LONG}\n");
            assert_eq!(
                codes(&TemplateTokens, with_text(GUIDE, &text)),
                expected,
                "{body}"
            );
        }
    }

    #[test]
    fn a_token_in_front_matter_counts() {
        let text = format!("---\ntitle: __TITLE__\n---\n\n{LONG}\n");
        assert_eq!(codes(&TemplateTokens, with_text(GUIDE, &text)), [TOKEN]);
    }

    #[test]
    fn a_page_without_text_is_filler() {
        let text = "---\ntitle: T\n---\n\nShort. <!-- a comment that is long enough to be a hundred characters, but that no reader ever sees on the page -->\n";
        assert_eq!(codes(&TemplateTokens, with_text(GUIDE, text)), [FILLER]);
    }
}
