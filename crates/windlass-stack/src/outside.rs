//! What stacks need from outside, handed in by the binary.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock};

use windlass_ports::aws::Cloud;
use windlass_ports::database::{AllowedFunction, DatabasePort};
use windlass_ports::{Git, MessageSockets, Runs, Trust, trust};
use windlass_stack_config::{Allowed, Interpreters};
use windlass_stack_lifecycle::package::Tools;
use windlass_types::Problem;

use crate::dev::DevOutside;
use crate::values::SecretValues;

/// Programs of this machine, looked for when first needed.
pub type Found<T> = LazyLock<T, Box<dyn FnOnce() -> T + Send>>;

/// Everything outside. Time, randomness and redaction are the engine's.
pub struct StackOutside {
    /// AWS.
    pub cloud: Arc<dyn Cloud>,
    /// Databases.
    pub databases: Arc<dyn DatabasePort>,
    /// Sockets for commands in containers and sessions on bastions, where there are any.
    pub sockets: Option<Arc<dyn MessageSockets>>,
    /// What `$GitInfo` asks.
    pub git: Arc<dyn Git>,
    /// Whether programs of a project may run.
    pub trust: Arc<dyn Trust>,
    /// Programs that package workloads.
    pub tools: Found<Tools>,
    /// Programs that evaluate configs and directives.
    pub interpreters: Found<Interpreters>,
    /// What configs may do.
    pub allowed: Allowed,
    /// The environment scripts and build commands inherit.
    pub environment: BTreeMap<String, String>,
    /// Where packages are kept.
    pub cache: PathBuf,
    /// The role that questions are asked with, where policy names one.
    pub role_arn: Option<String>,
    /// Certificates that databases are trusted by.
    pub database_roots: Option<PathBuf>,
    /// Functions that SQL may call beyond those known to read.
    pub allowed_functions: Vec<AllowedFunction>,
    /// Redis commands that may be sent beyond those known to read, if the server agrees.
    pub allowed_redis_commands: Vec<String>,
    /// Regions beyond those that are known.
    pub extra_regions: Vec<String>,
    /// Whether nothing may be changed.
    pub read_only: bool,
    /// Values of secrets that this process was given.
    pub values: SecretValues,
    /// What local development needs beside this.
    pub dev: DevOutside,
}

impl StackOutside {
    /// Refuses to run `what` unless the user has trusted the folder of its config.
    pub(crate) fn require_trust(&self, config_directory: &Path, what: &str) -> Result<(), Problem> {
        trust::require(&*self.trust, config_directory, Runs::Code, what)
    }
}
