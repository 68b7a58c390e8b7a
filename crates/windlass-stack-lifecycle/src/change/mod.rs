//! What a plan does to each resource, in words that do not depend on how CloudFormation said it.

mod local;
mod mask;
mod normalise;
mod stateful;

use serde::{Deserialize, Serialize};

pub use local::additions;
pub use mask::{masked_raw, shown_value};
pub use normalise::{Normaliser, counts};
pub use stateful::{Fate, StatefulChange, Tier, stateful_changes, tier};

#[cfg(test)]
mod change_tests;

/// What happens to a resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Action {
    /// It is made.
    Create,
    /// It changes in place.
    Update,
    /// A new one takes its place, certainly or perhaps.
    Replace,
    /// It is removed.
    Delete,
    /// It leaves the stack and stays in the account.
    Retain,
}

impl Action {
    /// As it is written.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Create => "create",
            Self::Update => "update",
            Self::Replace => "replace",
            Self::Delete => "delete",
            Self::Retain => "retain",
        }
    }
}

/// One property that changes, or that makes another change.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Reason {
    /// `TableName`, or `Tags` and the like for a whole attribute.
    pub property: String,
    /// The path within the resource, where CloudFormation gives it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// The value before, masked where it may be a secret.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<String>,
    /// The value after, masked likewise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<String>,
    /// `Never`, `Conditionally` or `Always`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recreation: Option<String>,
    /// The parameter or resource behind it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cause: Option<String>,
}

/// What a plan does to one resource.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Change {
    /// The resource of the config it belongs to; the logical id where it belongs to none.
    pub resource_name: String,
    /// `AWS::S3::Bucket`.
    pub resource_type: String,
    /// Its name in the template.
    pub logical_id: String,
    /// What happens.
    pub action: Action,
    /// Properties whose change certainly replaces it.
    pub will_replace: Vec<String>,
    /// Properties whose change may replace it.
    pub may_replace: Vec<String>,
    /// What a reader must not miss.
    pub highlights: Vec<String>,
    /// Why, in one sentence.
    pub reason: Option<String>,
    /// What becomes of the old one, in CloudFormation's words.
    pub policy_action: Option<String>,
    /// Each property behind it.
    pub reasons: Vec<Reason>,
}

/// How many of each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Counts {
    /// Made.
    pub create: usize,
    /// Changed in place.
    pub update: usize,
    /// Replaced, certainly or perhaps.
    pub replace: usize,
    /// Removed.
    pub delete: usize,
    /// Kept, no longer managed.
    pub retain: usize,
    /// All of them.
    pub total: usize,
}
