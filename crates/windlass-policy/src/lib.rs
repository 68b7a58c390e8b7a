//! Who may do what: a request and the rules of one file in, a decision out.
//!
//! Pure: it reads one file at start-up and afterwards only compares. It does not know how
//! approvals are asked for or stored (windlass-engine), nor who a caller is (surfaces).
//!
//! Calls of tools and the commands they run are decided about by the same rules ([`Policy::decide_tool`]).
//!
//! The strictest matching rule wins: deny, then ask, then allow. Where no rule matches,
//! reading is allowed and everything else is asked about. A file that is not understood
//! completely stops the start: a policy must never be half in force.

mod decide;
mod glob;
mod parse;
mod parse_tools;
mod tools;

pub use decide::{Decision, Policy, Request, Targets, Verdict, WithoutRule, may_approve};
pub use parse::{PolicyError, ProjectTrust};
pub use tools::{
    Attendance, Extent, Finding, Grant, Guard, Mode, Place, Profile, Proposal, Sandbox, Taint,
    ToolClass, ToolDecision, ToolRequest, propose,
};
