//! Facts about a product, each with where it was read: `product_facts.json`, `evidence_map.json`.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// What a claim is about; the order is the order in which kinds are tried.
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
pub enum ClaimKind {
    /// What it does not do.
    Limitation,
    /// How something is done with it.
    Workflow,
    /// What it offers to code.
    Api,
    /// What it reads or writes.
    Format,
    /// What it does.
    Feature,
}

impl ClaimKind {
    /// The word that is hashed.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Limitation => "limitation",
            Self::Workflow => "workflow",
            Self::Api => "api",
            Self::Format => "format",
            Self::Feature => "feature",
        }
    }
}

/// Whether a claim was read or concluded.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, schemars::JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum TruthStatus {
    /// Read.
    Fact,
    /// Concluded.
    Inference,
}

/// One claim.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Claim {
    /// 64 hex characters: the digest of the normalised text and the kind.
    pub claim_id: String,
    /// The sentence.
    pub claim_text: String,
    /// What it is about.
    pub claim_kind: ClaimKind,
    /// Whether it was read or concluded.
    pub truth_status: TruthStatus,
    /// `high`, `medium` or `low`.
    pub confidence: String,
}

/// The audience of a claim.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, schemars::JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Audience {
    /// Who writes code with the product.
    Developer,
    /// Who installs and runs it.
    Operator,
    /// Who uses what was made with it.
    EndUser,
    /// Who decides whether to use it.
    Evaluator,
}

/// How much a reader must know already.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, schemars::JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Complexity {
    /// Nothing.
    Basic,
    /// The basics.
    Intermediate,
    /// Much.
    Advanced,
}

/// What was concluded about a claim, for putting pages in order. Never shown as a fact.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Enrichment {
    /// Its audiences, sorted.
    pub audience: Vec<Audience>,
    /// How much a reader must know already.
    pub complexity: Complexity,
    /// Claims a reader should have read before, in their order.
    pub prerequisites: Vec<String>,
    /// Workflows it serves, sorted.
    pub use_cases: Vec<String>,
}

/// Where a claim was read.
#[derive(
    Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, schemars::JsonSchema,
)]
#[serde(deny_unknown_fields)]
pub struct Citation {
    /// The file, relative to the product repository.
    pub path: String,
    /// The first line, from 1.
    pub start_line: u64,
    /// The last line.
    pub end_line: u64,
    /// `manifest`, `source`, `test`, `implementation_doc`, `api_doc`, `readme_technical` or
    /// `readme_marketing`.
    pub source_type: String,
    /// The digest of the lines.
    pub excerpt_sha256: String,
}

/// Two claims that cannot both hold.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Contradiction {
    /// One of them.
    pub claim_a_id: String,
    /// The other.
    pub claim_b_id: String,
    /// `prefer`, `withhold` or `unresolved`.
    pub resolution: String,
    /// The one that stands.
    pub winning_claim_id: Option<String>,
    /// Why.
    pub reasoning: String,
}

/// The evidence of one claim.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Evidence {
    /// Where it was read, best first.
    pub citations: Vec<Citation>,
    /// From 1 (a manifest) to 7 (advertising in a README).
    pub source_priority: u8,
}

/// `evidence_map.json`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EvidenceMap {
    /// The version of this format.
    pub schema_version: String,
    /// By claim.
    pub claims: BTreeMap<String, Evidence>,
    /// What cannot all be true.
    pub contradictions: Vec<Contradiction>,
}

/// How the product is installed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Distribution {
    /// `pip`, `npm`, `cargo`, `nuget`, `maven`, `go`, …
    pub method: String,
    /// The package.
    pub identifier: String,
    /// What to type.
    pub install_commands: Vec<String>,
}

/// What the product offers to code.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ApiSurface {
    /// Types, sorted.
    pub classes: Vec<ApiSymbol>,
    /// Functions, sorted.
    pub functions: Vec<ApiSymbol>,
    /// Modules, sorted.
    pub modules: Vec<ApiSymbol>,
}

/// A public symbol and where it is defined.
#[derive(
    Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, schemars::JsonSchema,
)]
#[serde(deny_unknown_fields)]
pub struct ApiSymbol {
    /// Its name, qualified where that helps.
    pub name: String,
    /// The file.
    pub path: String,
    /// The line.
    pub line: u64,
    /// The first sentence of its documentation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summary: Option<String>,
}

/// `product_facts.json`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ProductFacts {
    /// The version of this format.
    pub schema_version: String,
    /// The product's name.
    pub product_name: String,
    /// Its slug.
    pub product_slug: String,
    /// Its repository.
    pub repo_url: String,
    /// One sentence on what it is, as a claim.
    pub positioning_claim_id: Option<String>,
    /// Every claim, sorted by id.
    pub claims: Vec<Claim>,
    /// What was concluded about each claim, by its id.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub claim_enrichment: BTreeMap<String, Enrichment>,
    /// Claims by use: `key_features`, `install_steps`, `quickstart_steps`, `workflow_claims`,
    /// `limitations`, `compatibility_notes`.
    pub claim_groups: BTreeMap<String, Vec<String>>,
    /// File formats, sorted.
    pub supported_formats: Vec<String>,
    /// Named ways of working, each with its claims.
    pub workflows: BTreeMap<String, Vec<String>>,
    /// What it offers to code.
    pub api_surface_summary: ApiSurface,
    /// The licence, by its SPDX name where known.
    pub license: Option<String>,
    /// How it is installed.
    pub distribution: Vec<Distribution>,
    /// What it needs, e.g. `python >= 3.10`.
    pub runtime_requirements: Vec<String>,
    /// What it depends on, sorted.
    pub dependencies: Vec<String>,
}

impl ProductFacts {
    /// The claim of an id.
    pub fn claim(&self, claim_id: &str) -> Option<&Claim> {
        // Sorted by id, as the artifact always is.
        self.claims
            .binary_search_by(|claim| claim.claim_id.as_str().cmp(claim_id))
            .ok()
            .map(|at| &self.claims[at])
    }

    /// The claims of a group, in its order.
    pub fn group<'a>(&'a self, name: &str) -> impl Iterator<Item = &'a Claim> {
        self.claim_groups
            .get(name)
            .into_iter()
            .flatten()
            .filter_map(|id| self.claim(id))
    }
}

impl ApiSurface {
    /// How many symbols there are.
    pub fn len(&self) -> usize {
        self.classes.len() + self.functions.len() + self.modules.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}
