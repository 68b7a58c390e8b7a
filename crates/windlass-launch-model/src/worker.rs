//! Who does the work of a run: nine workers, and the engine for what belongs to none of them.

use serde::{Deserialize, Serialize};

/// A worker; the names on the wire are `W1` … `W9`.
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
pub enum Worker {
    /// Clones and reads both repositories.
    #[serde(rename = "W1")]
    Scout,
    /// Finds facts and their evidence.
    #[serde(rename = "W2")]
    Facts,
    /// Collects code that may be shown.
    #[serde(rename = "W3")]
    Snippets,
    /// Plans the pages.
    #[serde(rename = "W4")]
    Planner,
    /// Writes and reviews the pages.
    #[serde(rename = "W5")]
    Drafter,
    /// Links the pages and patches them into the site.
    #[serde(rename = "W6")]
    Linker,
    /// Runs the gates.
    #[serde(rename = "W7")]
    Validator,
    /// Fixes one issue.
    #[serde(rename = "W8")]
    Fixer,
    /// Commits and opens the pull request.
    #[serde(rename = "W9")]
    PrManager,
    /// The run itself.
    #[serde(rename = "engine")]
    Engine,
}

impl Worker {
    /// All of them, in the order of a run.
    pub const ALL: [Self; 10] = [
        Self::Scout,
        Self::Facts,
        Self::Snippets,
        Self::Planner,
        Self::Drafter,
        Self::Linker,
        Self::Validator,
        Self::Fixer,
        Self::PrManager,
        Self::Engine,
    ];

    /// The name on the wire.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Scout => "W1",
            Self::Facts => "W2",
            Self::Snippets => "W3",
            Self::Planner => "W4",
            Self::Drafter => "W5",
            Self::Linker => "W6",
            Self::Validator => "W7",
            Self::Fixer => "W8",
            Self::PrManager => "W9",
            Self::Engine => "engine",
        }
    }

    /// The name for people.
    pub const fn title(self) -> &'static str {
        match self {
            Self::Scout => "scout",
            Self::Facts => "facts",
            Self::Snippets => "snippets",
            Self::Planner => "plan",
            Self::Drafter => "draft",
            Self::Linker => "link",
            Self::Validator => "validate",
            Self::Fixer => "fix",
            Self::PrManager => "pull request",
            Self::Engine => "run",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_on_the_wire_agree() {
        for worker in Worker::ALL {
            assert_eq!(serde_json::to_value(worker).unwrap(), worker.as_str());
        }
    }
}
