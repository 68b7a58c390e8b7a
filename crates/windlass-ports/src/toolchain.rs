//! Programs and addresses a site is checked with: a site generator and a link prober.
//!
//! Calls block: the caller has a thread for them. Implementations keep the
//! site's own code from running, the environment scrubbed and every process ended.

use std::{collections::BTreeMap, path::Path, time::Duration};

use windlass_types::Shortage;

/// The external tools.
pub trait Toolchain: Send + Sync {
    /// The version of Hugo, e.g. `0.168.0`; none when it is not installed.
    fn hugo_version(&self) -> Option<String>;

    /// Builds a copy of the site for production, and ends every process it started when the
    /// time is up or the build is no longer wanted.
    fn hugo_build(&self, job: &HugoJob<'_>) -> Result<HugoBuild, ToolError>;
}

/// What to build, and within which bounds.
pub struct HugoJob<'a> {
    /// The site's directory. It is read and never changed.
    pub site: &'a Path,
    /// Where the configuration is, relative to the site; none for Hugo's own lookup.
    pub config_dir: Option<&'a str>,
    /// Where the rendered site goes. It must be empty or absent.
    pub out: &'a Path,
    /// Programs Hugo may start, as patterns of its `security.exec.allow`; none when empty.
    pub exec_allow: &'a [String],
    /// Where files may be fetched from, as the beginnings of addresses; nowhere when empty.
    pub http_allow: &'a [String],
    /// Where modules may be downloaded from; without it they come with the site or not at all.
    pub module_proxy: Option<&'a str>,
    /// How long it may take.
    pub limit: Duration,
    /// Asked now and then: whether the build is no longer wanted.
    pub stopped: &'a (dyn Fn() -> bool + Sync),
}

/// How a build went.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HugoBuild {
    /// Whether it exited with 0.
    pub success: bool,
    /// What it wrote, with paths relative to the site; the middle of a long log is left out.
    pub log: String,
}

/// Why a tool gave no result.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ToolError {
    /// It took too long, or was no longer wanted, and was ended.
    #[error("the tool took too long")]
    TimedOut,
    /// It could not be run.
    #[error("the tool could not be run: {0}")]
    NotRun(String),
    /// The machine ran out of something; the same call works once there is enough again.
    #[error("the machine ran out of something: {cause}")]
    Short {
        /// What.
        shortage: Shortage,
        /// What the system or the tool said.
        cause: String,
    },
}

/// Asks addresses whether they answer.
pub trait LinkProbe: Send + Sync {
    /// One answer for each address; an address left out counts as not asked.
    fn probe(&self, urls: &[String], limit: Duration) -> BTreeMap<String, LinkAnswer>;
}

/// What an address answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LinkAnswer {
    /// An HTTP status, after redirects.
    Status(u16),
    /// Nothing in time.
    TimedOut,
    /// No connection, and why.
    Unreachable(String),
    /// The host may not be asked.
    NotAllowed,
}
