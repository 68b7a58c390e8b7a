//! `pr_plan.json` and `pr.json`: what the pull request changes and how to take it back.

use serde::{Deserialize, Serialize};

use crate::Profile;

/// `pr_plan.json`: known before the pull request, so that it can be judged before.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PrPlan {
    /// The version of this format.
    pub schema_version: String,
    /// The site's commit the change starts from.
    pub base_ref: String,
    /// How to take the change back, in order.
    pub rollback_steps: Vec<String>,
    /// The files that change, sorted, relative to the site.
    pub affected_paths: Vec<String>,
}

/// How the gates went.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ValidationSummary {
    /// Whether the report was ok.
    pub ok: bool,
    /// How strictly was judged.
    pub profile: Profile,
    /// How many gates were content.
    pub gates_passed: u64,
    /// How many were not.
    pub gates_failed: u64,
}

/// `pr.json`: the pull request. Names the run and so differs from run to run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PrRecord {
    /// The version of this format.
    pub schema_version: String,
    /// The run.
    pub run_id: String,
    /// The site's commit the change starts from.
    pub base_ref: String,
    /// How to take the change back, in order.
    #[schemars(length(min = 1))]
    pub rollback_steps: Vec<String>,
    /// The files that changed, sorted, relative to the site.
    #[schemars(length(min = 1))]
    pub affected_paths: Vec<String>,
    /// Its number, where the service has numbers.
    pub pr_number: Option<u64>,
    /// Its address.
    pub pr_url: String,
    /// The branch.
    pub branch_name: String,
    /// The commits.
    #[schemars(length(min = 1))]
    pub commit_shas: Vec<String>,
    /// What it says.
    pub pr_body: String,
    /// How the gates went.
    pub validation_summary: ValidationSummary,
}
