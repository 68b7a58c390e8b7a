//! The life of a stack: packaged, planned, previewed, deployed, followed, its files put in place,
//! its scripts run, rolled back, deleted, explained when something fails.
//!
//! Small functions over `windlass_ports::aws`, each safe to repeat: the run kinds of
//! windlass-stack call them as steps. What decides is pure and apart from what calls AWS. Waits
//! are made on the clock that is passed in and always have a deadline.
//!
//! [`package`] turns workloads into artifacts, [`sync`] puts files into buckets, [`script`] runs
//! what the config says before and after; every other module is about CloudFormation.
//!
//! Not here: configs and their compilation (windlass-stack-config, -compile), questions to a
//! deployed stack (windlass-stack-diagnose), tokens and approvals (the engine), logs of what failed
//! (windlass-stack).

pub mod assets;
pub mod before;
pub mod change;
pub mod change_set;
pub mod delete;
pub mod drift;
pub mod empty;
pub mod execute;
pub mod failure;
pub mod follow;
pub mod lines;
pub mod owner;
pub mod package;
pub mod plan;
pub mod policy;
pub mod preview;
mod proposal;
pub mod prune;
pub mod reason;
pub mod recreate;
pub mod rollback;
pub mod script;
pub mod situation;
pub mod status;
pub mod stuck;
pub mod sync;
pub mod versions;

#[cfg(test)]
mod follow_tests;
#[cfg(test)]
mod plan_tests;

pub use proposal::{INLINE_LIMIT, Proposal, TEMPLATE_LIMIT};
pub use windlass_stack_diagnose::access::{self, Access};
pub use windlass_stack_diagnose::fault::{self, Fault, FaultKind};
