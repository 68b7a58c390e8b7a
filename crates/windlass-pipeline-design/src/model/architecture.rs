//! `aios_design_architecture`: data, API, security.

use serde::{Deserialize, Serialize};

use crate::model::{Coverage, Generator, QualityReport, Trace};

/// What the product is built with.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Stack {
    /// In the browser.
    pub frontend: String,
    /// Behind it.
    pub backend: String,
    /// Where it runs.
    pub deployment: String,
}

/// The type of a field.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, schemars::JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum FieldType {
    /// An id.
    Uuid,
    /// A short text.
    String,
    /// A long text.
    Text,
    /// A whole number.
    Integer,
    /// A number with decimals.
    Decimal,
    /// Yes or no.
    Boolean,
    /// A day.
    Date,
    /// A point in time.
    Datetime,
    /// Anything.
    Json,
    /// One of some values.
    Enum,
}

/// A field of an entity.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Field {
    /// snake_case.
    pub name: String,
    /// Its type.
    #[serde(rename = "type")]
    pub kind: FieldType,
    /// Whether it is the key.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub primary: bool,
    /// Whether no two have the same.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unique: bool,
    /// Whether it may be left out.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub nullable: bool,
    /// What it is without a value, as SQL.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default: Option<String>,
    /// The values, for `enum`.
    #[serde(default, rename = "enum", skip_serializing_if = "Vec::is_empty")]
    pub values: Vec<String>,
    /// The entity it points to; `auth.users` for the signed-in user.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub references: Option<String>,
    /// Why it is here.
    #[serde(default)]
    pub trace: Vec<Trace>,
}

/// A stored thing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct EntityModel {
    /// Singular PascalCase.
    pub name: String,
    /// What is kept of it.
    pub fields: Vec<Field>,
    /// Fields whose values together occur once: the two ends of a join table.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unique_together: Vec<Vec<String>>,
    /// Why it is here.
    #[serde(default)]
    pub trace: Vec<Trace>,
}

/// How many on each side.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, schemars::JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum RelationType {
    /// One each.
    OneToOne,
    /// One has many.
    OneToMany,
    /// Many have many.
    ManyToMany,
}

/// How two entities belong together.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Relationship {
    /// The one side.
    pub from: String,
    /// The other side.
    pub to: String,
    /// How many.
    #[serde(rename = "type")]
    pub kind: RelationType,
    /// Why it is here.
    #[serde(default)]
    pub trace: Vec<Trace>,
}

/// The data.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct DataModel {
    /// What is kept, join tables included.
    pub entities: Vec<EntityModel>,
    /// How it belongs together.
    pub relationships: Vec<Relationship>,
}

/// A way in.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Endpoint {
    /// `GET`, `POST`, `PATCH`, `DELETE`.
    pub method: String,
    /// `/api/quizzes/{id}`.
    pub path: String,
    /// What it does.
    pub description: String,
    /// `public`, `authenticated`, or a role.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub auth: String,
    /// The entity it is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub entity: Option<String>,
    /// What goes in: field names of the entity.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub request: Vec<String>,
    /// What comes out: `Quiz`, `Quiz[]`, nothing.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub response: String,
    /// Why it is here.
    #[serde(default)]
    pub trace: Vec<Trace>,
}

/// The API.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct ApiDesign {
    /// Its endpoints.
    pub endpoints: Vec<Endpoint>,
}

/// A row-level policy.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Policy {
    /// The table, snake_case plural.
    pub table: String,
    /// `select`, `insert`, `update` or `delete`.
    pub command: String,
    /// `anon` or `authenticated`.
    pub role: String,
    /// Which rows are seen, as SQL.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub using: Option<String>,
    /// Which rows may be written, as SQL.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub with_check: Option<String>,
    /// Why it is here.
    #[serde(default)]
    pub trace: Vec<Trace>,
}

/// A function that policies call. It is `security definer` with an empty search path, so that it
/// reads a table whose own policies would otherwise call it again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct PolicyFunction {
    /// `has_role`, in the schema `public`.
    pub name: String,
    /// Its arguments as SQL: `wanted text`.
    pub arguments: String,
    /// One `select` that returns a boolean.
    pub body: String,
    /// Why it is here.
    #[serde(default)]
    pub trace: Vec<Trace>,
}

/// What a user may do with the rows of an entity, for review: the policies are made of these.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Right {
    /// The entity.
    pub entity: String,
    /// `read`, `create`, `update` or `delete`.
    pub verb: String,
    /// Who: `Shop managers`, `nobody`.
    pub who: String,
    /// Which rows: `all products`, `their own orders`.
    pub rows: String,
    /// Why: the sentence of the spec, or `default: ` and the rule.
    pub basis: String,
}

/// Who may do what.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Security {
    /// How people sign in.
    pub auth_strategy: String,
    /// The policies as text.
    pub rls_policies: Vec<String>,
    /// What the policies grant, one right per row, each with its reason.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rights: Vec<Right>,
    /// The policies, as structures.
    #[serde(default)]
    pub policies: Vec<Policy>,
    /// The roles, lower case.
    #[serde(default)]
    pub roles: Vec<String>,
    /// What the policies call.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub functions: Vec<PolicyFunction>,
}

/// The whole design.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Architecture {
    /// With what.
    pub stack: Stack,
    /// What is kept.
    pub data_model: DataModel,
    /// What can be asked.
    pub api_design: ApiDesign,
    /// Who may.
    pub security: Security,
}

/// The answer of `aios_design_architecture`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct ArchitectureOutput {
    /// The design.
    pub architecture: Architecture,
    /// The same as a document.
    pub architecture_markdown: String,
    /// By what.
    pub generator: Generator,
    /// What became of the spec.
    pub coverage: Coverage,
    /// How good it is.
    pub quality_report: QualityReport,
}
