//! What a gate found.

use serde::{Deserialize, Serialize};
use windlass_types::Digest;

/// How bad it is; compared as a type, never as text.
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Serialize,
    Deserialize,
    schemars::JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Worth knowing.
    Info,
    /// Worth fixing.
    Warn,
    /// Must be fixed.
    Error,
    /// Nothing goes out with it.
    Blocker,
}

impl Severity {
    /// The word on the wire.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Info => "info",
            Self::Warn => "warn",
            Self::Error => "error",
            Self::Blocker => "blocker",
        }
    }

    /// Whether a report with such an issue is not ok.
    pub const fn fails(self) -> bool {
        matches!(self, Self::Error | Self::Blocker)
    }
}

/// Where an issue stands.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema,
)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum IssueStatus {
    /// Found.
    #[default]
    Open,
    /// Being fixed.
    InProgress,
    /// Gone.
    Resolved,
}

/// A place in the site.
#[derive(
    Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, schemars::JsonSchema,
)]
pub struct Location {
    /// The path, relative to the site.
    pub path: String,
    /// The line, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u64>,
}

/// One issue: a gate opens one per file and code, with every occurrence.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Issue {
    /// `iss_` and twelve hex characters; stable when lines move.
    pub issue_id: String,
    /// The gate.
    pub gate: String,
    /// How bad it is.
    pub severity: Severity,
    /// At most 80 characters.
    pub title: String,
    /// What is wrong, where, and what would be right.
    pub message: String,
    /// Where it stands.
    pub status: IssueStatus,
    /// The code; always there for errors and blockers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error_code: Option<String>,
    /// The files it is about, relative to the site.
    #[serde(default)]
    pub files: Vec<String>,
    /// The first place.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub location: Option<Location>,
    /// Every place, with the text found there.
    #[serde(default)]
    pub occurrences: Vec<Occurrence>,
    /// What would help.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub suggested_fix: Option<String>,
    /// Whether a fixer is registered for the code.
    pub fixable: bool,
}

/// One place where an issue shows.
#[derive(
    Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, schemars::JsonSchema,
)]
#[serde(deny_unknown_fields)]
pub struct Occurrence {
    /// The line, from 1.
    pub line: u64,
    /// The text that is wrong, shortened and without secrets.
    pub excerpt: String,
}

impl Issue {
    /// Whether it keeps a report from being ok.
    pub fn is_failing(&self) -> bool {
        self.status != IssueStatus::Resolved && self.severity.fails()
    }

    /// The file it is about, relative to the site; empty when it is about none.
    pub fn path(&self) -> &str {
        let of_location = self.location.as_ref().map(|location| &location.path);
        of_location
            .or(self.files.first())
            .map_or("", String::as_str)
    }

    /// The first line it is about.
    pub fn line(&self) -> u64 {
        self.location
            .as_ref()
            .and_then(|location| location.line)
            .unwrap_or(0)
    }

    /// The order in which issues are fixed: worst first, then gate, path, line, id.
    pub fn fix_order(&self, other: &Self) -> std::cmp::Ordering {
        other
            .severity
            .cmp(&self.severity)
            .then_with(|| self.gate.cmp(&other.gate))
            .then_with(|| self.path().cmp(other.path()))
            .then_with(|| self.line().cmp(&other.line()))
            .then_with(|| self.issue_id.cmp(&other.issue_id))
    }

    /// The id of an issue: the same while its text stays, wherever it moves.
    pub fn id(gate: &str, code: &str, path: &str, excerpt: &str, ordinal: usize) -> String {
        let normal = excerpt.split_whitespace().collect::<Vec<_>>().join(" ");
        let digest = Digest::of_parts(&[
            gate.as_bytes(),
            code.as_bytes(),
            path.as_bytes(),
            normal.as_bytes(),
            ordinal.to_string().as_bytes(),
        ]);
        format!("iss_{}", digest.short())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn issue(severity: Severity, gate: &str, path: &str, line: u64, id: &str) -> Issue {
        Issue {
            issue_id: id.to_owned(),
            gate: gate.to_owned(),
            severity,
            title: String::new(),
            message: String::new(),
            status: IssueStatus::Open,
            error_code: None,
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
    fn the_worst_is_fixed_first_then_by_gate_path_line_and_id() {
        use Severity::{Blocker, Error, Info, Warn};
        let expected = [
            issue(Blocker, "B", "z.md", 9, "iss_9"),
            issue(Blocker, "C", "a.md", 1, "iss_1"),
            issue(Error, "A", "a.md", 2, "iss_2"),
            issue(Error, "A", "a.md", 10, "iss_0"),
            issue(Error, "A", "b.md", 1, "iss_3"),
            issue(Error, "A", "b.md", 1, "iss_4"),
            issue(Warn, "A", "a.md", 1, "iss_5"),
            issue(Info, "A", "a.md", 1, "iss_6"),
        ];
        let mut mixed = expected.clone();
        mixed.reverse();
        mixed.swap(1, 4);
        mixed.sort_by(Issue::fix_order);
        assert_eq!(mixed, expected);
    }

    #[test]
    fn ids_stay_when_lines_move_and_differ_between_folders() {
        let id = Issue::id("TruthLock", "X", "a/page.md", "It  reads\nfiles.", 0);
        assert_eq!(
            id,
            Issue::id("TruthLock", "X", "a/page.md", " It reads files. ", 0)
        );
        for other in [
            Issue::id("TruthLock", "X", "b/page.md", "It reads files.", 0),
            Issue::id("TruthLock", "X", "a/page.md", "It reads files.", 1),
            Issue::id("TruthLock", "Y", "a/page.md", "It reads files.", 0),
            Issue::id("Other", "X", "a/page.md", "It reads files.", 0),
        ] {
            assert_ne!(other, id);
        }
        assert_eq!(id.len(), "iss_".len() + 12);
    }

    #[test]
    fn resolved_and_harmless_issues_do_not_fail_a_report() {
        let mut resolved = issue(Severity::Blocker, "A", "a.md", 1, "iss_1");
        resolved.status = IssueStatus::Resolved;
        assert!(!resolved.is_failing());
        assert!(!issue(Severity::Warn, "A", "a.md", 1, "iss_1").is_failing());
        assert!(issue(Severity::Error, "A", "a.md", 1, "iss_1").is_failing());
    }
}
