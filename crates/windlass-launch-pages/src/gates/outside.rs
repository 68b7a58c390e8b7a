//! What gates ask of the world outside: a site generator, a link prober, the product's files.
//!
//! Traits only; the first two are ports. Implementations keep ingested code from
//! running, the environment scrubbed, and results recorded so that a resumed run sees the same.

pub use windlass_ports::{HugoBuild, HugoJob, LinkAnswer, LinkProbe, ToolError, Toolchain};

use windlass_types::Shortage;

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
    /// The machine ran out of something while a gate worked.
    #[error("the gate {gate} could not do its work for now: {cause}")]
    Short {
        /// The gate.
        gate: String,
        /// What was short.
        shortage: Shortage,
        /// What the system or a tool said.
        cause: String,
    },
    /// A gate's own means failed.
    #[error("the gate {gate} could not do its work: {cause}")]
    Failed {
        /// The gate.
        gate: String,
        /// What went wrong.
        cause: String,
    },
}
