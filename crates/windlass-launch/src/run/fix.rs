//! VALIDATING → FIXING → VALIDATING: one issue is fixed, then every gate checks again.

use serde::{Deserialize, Serialize};
use serde_json::json;
use windlass_engine::run::RunError;
use windlass_launch_model::{Issue, LaunchState, PatchBundle, Worker, artifact::fix_report_name};
use windlass_launch_pages::{
    fix_report,
    gates::{FixError, fix, next_issue},
};
use windlass_types::Problem;

use super::{
    Launch,
    clone::{Inputs, blocking},
    record::{Done, Item},
    validate::Sight,
};
use crate::fault::{self, Exhausted};

/// What an attempt did.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Attempt {
    pub(super) issue_id: String,
    pub(super) patch_ids: Vec<String>,
}

impl Launch<'_> {
    /// What is in the way, worst first.
    pub(super) fn failing_issues(&self) -> Vec<Issue> {
        let mut issues: Vec<Issue> = self
            .open
            .values()
            .filter(|issue| issue.is_failing())
            .cloned()
            .collect();
        issues.sort_by(Issue::fix_order);
        issues
    }

    /// The issue that is fixed next, or why none is.
    pub(super) fn next_to_fix(&self) -> Result<Issue, Exhausted> {
        let config = self.tools.accepted.config();
        let attempts = self.fixes.len() as u64;
        if attempts >= u64::from(config.max_fix_attempts) {
            return Err(Exhausted::MaxAttempts);
        }
        if attempts >= config.budgets.max_patch_attempts {
            return Err(Exhausted::Budget);
        }
        let issues = self.failing_issues();
        next_issue(&issues)
            .cloned()
            .ok_or(Exhausted::NoFixableIssue)
    }

    /// Fixes one issue and validates again. `Err` inside: a tool is missing.
    pub(super) async fn fix(
        &mut self,
        issue: Issue,
        inputs: &Inputs,
    ) -> Result<Result<(), Problem>, RunError> {
        self.enter(LaunchState::Fixing)?;
        self.commit().await?;
        let scope = format!("attempt-{}", self.fixes.len() + 1);
        let open = self.failing_issues();
        let bundle = self.artifact("patch_bundle.json")?;
        let item = Item {
            worker: Worker::Fixer,
            scope: &scope,
            inputs: json!({
                "issue_id": issue.issue_id,
                "patch_bundle.json": bundle.sha256,
            }),
            message: format!("fixed {}: {}", issue.issue_id, issue.title),
        };
        let sight = Sight::of(self, inputs);
        let tools = self.tools.clone();
        let attempt: Attempt = self
            .work(item, async |_| {
                let mut bundle: PatchBundle = tools.read_json(&bundle).await?;
                tools.folder.distrust();
                let input = sight.gather().await?;
                let first = bundle.patches.len() + 1;
                let (found, open) = (issue.clone(), open.clone());
                let fixed = blocking(move || {
                    fix(&input, &found, first).map_err(|error| match error {
                        FixError::NoDiff(_) => fault::fix_exhausted(Exhausted::NoDiff, &open),
                        other => fault::fix_exhausted(Exhausted::NoDiff, &open)
                            .with("cause", other.to_string()),
                    })
                })
                .await?;
                let patch_ids = fixed.patches.iter().map(|patch| patch.patch_id.clone());
                let attempt = Attempt {
                    issue_id: issue.issue_id.clone(),
                    patch_ids: patch_ids.collect(),
                };
                let report = fix_report(&issue, &fixed.patches, &fixed.notes);
                bundle.patches.extend(fixed.patches);
                let mut kept = tools.keep_bundle(&inputs.site_sha, &bundle).await?;
                let name = fix_report_name(&issue.issue_id);
                kept.push(tools.keep_text(&name, "text/markdown", report).await?);
                Ok(Done::new(kept, attempt))
            })
            .await?;
        self.fixes.push(attempt);
        self.enter(LaunchState::Validating)?;
        self.commit().await?;
        let validated = self.validate(inputs, &[]).await?;
        if validated.is_ok() {
            self.settle_validation().await?;
        }
        Ok(validated)
    }
}
