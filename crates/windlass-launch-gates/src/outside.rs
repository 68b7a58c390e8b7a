//! What gates ask of the world outside: a site generator, a link prober, the product's files.
//!
//! Traits only. Whoever implements them keeps ingested code from running, the environment
//! scrubbed, and results recorded so that a resumed run sees the same.

use std::{collections::BTreeMap, path::Path, time::Duration};

/// The external tools.
pub trait Toolchain: Send + Sync {
    /// The version of Hugo, e.g. `0.168.0`; none when it is not installed.
    fn hugo_version(&self) -> Option<String>;

    /// Builds a copy of the site for production into `out`, and ends every process it started
    /// when the time is up.
    fn hugo_build(&self, site: &Path, out: &Path, limit: Duration) -> Result<HugoBuild, ToolError>;
}

/// How a build went.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HugoBuild {
    /// Whether it exited with 0.
    pub success: bool,
    /// What it wrote.
    pub log: String,
}

/// Why a tool gave no result.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ToolError {
    /// It took too long and was ended.
    #[error("the tool took too long")]
    TimedOut,
    /// It could not be run.
    #[error("the tool could not be run: {0}")]
    NotRun(String),
}

/// Asks addresses whether they answer.
pub trait LinkProbe: Send + Sync {
    /// One answer for each address; an address left out counts as not asked.
    fn probe(&self, urls: &[String], limit: Duration) -> BTreeMap<String, LinkAnswer>;
}

/// What an address answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LinkAnswer {
    /// An HTTP status.
    Status(u16),
    /// Nothing in time.
    TimedOut,
    /// No connection, and why.
    Unreachable(String),
    /// The host may not be asked.
    NotAllowed,
}

/// The product repository at the recorded commit.
pub trait ProductFiles: Send + Sync {
    /// A file's bytes; none when it is not there.
    fn read(&self, path: &str) -> Option<Vec<u8>>;
}

/// A tool a gate cannot do without.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MissingTool {
    /// The tool.
    pub tool: String,
    /// The gate that needs it.
    pub gate: String,
    /// The version wanted, when one is pinned.
    pub required_version: Option<String>,
    /// The version there is.
    pub found_version: Option<String>,
    /// How to get it.
    pub install_hint: String,
}

/// Why there is no report.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum GateFault {
    /// A required tool is not there.
    #[error("{gate} needs {tool}, which is not installed: {hint}", gate = .0.gate, tool = .0.tool, hint = .0.install_hint)]
    ToolchainMissing(MissingTool),
    /// A gate ended without an answer.
    #[error("the gate {0} ended without an answer")]
    Crashed(String),
    /// A gate's own means failed.
    #[error("the gate {gate} could not do its work: {cause}")]
    Failed {
        /// The gate.
        gate: String,
        /// What went wrong.
        cause: String,
    },
}
