//! `validation_report.json`.

use serde::{Deserialize, Serialize};

use crate::{Issue, IssueStatus, Profile, Severity};

/// How one gate went.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GateResult {
    /// The gate.
    pub name: String,
    /// Whether it found nothing that fails.
    pub ok: bool,
    /// Whether it did not run.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub skipped: bool,
    /// Why it did not run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Where its log is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub log_path: Option<String>,
}

/// What all gates found. Holds no time, path of the machine or id of the run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ValidationReport {
    /// The version of this format.
    pub schema_version: String,
    /// Whether no open issue fails.
    pub ok: bool,
    /// `GATE_FAILED` when it is not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error_code: Option<String>,
    /// How strictly was judged.
    pub profile: Profile,
    /// Every gate, in the fixed order.
    pub gates: Vec<GateResult>,
    /// The issues, in the order they would be fixed.
    pub issues: Vec<Issue>,
    /// Whether a person edited the worktree.
    pub manual_edits: bool,
    /// The files a person edited.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub manual_edited_files: Vec<String>,
}

impl ValidationReport {
    /// Whether these issues fail a report.
    pub fn fails(issues: &[Issue]) -> bool {
        issues.iter().any(Issue::is_failing)
    }

    /// How many blockers are open.
    pub fn open_blockers(&self) -> usize {
        self.open_issues()
            .filter(|issue| issue.severity == Severity::Blocker)
            .count()
    }

    /// The issues that are not resolved, in the order they would be fixed.
    pub fn open_issues(&self) -> impl Iterator<Item = &Issue> {
        self.issues
            .iter()
            .filter(|issue| issue.status != IssueStatus::Resolved)
    }
}
