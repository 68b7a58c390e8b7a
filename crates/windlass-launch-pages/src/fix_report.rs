//! What one attempt did about one issue, for people: `fix_<issue_id>.md`.
//!
//! The same issue and patches give the same bytes.

use std::fmt::Write as _;

use windlass_launch_model::{Issue, Patch, PatchKind};

use crate::markup;

/// The report of an attempt: what was wrong, what was done, and with which patches.
pub fn fix_report(issue: &Issue, patches: &[Patch], notes: &[String]) -> String {
    let code = issue.error_code.as_deref().unwrap_or("none");
    let mut report = format!("# Fix of {}\n\n", issue.issue_id);
    // Writing to a string cannot fail.
    let _ = writeln!(report, "{}\n", markup::inline(&issue.message));
    let rows = [
        ("gate", issue.gate.as_str()),
        ("code", code),
        ("severity", issue.severity.as_str()),
        ("file", issue.path()),
    ];
    report.push_str("| what | value |\n| --- | --- |\n");
    for (what, value) in rows.into_iter().filter(|(_, value)| !value.is_empty()) {
        let _ = writeln!(report, "| {what} | {} |", cell(value));
    }
    if !issue.occurrences.is_empty() {
        report.push_str("\n## Where\n\n");
        for place in &issue.occurrences {
            let _ = writeln!(
                report,
                "- line {}: {}",
                place.line,
                markup::code_span(&place.excerpt)
            );
        }
    }
    report.push_str("\n## What was done\n\n");
    if notes.is_empty() {
        report.push_str("- The lines were replaced.\n");
    }
    for note in notes {
        let _ = writeln!(report, "- {}", markup::inline(note));
    }
    report.push_str("\n## Patches\n");
    for patch in patches {
        let _ = write!(report, "\n### {}\n\n{}\n", patch.patch_id, describe(patch));
        if let Some(new) = &patch.new_content {
            let fence = markup::fence(new);
            let _ = write!(
                report,
                "\n{fence}text\n{}\n{fence}\n",
                new.trim_end_matches('\n')
            );
        }
        for (key, value) in &patch.frontmatter_updates {
            let _ = write!(
                report,
                "\n- {}: {}\n",
                markup::code_span(key),
                markup::code_span(&value.to_string())
            );
        }
    }
    report
}

/// What a patch does, in a sentence.
fn describe(patch: &Patch) -> String {
    let path = markup::code_span(&patch.path);
    let (start, end) = (
        patch.start_line.unwrap_or_default(),
        patch.end_line.unwrap_or_default(),
    );
    match patch.kind {
        PatchKind::CreateFile => format!("Creates {path}:"),
        PatchKind::DeleteFile => format!("Removes {path}."),
        PatchKind::UpdateFrontmatterKeys => format!("Sets keys of {path}:"),
        PatchKind::UpdateByAnchor => {
            let anchor = markup::code_span(patch.anchor.as_deref().unwrap_or_default());
            format!("Replaces what stands at {anchor} in {path}:")
        }
        PatchKind::UpdateFileRange if end < start => {
            format!("Inserts before line {start} of {path}:")
        }
        PatchKind::UpdateFileRange if patch.new_content.as_deref() == Some("") => {
            format!("Removes lines {start} to {end} of {path}.")
        }
        PatchKind::UpdateFileRange => format!("Replaces lines {start} to {end} of {path}:"),
    }
}

fn cell(text: &str) -> String {
    markup::code_span(text).replace('|', "\\|")
}

#[cfg(test)]
mod tests {
    use windlass_launch_model::{IssueStatus, Location, Severity, issue::Occurrence};

    use super::*;
    use crate::patch::{Edit, edit_file};

    #[test]
    fn an_attempt_is_reported() {
        let issue = Issue {
            issue_id: "iss_0123456789ab".to_owned(),
            gate: "TemplateTokens".to_owned(),
            severity: Severity::Blocker,
            title: "A token".to_owned(),
            message: "A template token was left: __NAME__.".to_owned(),
            status: IssueStatus::Open,
            error_code: Some("GATE_TEMPLATE_TOKEN_UNRESOLVED".to_owned()),
            files: vec!["docs/a.md".to_owned()],
            location: Some(Location {
                path: "docs/a.md".to_owned(),
                line: Some(2),
            }),
            occurrences: vec![Occurrence {
                line: 2,
                excerpt: "__NAME__".to_owned(),
            }],
            suggested_fix: None,
            fixable: true,
        };
        let edit = Edit::Range {
            start: 2,
            end: 2,
            text: "Acme\n".to_owned(),
        };
        let (patch, _) = edit_file("patch_004", "docs/a.md", "# A\n__NAME__\n", &edit).unwrap();
        let report = fix_report(&issue, &[patch], &["__NAME__ is now “Acme”.".to_owned()]);
        insta::assert_snapshot!(report, @r"
        # Fix of iss_0123456789ab

        A template token was left: \_\_NAME\_\_.

        | what | value |
        | --- | --- |
        | gate | `TemplateTokens` |
        | code | `GATE_TEMPLATE_TOKEN_UNRESOLVED` |
        | severity | `blocker` |
        | file | `docs/a.md` |

        ## Where

        - line 2: `__NAME__`

        ## What was done

        - \_\_NAME\_\_ is now “Acme”.

        ## Patches

        ### patch_004

        Replaces lines 2 to 2 of `docs/a.md`:

        ```text
        Acme
        ```
        ");
    }
}
