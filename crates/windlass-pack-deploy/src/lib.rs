//! From a config repository to the files on disk, and back: render, plan, drift, apply, undo.
//!
//! [`render`] turns the repository into the files every target should hold. The modules at the
//! root compare those with the disk and decide what changes and what is owned. [`state`] does the
//! writing, and repairs it after a crash.
//!
//! A deploy goes [`gather_owned`] → [`gather_disk`] → [`plan`] → [`DeployPlan::approve`] →
//! [`EventPlan::transaction`]; restore, rollback, undo and uninstall give an [`EventPlan`] of
//! their own. Everything between the gathering and the transaction is pure.

pub mod approve;
pub mod change;
pub mod disk;
pub mod drift;
pub mod event;
pub mod gather;
pub mod hash;
pub mod keys;
pub mod links;
mod one_content;
pub mod owned;
pub mod ownership;
pub mod past;
pub mod pattern;
pub mod plan;
pub mod preview;
pub mod render;
mod replay;
pub mod restore;
pub mod rollback;
mod roots;
pub mod scan;
mod shared;
mod shared_files;
pub mod state;
pub mod transaction;
pub mod undo;
pub mod uninstall;

pub use approve::Adoption;
pub use change::{KeyChange, LocalEdit, Op, PlanChange, PlanSummary, Reason, UpdateKind};
pub use disk::{Disk, FoundFile, OnDisk};
pub use drift::{DriftItem, DriftKind, DriftReport, DriftSummary, RootSummary, drift};
pub use event::EventPlan;
pub use gather::gather_disk;
pub use hash::{Binding, BindingDefaults, PlanHash};
pub use links::{LinkRule, ProjectLink};
pub use owned::{OPERATOR_MARK, Owned, OwnedFile, OwnedKey, OwnedRoot, OwnedSource};
pub use ownership::{OwnershipScope, gather_owned, owned_in};
pub use pattern::PathPattern;
pub use plan::{DeployPlan, PlanOptions, Purpose, plan};
pub use preview::{Preview, PreviewFile, preview};
pub use restore::{RestorePlan, RestoreSummary, RestoredItem, plan_restore};
pub use rollback::{RollbackRequest, rollback};
pub use scan::{Scanned, scan_extras};
pub use transaction::EventContext;
pub use undo::{UndoRequest, undo};
pub use uninstall::uninstall;
