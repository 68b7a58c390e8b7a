//! Xss: no page brings code that runs in the reader's browser, or embeds another page.

use windlass_launch_model::markdown::{Document, html::tag_name};

use crate::gates::{
    finding::{Checked, Finding, Limit},
    input::GateInput,
    outside::GateFault,
    run::Gate,
};

const SCRIPT: &str = "GATE_XSS_SCRIPT";
const EMBED: &str = "GATE_XSS_EMBED";

/// The gate.
pub struct Xss;

impl Gate for Xss {
    fn name(&self) -> &'static str {
        "Xss"
    }

    fn limit(&self) -> Limit {
        Limit::Total(30, 60)
    }

    fn check(&self, input: &GateInput) -> Result<Checked, GateFault> {
        let mut findings = Vec::new();
        for (path, document) in input.changed_pages() {
            findings.extend(in_html(path, document));
            for link in document.links.iter().filter(|link| runs(&link.target)) {
                let line = document.line(link.range.start);
                let message = "The link runs a script. Link to an address instead.".to_owned();
                findings.push(Finding::at(SCRIPT, path, line, &link.target, message));
            }
        }
        Ok(Checked::Ran(findings))
    }
}

fn in_html(path: &str, document: &Document) -> Vec<Finding> {
    let mut found = Vec::new();
    for tag in &document.tags {
        let (text, name) = (tag.text.as_str(), tag_name(&tag.text));
        let closing = text.starts_with("</");
        let (code, what) = match name.as_str() {
            "script" if !closing => (SCRIPT, "a script"),
            "iframe" | "object" | "embed" | "form" | "frame" | "applet" if !closing => {
                (EMBED, "another page or form")
            }
            _ if handler(text) => (SCRIPT, "a script in an attribute"),
            // What `<a href>` and `<img src>` run is judged with the links.
            _ if !matches!(name.as_str(), "a" | "img") && any_value_runs(text) => {
                (SCRIPT, "a script in an address")
            }
            _ => continue,
        };
        let message = format!("The HTML brings {what}. Write it in Markdown.");
        found.push(Finding::at(code, path, tag.line, text, message));
    }
    found
}

/// Whether a tag has an `on…=` attribute.
fn handler(tag: &str) -> bool {
    let lower = tag.to_ascii_lowercase();
    let bytes = lower.as_bytes();
    lower.match_indices("on").any(|(at, _)| {
        let before = at.checked_sub(1).map(|before| bytes[before]);
        let name = lower[at..]
            .bytes()
            .take_while(u8::is_ascii_alphabetic)
            .count();
        let rest = lower[at + name..].trim_start();
        let starts = matches!(
            before,
            Some(b' ' | b'\t' | b'\n' | b'\r' | b'/' | b'"' | b'\'')
        );
        starts && name > 2 && rest.starts_with('=')
    })
}

fn any_value_runs(tag: &str) -> bool {
    tag.split('=')
        .skip(1)
        .any(|value| runs(value.trim_start_matches([' ', '"', '\''])))
}

/// Whether an address is code. Browsers skip white space and control characters in schemes.
fn runs(target: &str) -> bool {
    let plain: String = target
        .chars()
        .filter(|c| !c.is_whitespace() && !c.is_control())
        .take(32)
        .collect::<String>()
        .to_ascii_lowercase();
    [
        "javascript:",
        "vbscript:",
        "data:text/html",
        "data:image/svg",
    ]
    .iter()
    .any(|s| plain.starts_with(s))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gates::sample::{GUIDE, codes, page_with, with_text};

    #[test]
    fn code_and_embeds_are_found() {
        let cases: [(&str, &[&str]); 16] = [
            ("<b>bold</b> <br/>", &[]),
            ("<script>alert(1)</script>", &[SCRIPT]),
            ("<SCRIPT src=x></SCRIPT>", &[SCRIPT]),
            ("a <img src=x onerror=alert(1)> b", &[SCRIPT]),
            ("a <b\nonclick = 'x()'>y</b>", &[SCRIPT]),
            ("[x](javascript:alert(1))", &[SCRIPT]),
            ("a <a href=\" JaVa\tScript:x\">y</a>", &[SCRIPT]),
            ("[x](data:text/html;base64,AA)", &[SCRIPT]),
            ("<iframe src=\"https://a.example\"></iframe>", &[EMBED]),
            ("<form action=\"/x\"></form>", &[EMBED]),
            ("<object data=x></object>", &[EMBED]),
            ("<embed src=x>", &[EMBED]),
            ("`<script>` and\n\n```html\n<script>x</script>\n```", &[]),
            ("<!-- <script>x</script> -->", &[]),
            ("a <span title=\"turned on = yes\">x</span>", &[]),
            ("Text about javascript: it runs.", &[]),
        ];
        for (body, expected) in cases {
            assert_eq!(
                codes(&Xss, with_text(GUIDE, &page_with(body))),
                expected,
                "{body}"
            );
        }
    }
}
