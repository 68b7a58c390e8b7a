//! What the stages are told, as the text of one argument. Holds no secret: arguments can be read by
//! other users.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};
use windlass_ports::sandbox::{Backend, HostRule, Limits, Protected};

use crate::layout::Mount;

/// A confinement that was checked, with every path resolved.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Spec {
    /// What enforces it.
    pub backend: Backend,
    /// The bubblewrap program, for that backend.
    pub bubblewrap: Option<PathBuf>,
    /// Which process it ends with; none: with its parent's decision.
    pub owner: Owner,
    /// Where the program starts.
    pub directory: PathBuf,
    /// What it may read.
    pub read: Vec<PathBuf>,
    /// What it may not read below those.
    pub deny_read: Vec<PathBuf>,
    /// What it may change.
    pub write: Vec<PathBuf>,
    /// What stays as it is below those.
    pub protected: Vec<Protected>,
    /// What the program's tree of files is made of, in order; for namespaces.
    pub mounts: Vec<Mount>,
    /// What it may connect to.
    pub network: Reach,
    /// Whether it may use Unix sockets that have a name.
    pub unix_sockets: bool,
    /// Whether Landlock restricts signals and abstract sockets to the sandbox.
    pub scopes: bool,
    /// How much it may use.
    pub limits: Limits,
}

/// A process, which an id alone does not name for long.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Owner {
    /// Its id.
    pub id: i32,
    /// When it was started, in the kernel's ticks.
    pub started: u64,
}

/// What may be connected to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Reach {
    /// Nothing.
    Off,
    /// These, through the proxy.
    Hosts(Vec<HostRule>),
    /// Everything.
    On,
}

impl Spec {
    /// The same without mounts over protected paths that do not exist even now: this user may not
    /// create them, and neither may the program.
    pub fn without_what_nobody_can_create(mut self) -> Self {
        let protected = &self.protected;
        self.mounts.retain(|mount| match mount {
            Mount::Same { path, .. } => {
                protected.iter().all(|entry| entry.path != *path) || path.exists()
            }
            _ => true,
        });
        self
    }
}

impl Owner {
    /// The process of this id, if there is one.
    pub fn of(id: i32) -> Option<Self> {
        let stat = fs_err::read_to_string(format!("/proc/{id}/stat")).ok()?;
        // The name before it may hold anything; it ends with the last bracket.
        let rest = stat.rsplit_once(')')?.1;
        let started = rest.split_whitespace().nth(19)?.parse().ok()?;
        Some(Self { id, started })
    }
}
