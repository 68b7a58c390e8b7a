//! Which issue is fixed next: always the same one for the same report.

use std::cmp::Ordering;

use windlass_launch_model::{Issue, IssueStatus, Severity};

/// The order issues are fixed and listed in: worst first, then gate, path, line and id.
pub fn order(a: &Issue, b: &Issue) -> Ordering {
    let key = |issue: &Issue| {
        let place = issue.location.as_ref();
        (
            place.map(|place| place.path.clone()).unwrap_or_default(),
            place.and_then(|place| place.line).unwrap_or_default(),
        )
    };
    b.severity
        .cmp(&a.severity)
        .then_with(|| a.gate.cmp(&b.gate))
        .then_with(|| key(a).cmp(&key(b)))
        .then_with(|| a.issue_id.cmp(&b.issue_id))
}

/// The next issue to fix: open, failing, with a fixer; the first in [`order`].
pub fn next_issue(issues: &[Issue]) -> Option<&Issue> {
    issues
        .iter()
        .filter(|issue| {
            issue.status == IssueStatus::Open && issue.severity.fails() && issue.fixable
        })
        .min_by(|a, b| order(a, b))
}

/// How many open blockers there are.
pub fn open_blockers(issues: &[Issue]) -> usize {
    issues
        .iter()
        .filter(|issue| issue.status == IssueStatus::Open && issue.severity == Severity::Blocker)
        .count()
}

#[cfg(test)]
mod tests {
    use windlass_launch_model::Location;

    use super::*;

    fn issue(id: &str, severity: Severity, gate: &str, path: &str, line: u64) -> Issue {
        Issue {
            issue_id: id.to_owned(),
            gate: gate.to_owned(),
            severity,
            title: String::new(),
            message: String::new(),
            status: IssueStatus::Open,
            error_code: Some("GATE_X".to_owned()),
            files: vec![path.to_owned()],
            location: Some(Location {
                path: path.to_owned(),
                line: Some(line),
            }),
            occurrences: Vec::new(),
            suggested_fix: None,
            fixable: true,
        }
    }

    #[test]
    fn worst_first_then_gate_path_line_id() {
        use Severity::{Blocker, Error, Warn};
        let mut issues = vec![
            issue("6", Warn, "A", "a", 1),
            issue("5", Error, "A", "a", 1),
            issue("4", Blocker, "B", "a", 1),
            issue("3", Blocker, "A", "b", 1),
            issue("2", Blocker, "A", "a", 10),
            issue("1", Blocker, "A", "a", 9),
            issue("0", Blocker, "A", "a", 9),
        ];
        let mut sorted = issues.clone();
        sorted.sort_by(order);
        let ids: Vec<_> = sorted.iter().map(|issue| issue.issue_id.as_str()).collect();
        assert_eq!(ids, ["0", "1", "2", "3", "4", "5", "6"]);

        assert_eq!(next_issue(&issues).map(|i| i.issue_id.as_str()), Some("0"));
        issues.reverse();
        assert_eq!(next_issue(&issues).map(|i| i.issue_id.as_str()), Some("0"));
        assert_eq!(open_blockers(&issues), 5);
    }

    #[test]
    fn unfixable_resolved_and_mild_ones_are_passed_over() {
        let mut unfixable = issue("a", Severity::Blocker, "A", "a", 1);
        unfixable.fixable = false;
        let mut resolved = issue("b", Severity::Blocker, "A", "a", 1);
        resolved.status = IssueStatus::Resolved;
        let mild = issue("c", Severity::Warn, "A", "a", 1);
        let last = issue("d", Severity::Error, "Z", "z", 1);
        assert_eq!(
            next_issue(&[unfixable.clone(), resolved.clone(), mild.clone()]),
            None
        );
        let all = [unfixable, resolved, mild, last];
        assert_eq!(next_issue(&all).map(|i| i.issue_id.as_str()), Some("d"));
    }
}
