//! What becomes of a stack in CloudFormation: planned, previewed, deployed, followed, deleted,
//! rolled back, explained when it fails.
//!
//! Small functions over `windlass_ports::aws`, each safe to repeat: the run kinds of
//! windlass-stack call them as steps. What decides is pure and apart from what calls AWS. Waits
//! are made on the clock that is passed in and always have a deadline.
//!
//! Not here: configs and their compilation (windlass-stack-config, -compile), tokens and
//! approvals (the engine), logs of what failed (windlass-stack).

pub mod assets;
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
pub mod plan;
pub mod policy;
pub mod preview;
mod proposal;
pub mod prune;
pub mod reason;
pub mod recreate;
pub mod rollback;
pub mod situation;
pub mod status;
pub mod stuck;
pub mod versions;

#[cfg(test)]
mod follow_tests;
#[cfg(test)]
mod plan_tests;

pub use proposal::{INLINE_LIMIT, Proposal, TEMPLATE_LIMIT};
pub use windlass_stack_diagnose::access::{self, Access};
pub use windlass_stack_diagnose::fault::{self, Fault, FaultKind};
