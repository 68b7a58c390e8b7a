//! `aios_strategize`: requirements.

use serde::{Deserialize, Serialize};

use crate::model::{Coverage, Generator, QualityReport, Trace};

/// MoSCoW.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, schemars::JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum Priority {
    /// Without it there is no product.
    Must,
    /// Wanted.
    Should,
    /// Nice to have.
    Could,
    /// Out of scope.
    Wont,
}

/// What a quality is about.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, schemars::JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum Category {
    /// How fast.
    Performance,
    /// How safe.
    Security,
    /// How much.
    Scalability,
    /// How easy.
    Usability,
    /// How often it works.
    Reliability,
    /// For whom.
    Accessibility,
    /// By which law.
    Compliance,
    /// How easily changed.
    Maintainability,
    /// Anything else.
    Other,
}

/// What a constraint is about.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, schemars::JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum ConstraintType {
    /// With what.
    Technical,
    /// For how much, until when.
    Business,
    /// By which law.
    Regulatory,
}

/// How much work it looks like.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, schemars::JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum Complexity {
    /// Little.
    Simple,
    /// The usual.
    Standard,
    /// Much.
    Complex,
}

/// What the product does.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Functional {
    /// `FR-1`.
    pub id: String,
    /// In the spec's words.
    pub description: String,
    /// How important.
    pub priority: Priority,
    /// Given, when, then.
    #[serde(default)]
    pub acceptance: Vec<String>,
    /// Why it is here.
    #[serde(default)]
    pub trace: Vec<Trace>,
}

/// How well it does it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct NonFunctional {
    /// `NFR-1`.
    pub id: String,
    /// In the spec's words.
    pub description: String,
    /// About what.
    pub category: Category,
    /// The stated measure.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metric: Option<String>,
    /// Why it is here.
    #[serde(default)]
    pub trace: Vec<Trace>,
}

/// Within which bounds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Constraint {
    /// `CON-1`.
    pub id: String,
    /// In the spec's words.
    pub description: String,
    /// About what.
    #[serde(default, rename = "type", skip_serializing_if = "Option::is_none")]
    pub kind: Option<ConstraintType>,
    /// Why it is here.
    #[serde(default)]
    pub trace: Vec<Trace>,
}

/// All requirements.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Requirements {
    /// What.
    #[serde(default)]
    pub functional: Vec<Functional>,
    /// How well.
    #[serde(default)]
    pub non_functional: Vec<NonFunctional>,
    /// Within which bounds.
    #[serde(default)]
    pub constraints: Vec<Constraint>,
}

/// An assumption.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Assumption {
    /// `ASM-1`.
    pub id: String,
    /// What.
    pub description: String,
    /// What happens if it is wrong.
    pub risk: String,
    /// Why it is here.
    #[serde(default)]
    pub trace: Vec<Trace>,
}

/// Something that may go wrong, as the spec says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct EdgeCase {
    /// `EC-1`.
    pub id: String,
    /// When.
    pub scenario: String,
    /// What then.
    pub handling: String,
    /// `high`, `medium` or `low`.
    pub severity: String,
    /// Why it is here.
    #[serde(default)]
    pub trace: Vec<Trace>,
}

/// Something the spec leaves open.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct OpenQuestion {
    /// `OQ-1`.
    pub id: String,
    /// What.
    pub question: String,
    /// Whether the product cannot be built without an answer.
    pub blocking: bool,
    /// Why it is here.
    #[serde(default)]
    pub trace: Vec<Trace>,
}

/// A word of the spec and its meaning.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Term {
    /// The word.
    pub term: String,
    /// `role`, `entity`, `name`.
    pub kind: String,
    /// Why it is here.
    #[serde(default)]
    pub trace: Vec<Trace>,
}

/// The answer of `aios_strategize`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct StrategyOutput {
    /// The requirements.
    pub requirements: Requirements,
    /// Goal, users, scope, counts, risks, open questions.
    pub strategy_summary: String,
    /// How much work it looks like.
    pub estimated_complexity: Complexity,
    /// Assumptions.
    #[serde(default)]
    pub assumptions: Vec<Assumption>,
    /// What may go wrong.
    #[serde(default)]
    pub edge_cases: Vec<EdgeCase>,
    /// What is open.
    #[serde(default)]
    pub open_questions: Vec<OpenQuestion>,
    /// The words of the spec.
    #[serde(default)]
    pub terminology: Vec<Term>,
    /// By what.
    pub generator: Generator,
    /// What became of the spec.
    pub coverage: Coverage,
    /// How good it is.
    pub quality_report: QualityReport,
}
