//! Makes issues of what a gate found: grouped by file, with an id that stays and a severity.

use std::collections::BTreeMap;

use windlass_launch_model::{Issue, IssueStatus, Location, Severity, issue::Occurrence};

use crate::gates::{
    finding::{Finding, Place, shorten},
    fix,
    input::GateInput,
    severity::severity,
};

/// One issue per file and code, with every occurrence.
pub(crate) fn open_issues(gate: &str, findings: Vec<Finding>, input: &GateInput) -> Vec<Issue> {
    let mut groups: BTreeMap<(Place, &'static str), Vec<Finding>> = BTreeMap::new();
    for finding in findings {
        groups
            .entry((finding.place.clone(), finding.code))
            .or_default()
            .push(finding);
    }
    groups
        .into_iter()
        .map(|((place, code), group)| {
            let level = if is_untouched(&place, input) {
                Severity::Info
            } else {
                severity(gate, code, input.profile, input.strictness)
            };
            issue(gate, &place, code, level, group)
        })
        .collect()
}

/// Whether a place is a file of the site that the run neither created nor changed. In a file it
/// changed, what was wrong before counts as well: the run answers for the page it leaves.
fn is_untouched(place: &Place, input: &GateInput) -> bool {
    match place {
        Place::Site(path) => input.site.contains(path) && !input.changed.contains_key(path),
        Place::Artifact(_) | Place::Run => false,
    }
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
        issue_id: Issue::id(gate, code, &path, excerpt, 0),
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
