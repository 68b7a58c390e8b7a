//! `truth_lock_report.json`: which claims pages rest on, and which of them do not hold.

use serde::{Deserialize, Serialize};

use crate::Issue;

/// The claims of one page.
#[derive(
    Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, schemars::JsonSchema,
)]
#[serde(deny_unknown_fields)]
pub struct PageClaims {
    /// The page, relative to the site.
    pub path: String,
    /// The claims it names, sorted.
    pub claim_ids: Vec<String>,
}

/// The report.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TruthLockReport {
    /// The version of this format.
    pub schema_version: String,
    /// Whether every claim holds.
    pub ok: bool,
    /// The pages, by path; none before pages are written.
    pub pages: Vec<PageClaims>,
    /// Ids that name no claim, sorted.
    pub unresolved_claim_ids: Vec<String>,
    /// Claims that were concluded, sorted.
    pub inferred_claim_ids: Vec<String>,
    /// Those of them that may not be used, sorted.
    pub forbidden_inferred_claim_ids: Vec<String>,
    /// What is wrong, in the order it would be fixed.
    pub issues: Vec<Issue>,
}
