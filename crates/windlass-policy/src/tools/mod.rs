//! Calls of tools: who may run which command, read or write which file, reach which host.
//!
//! The same rules as for operations, of the same file. A call is a [`ToolRequest`], made of plain
//! data by the caller that is about to make the call; the answer is a [`ToolDecision`]. Nothing here looks
//! at the machine: paths are compared as texts, so what a link leads to is for the sandbox and the
//! file tools to check.

mod commands;
mod decide;
mod grant;
mod guards;
mod paths;
mod propose;
mod read_only;
mod request;
mod rule;

pub use grant::Grant;
pub use guards::{Finding, Guard};
pub use propose::{Proposal, propose};
pub use request::{
    Attendance, Extent, Mode, Place, Profile, Sandbox, Taint, ToolClass, ToolDecision, ToolRequest,
};

pub(crate) use commands::Site;
pub(crate) use decide::Case;
pub(crate) use rule::{Redirects, ToolRule};

/// The tool that runs commands here.
pub(crate) const TOOL_OF_COMMANDS: &str = "run_command";

#[cfg(test)]
mod test_support;

#[cfg(test)]
#[path = "matrix_tests.rs"]
mod matrix_tests;
#[cfg(test)]
#[path = "tools_tests.rs"]
mod tests;
