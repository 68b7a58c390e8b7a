//! The session file: how any later process finds the manager again, and knows that it is the
//! same one.

use std::collections::BTreeSet;
use std::path::Path;

use serde::{Deserialize, Serialize};
use windlass_files::Access;
use windlass_types::{Problem, Timestamp};

use crate::emulators::Emulators;
use crate::identity::ProcessIdentity;
use crate::plan::{Places, dev_folder, in_project};

/// Where a session is in its life.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Phase {
    /// Not everything was started yet.
    Starting,
    /// Everything was started; whether all of it runs is another question.
    Ready,
    /// A workload is being rebuilt.
    Rebuilding,
    /// Everything is being ended.
    Stopping,
    /// Nothing runs.
    Stopped,
}

/// What the file says.
#[derive(Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Session {
    /// The manager.
    #[serde(flatten)]
    pub manager: ProcessIdentity,
    /// The port of its HTTP API.
    pub port: u16,
    /// The token of its HTTP API; in no output but this file.
    pub token: String,
    /// Where it is in its life.
    pub phase: Phase,
    /// The project.
    pub project_name: String,
    /// The stage.
    pub stage: String,
    /// The region.
    pub region: String,
    /// When it started.
    pub started_at: Timestamp,
    /// Names of workloads.
    pub workloads: Vec<String>,
    /// Names of databases.
    pub databases: Vec<String>,
    /// The log.
    pub log_file: std::path::PathBuf,
    /// The number of its first line in the log, which earlier sessions began.
    #[serde(default)]
    pub first_line: u64,
    /// Resources that are used as they are deployed.
    #[serde(default)]
    pub remote: BTreeSet<String>,
    /// Emulators of AWS services that its workloads use.
    #[serde(default)]
    pub emulators: Emulators,
}

impl std::fmt::Debug for Session {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // The token stays out of every log.
        write!(
            formatter,
            "Session({}-{} {:?} port {})",
            self.project_name, self.stage, self.manager, self.port
        )
    }
}

impl Session {
    /// Reads a session file; nothing where there is none or it is not one.
    pub fn read(file: &Path) -> Option<Self> {
        serde_json::from_slice(&fs_err::read(file).ok()?).ok()
    }

    /// Whether its manager still runs; a process that has got its id since is another one.
    pub fn is_live(&self) -> bool {
        self.manager.is_running()
    }

    /// The running session of a project's stage in a directory.
    pub fn running(directory: &Path, project: &str, stage: &str) -> Option<Self> {
        let file = Places::new(directory, project, stage).session;
        Self::read(&file).filter(Self::is_live)
    }

    /// Whether it has nothing of the deployed stack.
    pub fn is_local(&self) -> bool {
        self.remote.is_empty()
    }

    /// The sessions of a directory, live or not, in order.
    pub fn all(directory: &Path) -> Vec<Self> {
        let Ok(entries) = fs_err::read_dir(dev_folder(directory)) else {
            return Vec::new();
        };
        let mut files: Vec<_> = entries
            .flatten()
            .map(|entry| entry.path())
            .filter(|path| path.extension().is_some_and(|ending| ending == "json"))
            .collect();
        files.sort();
        files.iter().filter_map(|file| Self::read(file)).collect()
    }
}

/// Replaces a file by JSON that only its owner may read.
pub(crate) fn write_private<T: Serialize + ?Sized>(file: &Path, value: &T) -> Result<(), Problem> {
    let fault = |error: &dyn std::fmt::Display| {
        Problem::internal("dev session", format!("{}: {error}", file.display()))
    };
    let text = serde_json::to_vec_pretty(value).map_err(|error| fault(&error))?;
    in_project(file)
        .and_then(|(project, below)| project.write(&below, &text, Access::Private))
        .map_err(|error| error.into_problem(|error| fault(&error)))
}
