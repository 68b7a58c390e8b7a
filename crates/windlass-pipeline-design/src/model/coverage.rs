//! What became of the spec: every piece of it, and everything made from it.

use serde::{Deserialize, Serialize};

use crate::model::analysis::SpanClass;

/// A piece of the spec and what it led to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct CoveredSpan {
    /// `S-1`.
    pub id: String,
    /// First and last byte, the last not included.
    pub range: [usize; 2],
    /// What it talks about.
    pub class: SpanClass,
    /// What it led to: `req:FR-1`, `token:background`, …
    pub mapped_to: Vec<String>,
}

/// A piece of the spec that led to nothing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct DroppedSpan {
    /// `S-1`.
    pub id: String,
    /// Why.
    pub reason: String,
}

/// How far a requirement is met by the project.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, schemars::JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Progress {
    /// A page or a policy does it, and the project's own tests drive it.
    Works,
    /// The action works; something stated about it is not kept.
    Partly,
    /// The project records that it happened; nothing else changes.
    Recorded,
    /// It is only written down: in documents, or as text on a page.
    Text,
    /// It is stated not to be built.
    OutOfScope,
}

/// How many requirements are met, and how.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema,
)]
pub struct Works {
    /// Functional requirements, without those out of scope.
    pub requirements: u32,
    /// Those that work.
    pub works: u32,
    /// Those of which something stated is not kept.
    pub partly: u32,
    /// Those that are only recorded.
    pub recorded: u32,
    /// Those that are only text.
    pub text: u32,
}

/// A requirement and what it led to.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct CoveredRequirement {
    /// `FR-1`.
    pub id: String,
    /// `GET /api/quizzes`.
    #[serde(default)]
    pub endpoints: Vec<String>,
    /// Page names.
    #[serde(default)]
    pub pages: Vec<String>,
    /// Paths.
    #[serde(default)]
    pub files: Vec<String>,
    /// How far the project meets it; known once there is code.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<Progress>,
    /// What does not work yet.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub missing: String,
}

/// A stated colour, name or number and where it is found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Verbatim {
    /// As the spec has it.
    pub text: String,
    /// `colour`, `name` or `number`.
    pub kind: String,
    /// Where in the output.
    pub found_in: Vec<String>,
}

/// The report.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Coverage {
    /// Every piece.
    #[serde(default)]
    pub spans: Vec<CoveredSpan>,
    /// The ones that led to nothing.
    #[serde(default)]
    pub dropped: Vec<DroppedSpan>,
    /// Every requirement.
    #[serde(default)]
    pub requirements: Vec<CoveredRequirement>,
    /// Items without a reason; always empty.
    #[serde(default)]
    pub untraced: Vec<String>,
    /// What had to appear as it is.
    #[serde(default)]
    pub verbatim: Vec<Verbatim>,
    /// Upstream results that were derived because they were not given.
    #[serde(default)]
    pub derived_inputs: Vec<String>,
    /// Preferences that no preset or style fits.
    #[serde(default)]
    pub preferences_not_honoured: Vec<String>,
    /// Input members that mean nothing.
    #[serde(default)]
    pub ignored_fields: Vec<String>,
    /// Functional requirements by how far they are met; known once there is code.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub works: Option<Works>,
    /// With code: how many functional requirements work, in per cent. Before: how many behaviours of
    /// the spec led to a requirement.
    pub percent: u32,
}
