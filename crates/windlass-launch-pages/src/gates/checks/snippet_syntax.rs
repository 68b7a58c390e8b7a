//! SnippetSyntax: code on a page parses, is in the language it says, and is from the product.

use windlass_launch_model::{
    Snippet,
    markdown::{Code, Document},
};

use windlass_launch_scout::syntax::{Syntax, canonical, check};

use crate::gates::{
    finding::{Checked, Finding, Limit},
    input::GateInput,
    outside::GateFault,
    run::Gate,
};

const SYNTAX: &str = "GATE_SNIPPET_SYNTAX_ERROR";
/// The fence names another language than the catalogue.
pub const MISMATCH: &str = "GATE_SNIPPET_LANGUAGE_MISMATCH";
/// The code is not from the product.
pub const UNKNOWN: &str = "GATE_SNIPPET_NOT_IN_CATALOG";
const NO_PARSER: &str = "GATE_SNIPPET_NO_PARSER";

/// The gate.
pub struct SnippetSyntax;

impl Gate for SnippetSyntax {
    fn name(&self) -> &'static str {
        "SnippetSyntax"
    }

    fn limit(&self) -> Limit {
        Limit::PerFile(60, 120)
    }

    fn check(&self, input: &GateInput) -> Result<Checked, GateFault> {
        let mut findings = Vec::new();
        for (path, document) in input.changed_pages() {
            for code in &document.code {
                findings.extend(faults(input, path, document, code));
            }
        }
        Ok(Checked::Ran(findings))
    }
}

fn faults(input: &GateInput, path: &str, document: &Document, code: &Code) -> Vec<Finding> {
    let line = document.line(code.range.start);
    let first = code
        .text
        .lines()
        .find(|line| !line.trim().is_empty())
        .unwrap_or_default();
    let mut found = Vec::new();
    let mut report =
        |id, at: u64, message: String| found.push(Finding::at(id, path, at, first, message));
    let known = from_catalogue(input, &code.text);
    match known {
        None if !is_install(input, &code.text) => {
            report(
                UNKNOWN,
                line,
                "The code is not in the product's catalogue of snippets.".to_owned(),
            );
        }
        Some(snippet) if canonical(&snippet.language) != canonical(&code.language) => {
            let says = if code.language.is_empty() {
                "no language"
            } else {
                &code.language
            };
            let message = format!(
                "The fence says {says}, and the code is {}.",
                snippet.language
            );
            report(MISMATCH, line, message);
        }
        _ => {}
    }
    let language = known.map_or(code.language.as_str(), |snippet| snippet.language.as_str());
    let verdict = match known.and_then(|snippet| snippet.validation.syntax_ok) {
        Some(true) => Syntax::Good,
        _ => check(language, &code.text),
    };
    match verdict {
        Syntax::Good => {}
        Syntax::Bad(at) => {
            report(
                SYNTAX,
                line + at,
                format!("The code does not parse as {language}."),
            );
        }
        Syntax::NoParser => {
            report(
                NO_PARSER,
                line,
                format!("There is no parser for {language}; the code was not checked."),
            );
        }
    }
    found
}

/// The snippet some code is, or is a run of lines of.
pub fn from_catalogue<'a>(input: &'a GateInput, code: &str) -> Option<&'a Snippet> {
    let wanted = lines(code);
    let snippets = &input.snippets.snippets;
    snippets
        .iter()
        .find(|snippet| lines(&snippet.code) == wanted)
        .or_else(|| {
            snippets.iter().find(|snippet| {
                let all = lines(&snippet.code);
                wanted.len() > 1 && all.windows(wanted.len()).any(|run| run == wanted)
            })
        })
}

fn lines(code: &str) -> Vec<&str> {
    code.trim_matches('\n').lines().map(str::trim_end).collect()
}

/// Whether every line is a command the manifest installs the product with.
pub fn is_install(input: &GateInput, code: &str) -> bool {
    let known = || {
        input
            .facts
            .distribution
            .iter()
            .flat_map(|way| &way.install_commands)
    };
    let mut any = false;
    for line in code.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let line = line.trim_start_matches("$ ").trim_start_matches("> ");
        let part = |command: &String| command.lines().any(|own| own.trim() == line);
        if !known().any(part) {
            return false;
        }
        any = true;
    }
    any
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gates::sample::{GUIDE, SNIPPET, codes, page_with, subject, with_text};

    #[test]
    fn code_is_from_the_catalogue_and_names_its_language() {
        assert!(codes(&SnippetSyntax, subject()).is_empty());
        let cases: [(String, &[&str]); 6] = [
            (format!("```python\n{SNIPPET}```"), &[]),
            (format!("```py\n{SNIPPET}```"), &[]),
            (format!("```js\n{SNIPPET}```"), &[MISMATCH]),
            (format!("```\n{SNIPPET}```"), &[MISMATCH]),
            ("```python\nprint(1)\n```".to_owned(), &[UNKNOWN]),
            (
                "```sh\n$ pip install acme-pdf\n```".to_owned(),
                &[NO_PARSER],
            ),
        ];
        for (body, expected) in cases {
            assert_eq!(
                codes(&SnippetSyntax, with_text(GUIDE, &page_with(&body))),
                expected,
                "{body}"
            );
        }
    }

    #[test]
    fn code_parses() {
        for (code, flag, expected) in [
            ("x = 1\ny = 2\n", None, vec![]),
            ("x = (\n", None, vec![SYNTAX]),
            ("x = (\n", Some(false), vec![SYNTAX]),
        ] {
            let mut subject = with_text(GUIDE, &page_with(&format!("```python\n{code}```")));
            subject.snippets.snippets[0].code = code.to_owned();
            subject.snippets.snippets[0].validation.syntax_ok = flag;
            assert_eq!(codes(&SnippetSyntax, subject), expected, "{code}");
        }
    }

    #[test]
    fn a_run_of_lines_of_a_snippet_counts() {
        let mut subject = with_text(GUIDE, &page_with("```python\nb = 2\nc = 3\n```"));
        subject.snippets.snippets[0].code = "a = 1\nb = 2\nc = 3\n".to_owned();
        assert!(codes(&SnippetSyntax, subject).is_empty());
    }
}
