//! The answers of the launch operations, as far as people are shown them. Issues and reports are
//! the model's.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::{Map, Value};
use windlass_launch_model::{Issue, Location, Severity};
use windlass_types::Timestamp;

/// The state of a run: RunStatus.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct Status {
    pub(super) run_id: String,
    pub(super) state: String,
    pub(super) section_states: BTreeMap<String, String>,
    /// In the order they are fixed in.
    pub(super) open_issues: Vec<OpenIssue>,
    pub(super) artifacts: Vec<NamedArtifact>,
    #[serde(default)]
    pub(super) failure: Option<RunFailure>,
    pub(super) fix_attempts: FixAttempts,
    pub(super) parked: bool,
    #[serde(default)]
    pub(super) pr: Option<OpenedPr>,
    #[serde(default)]
    pub(super) rolled_back: bool,
}

#[derive(Clone, Debug, Deserialize)]
pub(super) struct OpenIssue {
    pub(super) issue_id: String,
    pub(super) severity: Severity,
    pub(super) gate: String,
    pub(super) title: String,
}

#[derive(Clone, Debug, Deserialize)]
pub(super) struct NamedArtifact {
    pub(super) name: String,
    pub(super) sha256: String,
}

/// Why a run failed, or does not continue by itself.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct RunFailure {
    pub(super) code: String,
    pub(super) message: String,
    #[serde(default)]
    pub(super) details: Map<String, Value>,
}

#[derive(Clone, Copy, Debug, Deserialize)]
pub(super) struct FixAttempts {
    pub(super) used: u32,
    pub(super) max: u32,
}

#[derive(Clone, Debug, Deserialize)]
pub(super) struct OpenedPr {
    pub(super) pr_url: String,
    pub(super) branch: String,
    pub(super) commit_sha: String,
}

impl Status {
    /// Whether no finding blocks it.
    pub(super) fn is_sound(&self) -> bool {
        !self.open_issues.iter().any(|issue| issue.severity.fails())
    }

    /// Whether nothing more happens.
    pub(super) fn has_ended(&self) -> bool {
        matches!(self.state.as_str(), "DONE" | "FAILED" | "CANCELLED")
    }

    /// Whether it ended because the site already says all that it would have written.
    pub(super) fn is_up_to_date(&self) -> bool {
        let failure = self.failure.as_ref();
        self.state == "CANCELLED" && failure.is_some_and(|it| it.code == "NOTHING_TO_COMMIT")
    }

    pub(super) fn has_artifact(&self, name: &str) -> bool {
        self.artifacts.iter().any(|artifact| artifact.name == name)
    }

    /// How many open issues there are of each kind that matters.
    pub(super) fn tally(&self) -> String {
        let count = |severity: Severity| {
            let issues = self.open_issues.iter();
            issues.filter(|issue| issue.severity == severity).count() as u64
        };
        super::event_lines::tally(
            count(Severity::Blocker),
            count(Severity::Error),
            count(Severity::Warn),
        )
    }
}

/// Where an issue is, as editors and compilers write it.
pub(super) fn place(issue: &Issue) -> String {
    match &issue.location {
        Some(Location {
            path,
            line: Some(line),
        }) => format!("{path}:{line}"),
        Some(Location { path, line: None }) => path.clone(),
        None => issue.files.first().cloned().unwrap_or_default(),
    }
}

/// One run of a list.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct ListedRun {
    pub(super) run_id: String,
    pub(super) product_slug: String,
    pub(super) state: String,
    pub(super) started_at: Timestamp,
    #[serde(default)]
    pub(super) finished_at: Option<Timestamp>,
}
