//! Which issue is fixed next: always the same one for the same report.

use windlass_launch_model::{Issue, IssueStatus, Severity};

/// The next issue to fix: open, failing, with a fixer; the first in [`Issue::fix_order`].
pub fn next_issue(issues: &[Issue]) -> Option<&Issue> {
    issues
        .iter()
        .filter(|issue| {
            issue.status == IssueStatus::Open && issue.severity.fails() && issue.fixable
        })
        .min_by(|a, b| a.fix_order(b))
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
    fn the_first_in_the_order_is_next() {
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
