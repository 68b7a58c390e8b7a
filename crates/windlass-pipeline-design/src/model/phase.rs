//! The four phases of a pipeline and what generated an output.

use serde::{Deserialize, Serialize};

/// A phase.
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Serialize,
    Deserialize,
    schemars::JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum Phase {
    /// Requirements.
    Strategy,
    /// Data, API, security.
    Architecture,
    /// Pages, flows, tokens.
    Ux,
    /// Files.
    Code,
}

impl Phase {
    /// All of them, in the order they run.
    pub const ALL: [Self; 4] = [Self::Strategy, Self::Architecture, Self::Ux, Self::Code];

    /// The name on the wire.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Strategy => "strategy",
            Self::Architecture => "architecture",
            Self::Ux => "ux",
            Self::Code => "code",
        }
    }

    /// The phase of a name.
    pub fn by_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|phase| phase.as_str() == name)
    }
}

/// What generated an output.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Generator {
    /// `offline` or `llm`.
    pub name: String,
    /// Changes when rules or templates do.
    pub version: String,
    /// The model, for `llm`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
}

impl Generator {
    /// The version of the offline rules and templates.
    pub const OFFLINE_VERSION: &'static str = "1";

    /// The deterministic generator.
    pub fn offline() -> Self {
        Self {
            name: "offline".to_owned(),
            version: Self::OFFLINE_VERSION.to_owned(),
            model: None,
        }
    }
}
