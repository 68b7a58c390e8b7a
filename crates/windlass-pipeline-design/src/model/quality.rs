//! How good an output is: complexity, critique, findings.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::model::strategy::Complexity;

/// How bad a finding is.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, schemars::JsonSchema,
)]
#[serde(rename_all = "UPPERCASE")]
pub enum Level {
    /// Worth knowing.
    Low,
    /// A weak point of the spec.
    Medium,
    /// Our own output is wrong.
    High,
}

/// The critique's conclusion.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum Verdict {
    /// Good.
    Approved,
    /// Could be better.
    NeedsRevision,
    /// Wrong.
    Blocked,
}

/// Something found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Finding {
    /// Stable for the same finding.
    pub id: String,
    /// Which check.
    pub check: String,
    /// How bad.
    pub severity: Level,
    /// About what.
    pub target: String,
    /// What.
    pub message: String,
}

/// Five dimensions from 1 to 5.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct ComplexityScore {
    /// `scope`, `integration`, `infrastructure`, `knowledge`, `risk`.
    pub dimensions: BTreeMap<String, u32>,
    /// Their sum.
    pub total: u32,
    /// What that means.
    pub level: Complexity,
}

/// The report.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct QualityReport {
    /// The conclusion.
    pub verdict: Verdict,
    /// The weighted average, one decimal.
    pub score: f64,
    /// `accuracy`, `completeness`, `consistency`, `feasibility`, `alignment`, from 1 to 5.
    pub dimensions: BTreeMap<String, u32>,
    /// How much work it looks like.
    pub complexity: ComplexityScore,
    /// At most 50.
    pub findings: Vec<Finding>,
    /// How many more there were.
    #[serde(default)]
    pub truncated: u32,
}
