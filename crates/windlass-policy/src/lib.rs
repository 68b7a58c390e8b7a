//! Who may do what: a request and the rules of one file in, a decision out.
//!
//! Pure: it reads one file at start-up and afterwards only compares. It does not know how
//! approvals are asked for or stored (windlass-engine), nor who a caller is (surfaces).
//!
//! The strictest matching rule wins: deny, then ask, then allow. Where no rule matches,
//! reading is allowed and everything else is asked about. A file that is not understood
//! completely stops the start: a policy must never be half in force.

mod decide;
mod glob;
mod parse;

pub use decide::{Decision, Policy, Request, Targets, Verdict, WithoutRule, may_approve};
pub use parse::PolicyError;
