//! What pack takes from outside: directories, names and switches, read once by the binary.

use std::path::PathBuf;

/// The surroundings of pack.
#[derive(Clone, Debug)]
pub struct PackEnvironment {
    /// `$AGENTPACK_HOME`, absolute.
    pub pack_home: PathBuf,
    /// The user's home directory.
    pub home_dir: PathBuf,
    /// `$CODEX_HOME`, absolute.
    pub codex_home: Option<PathBuf>,
    /// Where the machine's id may come from, best first.
    pub machine_candidates: Vec<String>,
    /// `$AGENTPACK_FSYNC`: whether deployed files are flushed too.
    pub fsync: bool,
    /// `$AGENTPACK_LINK_DESTINATIONS`: where links of a project may lead besides into it.
    pub link_destinations: Vec<PathBuf>,
    /// Where digests of unchanged files are remembered.
    pub stat_cache: PathBuf,
    /// The name commands are suggested under: `windlass pack` or `agentpack`.
    pub program: String,
}
