//! What a session needs from others: time, randomness, databases, variables, programs.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::Value;
use windlass_ports::database::DatabasePort;
use windlass_ports::{BoxFuture, Bundler, Clock, Entropy};
use windlass_types::Problem;

use crate::environment::WorkloadEnvironment;
use crate::plan::DevPlan;

/// The outside of a session.
#[derive(Clone)]
pub struct Outside {
    /// The time.
    pub clock: Arc<dyn Clock>,
    /// Randomness, for passwords and tokens.
    pub entropy: Arc<dyn Entropy>,
    /// Databases, for the paths of the HTTP API.
    pub databases: Arc<dyn DatabasePort>,
    /// The variables of workloads.
    pub environment: Arc<dyn WorkloadEnvironment>,
    /// AWS, for the paths of the HTTP API that need it; none in a purely local session.
    pub aws: Option<Arc<dyn CloudCalls>>,
    /// Creates what the config declares at emulators of AWS; none where no emulator is named.
    pub emulated: Option<Arc<dyn Emulated>>,
    /// Installed programs.
    pub programs: Programs,
    /// Where esbuild comes from.
    pub bundler: Option<Arc<dyn Bundler>>,
    /// What every workload inherits of the caller's environment: `PATH`, `HOME`, `LANG` …
    pub inherited: BTreeMap<String, String>,
    /// What the commands of a container engine read besides.
    pub engine: BTreeMap<String, String>,
}

/// Calls of AWS actions, JSON in and out. Which are allowed is decided before.
pub trait CloudCalls: Send + Sync {
    /// One action of one service.
    fn call<'a>(
        &'a self,
        service: &'a str,
        command: &'a str,
        input: Value,
    ) -> BoxFuture<'a, Result<Value, Problem>>;
}

/// Resources at emulators: the parameters of each that exists, or why it does not.
pub type Provisioned = BTreeMap<String, Result<BTreeMap<String, String>, Problem>>;

/// Emulators of AWS services.
pub trait Emulated: Send + Sync {
    /// Creates the tables, buckets and queues of a plan whose service has an emulator.
    fn provision<'a>(&'a self, plan: &'a DevPlan) -> BoxFuture<'a, Provisioned>;
}

/// Programs that are installed.
#[derive(Clone, Debug, Default)]
pub struct Programs {
    /// Node.
    pub node: Option<PathBuf>,
    /// Python 3.
    pub python: Option<PathBuf>,
    /// The folder with `initdb` and `postgres`.
    pub postgres: Option<PathBuf>,
    /// `redis-server`.
    pub redis: Option<PathBuf>,
    /// `podman` or `docker`.
    pub container: Option<PathBuf>,
    /// `setpriv`, by which servers that refuse to run as root do run.
    pub setpriv: Option<PathBuf>,
}

impl Programs {
    /// Finds them on a `PATH`, and PostgreSQL also where Debian keeps it.
    pub fn find(path: &OsStr) -> Self {
        let find = |name| windlass_process::find(name, path);
        let postgres = find("initdb")
            .and_then(|initdb| fs_err::canonicalize(initdb).ok())
            .and_then(|initdb| initdb.parent().map(Path::to_owned))
            .filter(|folder| folder.join("postgres").is_file())
            .or_else(packaged_postgres);
        Self {
            node: find("node"),
            python: find("python3").or_else(|| find("python")),
            postgres,
            redis: find("redis-server").or_else(|| find("valkey-server")),
            container: find("podman").or_else(|| find("docker")),
            setpriv: find("setpriv"),
        }
    }
}

/// The newest of the versions that a distribution keeps out of the `PATH`.
fn packaged_postgres() -> Option<PathBuf> {
    let versions = fs_err::read_dir("/usr/lib/postgresql").ok()?;
    versions
        .flatten()
        .filter_map(|entry| {
            Some((
                entry.file_name().to_str()?.parse::<u32>().ok()?,
                entry.path(),
            ))
        })
        .map(|(version, path)| (version, path.join("bin")))
        .filter(|(_, bin)| bin.join("initdb").is_file() && bin.join("postgres").is_file())
        .max_by_key(|(version, _)| *version)
        .map(|(_, bin)| bin)
}
