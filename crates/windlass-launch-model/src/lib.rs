//! What a site launch is made of: configuration, states, facts, pages, patches, issues.
//!
//! Pure data and the rules between them. Reads no file, no clock and no environment. The other
//! `windlass-launch-*` crates scout, draft, check and fix in terms of these types; the artifacts
//! of a run are these types as JSON. [`markdown`] is the one way all of them read a page.

pub mod allowed;
pub mod artifact;
pub mod claim;
pub mod config;
pub mod draft;
pub mod facts;
pub mod hugo;
pub mod ids;
pub mod inventory;
pub mod issue;
pub mod markdown;
pub mod page;
pub mod patch;
pub mod pr;
pub mod profile;
pub mod repo_url;
pub mod report;
pub mod schema;
pub mod section;
pub mod site_path;
pub mod snippet;
pub mod state;
pub mod truth;
pub mod worker;

pub use allowed::{AllowedPaths, Refusal};
pub use artifact::{ArtifactSpec, artifact_text, spec_of};
pub use config::{Accepted, Caller, LocalRepos, ResolvedConfig, RunConfig};
pub use draft::{DraftEntry, DraftManifest, ReviewReport};
pub use facts::{
    Audience, Citation, Claim, ClaimKind, Complexity, Enrichment, EvidenceMap, ProductFacts,
    TruthStatus,
};
pub use hugo::HugoFacts;
pub use inventory::{FrontmatterContract, RepoInventory, SectionContract, SiteContext, SiteKind};
pub use issue::{Issue, IssueStatus, Location, Occurrence, Severity};
pub use page::{Page, PagePlan, PageRole};
pub use patch::{ConflictReason, Patch, PatchBundle, PatchConflict, PatchConflicts, PatchKind};
pub use pr::{PrPlan, PrRecord};
pub use profile::Profile;
pub use report::{GateResult, ValidationReport};
pub use schema::{SchemaError, SchemaErrors};
pub use section::{Section, SectionState};
pub use snippet::{Snippet, SnippetCatalog};
pub use state::LaunchState;
pub use truth::{PageClaims, TruthLockReport};
pub use worker::Worker;

/// The version every artifact of this crate names.
pub const ARTIFACT_VERSION: &str = "1.0";
