//! `policy`: what an organisation demands of a config repository, checked, reported and pinned.

mod audit;
mod files;
mod invocation;
mod issue;
mod lint;
mod lock;
mod org;
mod supply;

pub use audit::{AuditData, audit};
pub use invocation::MUTATING_COMMANDS;
pub use issue::{Issue, LintReport};
pub use lint::{LintRequest, lint};
pub use lock::{PolicyLockData, policy_lock};
