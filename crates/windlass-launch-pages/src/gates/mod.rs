//! The gates a site launch must pass, and the fixers of what they find.
//!
//! [`run_gates`] looks at a site's worktree and the artifacts of a run and writes one report, and
//! [`check_gate`] with [`report`] do the same gate by gate;
//! [`next_issue`] says which issue is fixed next and [`fix`] says how, as patches. Reads what it
//! is given and writes nothing: Hugo, the network and the product's files are traits that
//! adapters implement, and applying patches is [`crate::apply`]'s work.

pub mod addresses;
pub mod checks;
pub mod finding;
pub mod fix;
pub mod input;
pub mod lint;
mod open;
pub mod outside;
pub mod prose;
pub mod run;
pub mod select;
pub mod severity;
pub mod site;
pub mod truth_report;

pub use fix::{FixError, Fixed, fix};
pub use input::{ArtifactFile, GateInput, RefusedRewrite, Settings, Subject};
pub use outside::{
    GateFault, HugoBuild, HugoJob, LinkAnswer, LinkProbe, MissingTool, ProductFiles, ToolError,
    Toolchain,
};
pub use run::{Gate, GateOutcome, Progress, check_gate, gate_names, report, run_gates};
pub use select::{next_issue, open_blockers};
pub use severity::{Strictness, severity};
pub use site::SiteTree;
pub use truth_report::truth_lock_report;

#[cfg(test)]
mod sample;

#[cfg(test)]
mod codes_tests;

#[cfg(test)]
mod drafts_tests;
