//! What a lint finds, and the report of it.

use std::{collections::BTreeMap, path::Path};

use serde::Serialize;
use serde_json::Value;
use windlass_pack_model::fault;
use windlass_types::Problem;

use crate::authored::shown;

/// A rule that is broken.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Issue {
    /// The rule.
    pub rule: &'static str,
    /// Where, below the repository.
    pub path: String,
    /// The same with `/`.
    pub path_posix: String,
    /// What is wrong.
    pub message: String,
    /// The same for programs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub details: Option<Value>,
}

impl Issue {
    pub(super) fn new(rule: &'static str, path: &Path, message: impl Into<String>) -> Self {
        Self {
            rule,
            path: shown(path),
            path_posix: fault::posix(path),
            message: message.into(),
            details: None,
        }
    }

    pub(super) fn with(mut self, details: Value) -> Self {
        self.details = Some(details);
        self
    }
}

/// The `data` of `policy lint`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LintReport {
    /// The repository.
    pub root: String,
    /// The same with `/`.
    pub root_posix: String,
    /// What is broken, by path, rule and message.
    pub issues: Vec<Issue>,
    /// How much.
    pub summary: LintSummary,
}

/// How much was found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LintSummary {
    /// All issues.
    pub violations: usize,
    /// The files that were read.
    pub files_scanned: usize,
    /// Those that are skills.
    pub skill_files: usize,
    /// Those that are commands.
    pub claude_command_files: usize,
    /// The issues by rule.
    pub rules: BTreeMap<&'static str, usize>,
}

impl LintReport {
    pub(super) fn new(
        root: &Path,
        mut issues: Vec<Issue>,
        skill_files: usize,
        claude_command_files: usize,
    ) -> Self {
        issues.sort_by(|left, right| {
            let key = |issue: &Issue| (issue.path_posix.clone(), issue.rule, issue.message.clone());
            key(left).cmp(&key(right))
        });
        let mut rules = BTreeMap::new();
        for issue in &issues {
            *rules.entry(issue.rule).or_insert(0) += 1;
        }
        Self {
            root: shown(root),
            root_posix: fault::posix(root),
            summary: LintSummary {
                violations: issues.len(),
                files_scanned: skill_files + claude_command_files,
                skill_files,
                claude_command_files,
                rules,
            },
            issues,
        }
    }

    /// The report, or the failure when a rule is broken.
    pub fn passed(self) -> Result<Self, Problem> {
        let Some(first) = self.issues.first() else {
            return Ok(self);
        };
        let problem = fault::policy_violations(format!(
            "policy lint found {} violation(s); the first: {}: {}",
            self.summary.violations, first.path, first.message
        ));
        let json = |value: Result<Value, serde_json::Error>| value.unwrap_or(Value::Null);
        Err(problem
            .with("root", self.root.as_str())
            .with("root_posix", self.root_posix.as_str())
            .with("issues", json(serde_json::to_value(&self.issues)))
            .with("summary", json(serde_json::to_value(&self.summary))))
    }
}
