//! What an operation may do to the world outside the journal.

use serde::{Deserialize, Serialize};

/// The effect class every operation declares; policy and tool annotations read it.
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
pub enum EffectClass {
    /// Changes nothing outside.
    Read,
    /// Creates or changes things; what was there can be had back.
    Write,
    /// Removes things or cannot be undone.
    Destructive,
}

impl EffectClass {
    /// The name used in policy files and on the wire.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::Destructive => "destructive",
        }
    }
}
