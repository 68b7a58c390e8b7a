//! Makes issues of what a gate found: grouped by file, with an id that stays and a severity.

use std::collections::BTreeMap;

use windlass_launch_model::{Issue, IssueStatus, Location, Severity, issue::Occurrence};

use crate::{
    finding::{Finding, Place, shorten},
    fix,
    input::GateInput,
    severity::severity,
};

/// One issue per file, code and severity, with every occurrence.
pub(crate) fn open_issues(gate: &str, findings: Vec<Finding>, input: &GateInput) -> Vec<Issue> {
    let mut groups: BTreeMap<(Place, &'static str, Severity), Vec<Finding>> = BTreeMap::new();
    for finding in findings {
        let level = if is_the_runs(&finding, input) {
            severity(gate, finding.code, input.profile, input.strictness)
        } else {
            Severity::Info
        };
        groups
            .entry((finding.place.clone(), finding.code, level))
            .or_default()
            .push(finding);
    }
    groups
        .into_iter()
        .map(|((place, code, level), group)| issue(gate, &place, code, level, group))
        .collect()
}

/// Whether the run brought it: not in a file it never touched, not in a line it left alone.
fn is_the_runs(finding: &Finding, input: &GateInput) -> bool {
    let Place::Site(path) = &finding.place else {
        return true;
    };
    if input.site.contains(path) && !input.changed.contains_key(path) {
        return false;
    }
    let Some(line) = finding.line else {
        return true;
    };
    let old = |document: &windlass_launch_markdown::Document| {
        input.is_old_line(path, document.line_text(line))
    };
    !input.document(path).is_some_and(old)
}

fn issue(
    gate: &str,
    place: &Place,
    code: &'static str,
    level: Severity,
    mut group: Vec<Finding>,
) -> Issue {
    group.sort_by(|a, b| (a.line, &a.excerpt).cmp(&(b.line, &b.excerpt)));
    let path = place.path();
    let first = group.first();
    let excerpt = first.map_or("", |finding| finding.excerpt.as_str());
    let message = first.map_or("", |finding| finding.message.as_str());
    let line = first.and_then(|finding| finding.line);
    let more = group.len().saturating_sub(1);
    let fixer = fix::fixer(code);
    Issue {
        // The severity is no part of the id: a group of old lines is told apart by its ordinal.
        issue_id: Issue::id(
            gate,
            code,
            &path,
            excerpt,
            usize::from(level == Severity::Info),
        ),
        gate: gate.to_owned(),
        severity: level,
        title: title(message, more),
        message: message.to_owned(),
        status: IssueStatus::Open,
        error_code: Some(code.to_owned()),
        files: if path.is_empty() {
            Vec::new()
        } else {
            vec![path.clone()]
        },
        location: (!path.is_empty()).then_some(Location { path, line }),
        occurrences: group
            .iter()
            .filter_map(|finding| {
                Some(Occurrence {
                    line: finding.line?,
                    excerpt: finding.excerpt.clone(),
                })
            })
            .collect(),
        suggested_fix: fixer.map(|fixer| fixer.promise().to_owned()),
        fixable: fixer.is_some() && matches!(place, Place::Site(_)),
    }
}

/// The message's first sentence, and how often more it occurs; at most 80 characters.
fn title(message: &str, more: usize) -> String {
    let tail = if more == 0 {
        String::new()
    } else {
        format!(" (+{more})")
    };
    let sentence = message.split_once(". ").map_or(message, |(first, _)| first);
    let room = 80 - tail.chars().count();
    format!("{}{tail}", shorten(sentence.trim_end_matches('.'), room))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn titles_fit() {
        assert_eq!(title("Short. More.", 0), "Short");
        assert!(title(&"long ".repeat(50), 12).chars().count() <= 80);
        assert!(title(&"x".repeat(200), 12).ends_with(" (+12)"));
    }
}
