//! Where an item comes from: a place in the spec, another item, or a default with a name.

use serde::{Deserialize, Serialize};

/// What may be there without the spec saying so.
pub mod rule {
    /// The framework, the backend, where it runs.
    pub const STACK: &str = "stack";
    /// `id`, `owner_id`, `created_at`, `updated_at`, and the sign-in an owner needs.
    pub const SYSTEM_FIELDS: &str = "system-fields";
    /// Colours, fonts and spacing that are not stated.
    pub const DESIGN_TOKENS: &str = "design-tokens";
    /// `loading`, `empty`, `error`.
    pub const STATES: &str = "states";
    /// What every project has: its manifest, its settings, its first page.
    pub const SCAFFOLDING: &str = "scaffolding";
    /// Who may do what where no sentence says it.
    pub const RIGHTS: &str = "rights";
    /// All of them.
    pub const ALL: [&str; 6] = [
        STACK,
        SYSTEM_FIELDS,
        DESIGN_TOKENS,
        STATES,
        SCAFFOLDING,
        RIGHTS,
    ];
}

/// One reason for an item: `spec:S-4`, `req:FR-2`, `entity:Quiz`, `endpoint:GET /api/quizzes`,
/// `page:Dashboard` or `default:<rule>`.
#[derive(
    Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, schemars::JsonSchema,
)]
#[serde(transparent)]
pub struct Trace(String);

impl Trace {
    /// A place in the spec.
    pub fn spec(span: &str) -> Self {
        Self(format!("spec:{span}"))
    }

    /// A requirement.
    pub fn requirement(id: &str) -> Self {
        Self(format!("req:{id}"))
    }

    /// An entity.
    pub fn entity(name: &str) -> Self {
        Self(format!("entity:{name}"))
    }

    /// An endpoint.
    pub fn endpoint(method: &str, path: &str) -> Self {
        Self(format!("endpoint:{method} {path}"))
    }

    /// A page.
    pub fn page(name: &str) -> Self {
        Self(format!("page:{name}"))
    }

    /// A named default.
    pub fn default_rule(rule: &str) -> Self {
        Self(format!("default:{rule}"))
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Its kind and what it names, e.g. `("req", "FR-2")`.
    pub fn parts(&self) -> Option<(&str, &str)> {
        self.0.split_once(':')
    }
}
