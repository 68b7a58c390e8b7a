//! Plans, drafts, patches and checks pages in which every fact has its evidence.
//!
//! Pure functions over the artifacts of `windlass-launch-model`: which pages there are and where
//! they go ([`plan`]), what they say ([`draft`]), how good that is ([`review`]), and what has to
//! be done to the site for it ([`bundle`]). Only [`site`] and [`apply`] touch files, and only
//! beneath a directory handle. [`gates`] judges the finished site and says how to fix it, with the
//! same reading of pages ([`windlass_launch_model::markdown`]). Clones nothing and asks no model.

pub mod apply;
mod blocks;
pub mod budget;
pub mod bundle;
pub mod diff;
pub mod draft;
pub mod evidence;
pub mod fix_report;
pub mod gates;
pub mod links;
pub mod markup;
pub mod patch;
pub mod phrases;
pub mod plan;
pub mod pull_request;
pub mod review;
mod revise;
pub mod rewrite;
pub mod ruleset;
pub mod site;
pub mod support;
pub mod templates;
pub mod url;

pub use apply::{Applied, apply_bundle};
pub use bundle::{Bundled, build_bundle};
pub use diff::{Change, diff_report, pr_plan};
pub use draft::{Draft, DraftInput, draft_page, draft_pages, manifest};
pub use fix_report::fix_report;
pub use phrases::registered_sentences;
pub use plan::{PlanInput, PlanSettings, Planned, plan_pages};
pub use pull_request::{PrBodyInput, pr_body};
pub use review::{ReviewInput, review};
pub use ruleset::Ruleset;
pub use site::{SiteDir, SiteReader};

#[cfg(test)]
mod sample;
