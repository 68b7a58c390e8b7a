//! The config repository as its author sees it: begun, imported into, locked, checked, evolved.
//!
//! One file per verb. A verb looks at files and git, and returns data for people and programs plus
//! the writes that would make it so; carrying those out, under locks and with a journal, is
//! [`windlass_pack_deploy::state`]'s work, and asking for consent is the domain's. The exceptions
//! are the checkouts in the cache (made by git, each whole or not there), the event log (appended
//! to) and git's own repositories ([`start_git`], [`set_remote`], [`sync`]).
//!
//! [`evolve`] takes edits of deployed files back into overlays, and keeps overlays up to date.
//!
//! Nothing here reads the environment or a clock.

mod add;
mod authored;
mod checkouts;
mod doctor;
pub mod evolve;
mod fetch;
mod git_fault;
mod gitignore;
mod guided;
mod import;
mod init;
mod lock;
mod operator;
mod parallel;
mod policy;
mod record;
mod remote;
mod remove;
mod repository;
mod score;
mod sources;
mod sync;
mod templates;
mod update;

pub use add::{AddRequest, ModuleData, add};
pub use authored::{Authored, stamp};
pub use checkouts::GitCheckouts;
pub use doctor::{DoctorData, DoctorInput, GitignoreFix, RootCheck, doctor};
pub use fetch::{FetchData, fetch};
pub use git_fault::git_problem;
pub use gitignore::{BLOCK_END, BLOCK_START};
pub use guided::{GuidedAnswers, require_terminal};
pub use import::{
    ImportConflict, ImportData, ImportItem, ImportOp, ImportRequest, ImportSummary, Imported,
    ImportedProject, import,
};
pub use init::{InitData, InitGit, InitRequest, init, start_git};
pub use lock::{LockData, Locked, lock};
pub use operator::{OperatorCheck, OperatorInput, check_operator_assets, operator_assets};
pub use policy::{
    AuditData, Issue, LintReport, LintRequest, MUTATING_COMMANDS, PolicyLockData, audit, lint,
    policy_lock,
};
pub use record::{RecordData, record};
pub use remote::{RemoteData, set_remote};
pub use remove::remove;
pub use repository::{ManifestFile, read_lockfile, read_manifest, require_lockfile};
pub use score::{ScoreData, score};
pub use sources::ModuleSources;
pub use sync::{SyncData, SyncRequest, sync};
pub use update::{DueSteps, UpdateData, UpdateRequest, UpdateStep, update};
