//! How strictly a run is judged.

use serde::{Deserialize, Serialize};

/// A validation profile; the order is from lenient to strict.
#[derive(
    Clone,
    Copy,
    Debug,
    Default,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Serialize,
    Deserialize,
    schemars::JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum Profile {
    /// On a developer's machine.
    #[default]
    Local,
    /// In a build.
    Ci,
    /// Before the public.
    Prod,
}

impl Profile {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Local, Self::Ci, Self::Prod];

    /// The word on the wire.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Local => "local",
            Self::Ci => "ci",
            Self::Prod => "prod",
        }
    }

    /// The profile of a word.
    pub fn by_name(word: &str) -> Option<Self> {
        Self::ALL
            .into_iter()
            .find(|profile| profile.as_str() == word)
    }
}
