//! MarkdownLint: pages keep the fixed rules of [`crate::gates::lint`].

use crate::gates::{
    finding::{Checked, Finding, Limit},
    input::GateInput,
    lint::lint,
    outside::GateFault,
    run::Gate,
};

/// A rule is broken.
pub const LINT: &str = "GATE_MARKDOWN_LINT_ERROR";

/// The gate.
pub struct MarkdownLint;

impl Gate for MarkdownLint {
    fn name(&self) -> &'static str {
        "MarkdownLint"
    }

    fn limit(&self) -> Limit {
        Limit::Total(60, 120)
    }

    fn check(&self, input: &GateInput) -> Result<Checked, GateFault> {
        let mut findings = Vec::new();
        for (path, document) in input.changed_pages() {
            for found in lint(document, &input.snippets) {
                let excerpt = format!("{}: {}", found.rule, document.line_text(found.line));
                let message = format!("{} in line {}: {}.", found.rule, found.line, found.why);
                findings.push(Finding::at(LINT, path, found.line, &excerpt, message));
            }
        }
        Ok(Checked::Ran(findings))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gates::sample::{GUIDE, codes, subject, with_text};

    #[test]
    fn a_violation_is_found_and_a_clean_page_passes() {
        assert!(codes(&MarkdownLint, subject()).is_empty());
        let text = "---\ntitle: T\n---\n\n#No space \n";
        assert_eq!(codes(&MarkdownLint, with_text(GUIDE, text)), [LINT, LINT]);
    }
}
