//! The sections of a site, and how far each has come.

use serde::{Deserialize, Serialize};

/// A section.
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
pub enum Section {
    /// The product's own page.
    Products,
    /// How to use it.
    Docs,
    /// What it offers, symbol by symbol.
    Reference,
    /// Questions and answers.
    Kb,
    /// News.
    Blog,
}

impl Section {
    /// All of them, in the order they are patched in.
    pub const ALL: [Self; 5] = [
        Self::Products,
        Self::Docs,
        Self::Reference,
        Self::Kb,
        Self::Blog,
    ];

    /// The name in paths and on the wire.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Products => "products",
            Self::Docs => "docs",
            Self::Reference => "reference",
            Self::Kb => "kb",
            Self::Blog => "blog",
        }
    }

    /// The section of a name.
    pub fn by_name(name: &str) -> Option<Self> {
        Self::ALL
            .into_iter()
            .find(|section| section.as_str() == name)
    }
}

/// How far a section has come.
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
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum SectionState {
    /// Nothing yet.
    #[default]
    NotStarted,
    /// It is in the plan.
    Outlined,
    /// It is written.
    Drafted,
    /// It is in the site's worktree.
    MergedInWorktree,
    /// Nothing is wrong with its pages.
    Done,
    /// A conflict or an unfixable issue blocks it.
    Blocked,
}
