//! What a caller says besides the spec. It affects the summary and never becomes a requirement.

use serde::{Deserialize, Serialize};

/// The `context` of `aios_strategize`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SpecContext {
    /// `education`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub industry: Option<String>,
    /// `schools`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target_audience: Option<String>,
    /// `startup`, `scaleup` or `enterprise`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub budget_tier: Option<String>,
}
