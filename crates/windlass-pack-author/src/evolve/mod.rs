//! Drift captured as overlays, and overlays edited and rebased.
//!
//! Decides what an overlay should hold and says so as file actions; committing them, on a branch
//! or not, is the caller's work. Reads the config repository and what is deployed, and asks git;
//! writes nothing except through the callback of [`commit_proposal`].
//!
//! [`propose`] turns edits of deployed files into overlay files, [`edit_overlay`] and
//! [`rebase_overlay`] make overlays and bring them up to date, [`overlay_path`] and
//! [`overlay_warnings`] only look.

mod base;
mod baseline;
mod branch;
mod commit;
mod context;
mod edit;
mod fault_git;
mod layers;
mod layout;
mod locate;
mod mapping;
mod overlay;
mod patch;
mod pending;
mod proposal;
mod propose;
mod read;
mod rebase;
mod rebase_dir;
mod rebase_patch;
mod report;
mod scope;
mod skip;
mod survey;
mod writes;

pub use branch::check_branch;
pub use commit::{COMMIT_MESSAGE, commit_proposal};
pub use context::Context;
pub use edit::{EditRequest, EditedOverlay, edit_overlay};
pub use layout::overlay_warnings;
pub use locate::{OverlayPath, overlay_path};
pub use proposal::{Candidate, Proposal, ProposeSummary};
pub use propose::{ProposeRequest, propose};
pub use rebase::{RebaseRequest, RebasedOverlay, rebase_overlay};
pub use report::{RebaseReport, RebaseSummary};
pub use scope::Scope;
pub use skip::{SkipReason, SkippedItem, Suggestion};
