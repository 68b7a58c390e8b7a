//! What a session is asked to run, and where its files are.
//!
//! Everything is known before anything starts: a plan can be written down, handed to a process of
//! its own and read there.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use windlass_files::{Access, Directory, FileError};
use windlass_stack_config::Config;
use windlass_types::Problem;

use crate::emulators::{self, Emulators};
use crate::environment::LocalParams;
use crate::session::write_private;

/// The port the HTTP API is tried on first.
pub const FIRST_AGENT_PORT: u16 = 7331;
/// How many ports are tried.
pub const AGENT_PORTS: u16 = 100;

/// What to run.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct DevPlan {
    /// The project.
    pub project_name: String,
    /// The stage; `dev` where nobody says otherwise.
    pub stage: String,
    /// The region that workloads see.
    pub region: String,
    /// The folder of the config file: paths in the config start here, `.windlass` is here.
    pub directory: PathBuf,
    /// The config, its directives resolved.
    pub config: Config,
    /// The resources to run; all when empty or `["all"]`.
    #[serde(default)]
    pub resources: Vec<String>,
    /// Resources that are used as deployed, besides those with `dev.remote`.
    #[serde(default)]
    pub remote: BTreeSet<String>,
    /// The port of the HTTP API; the first free one without.
    #[serde(default)]
    pub agent_port: Option<u16>,
    /// Whether the data of local databases is removed first.
    #[serde(default)]
    pub fresh_db: bool,
    /// Emulators of AWS services.
    #[serde(default)]
    pub emulators: Emulators,
}

impl DevPlan {
    /// Refuses names that are not in the config, and names that cannot be files.
    pub fn check(&self) -> Result<(), Problem> {
        for (field, name) in [("projectName", &self.project_name), ("stage", &self.stage)] {
            let is_plain = !name.is_empty()
                && name
                    .chars()
                    .all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_'));
            if !is_plain {
                return Err(Problem::invalid(
                    field,
                    "letters, digits, - and _",
                    format!("{field} '{name}' is not a name: use letters, digits, - and _"),
                ));
            }
        }
        for name in self.resources.iter().chain(&self.remote) {
            if name != "all" && !self.config.resources.contains_key(name) {
                let known: Vec<&str> = self.config.resources.keys().map(String::as_str).collect();
                return Err(Problem::invalid(
                    "resources",
                    "a resource of the config",
                    format!(
                        "there is no resource '{name}' in the config; it has {}",
                        known.join(", ")
                    ),
                )
                .with("reason", "unknown_resource"));
            }
        }
        Ok(())
    }

    /// Whether a resource belongs to this session: it was asked for, or one that was needs it.
    pub fn is_chosen(&self, name: &str) -> bool {
        if self.resources.is_empty() || self.resources.iter().any(|wanted| wanted == "all") {
            return true;
        }
        self.resources.iter().any(|wanted| {
            wanted == name
                || self.config.resources.get(wanted).is_some_and(|resource| {
                    resource
                        .kind
                        .connect_to()
                        .iter()
                        .any(|target| target == name)
                        || crate::routes::entrances(&resource.kind).contains(&name)
                })
        })
    }

    /// Whether the deployed resource is used.
    pub fn is_remote(&self, name: &str) -> bool {
        self.remote.contains(name)
            || self
                .config
                .resources
                .get(name)
                .is_some_and(|resource| resource.kind.is_remote_in_dev())
    }

    /// The emulator of a service.
    pub fn emulator(&self, service: &str) -> Option<&str> {
        emulators::address(&self.emulators, service)
    }

    /// Writes it down for a manager; only its owner may read it.
    pub fn write(&self, file: &Path) -> Result<(), Problem> {
        if let Some(folder) = file.parent() {
            // Not private: a database server may run as another user below it.
            make_folder(folder).map_err(|error| {
                error.into_problem(|error| Problem::internal("dev plan", error))
            })?;
        }
        write_private(file, self)
    }

    /// Reads what [`Self::write`] wrote.
    pub fn read(file: &Path) -> Result<Self, Problem> {
        let unusable = |error: &dyn std::fmt::Display| {
            Problem::invalid(
                "plan",
                "a plan of a development session",
                format!("{}: {error}", file.display()),
            )
        };
        let bytes = fs_err::read(file).map_err(|error| unusable(&error))?;
        serde_json::from_slice(&bytes).map_err(|error| unusable(&error))
    }

    /// The same, and the file is gone: values of other files that the config used are in it.
    pub fn take(file: &Path) -> Result<Self, Problem> {
        let plan = Self::read(file)?;
        remove_file(file).map_err(|error| Problem::internal("dev plan", error))?;
        Ok(plan)
    }

    /// Leaves the reason of a failure for the process that started the manager.
    pub fn leave_failure(&self, problem: &Problem) {
        // Where it cannot be written, the manager's output still says it.
        let _ = write_private(&self.places().failure(), problem);
    }

    /// Whether anything that was chosen is used as it is deployed; without, nothing of AWS is
    /// needed.
    pub fn uses_deployed(&self) -> bool {
        self.deployed().next().is_some()
    }

    /// What was chosen and is used as it is deployed.
    pub fn deployed(&self) -> impl Iterator<Item = &str> {
        let names = self.config.resources.keys().map(String::as_str);
        names.filter(|name| self.is_chosen(name) && self.is_remote(name))
    }

    /// Where the session's files are.
    pub fn places(&self) -> Places {
        Places::new(&self.directory, &self.project_name, &self.stage)
    }
}

/// The files of one session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Places {
    /// The session file.
    pub session: PathBuf,
    /// Held by the manager for as long as it runs.
    pub lock: PathBuf,
    /// Everything else of the stage.
    pub stage: PathBuf,
}

impl Places {
    /// The files of a project's stage in a folder.
    pub fn new(directory: &Path, project: &str, stage: &str) -> Self {
        let root = dev_folder(directory);
        Self {
            session: root.join(format!("{project}-{stage}.json")),
            lock: root.join(format!("{project}-{stage}.lock")),
            stage: root.join(stage),
        }
    }

    /// Data of local databases; all that `freshDb` removes.
    pub fn data(&self) -> PathBuf {
        self.stage.join("data")
    }

    /// Bundles and bootstraps; rebuilt whenever they are needed.
    pub fn build(&self) -> PathBuf {
        self.stage.join("build")
    }

    /// The log.
    pub fn log(&self) -> PathBuf {
        self.stage.join("log.jsonl")
    }

    /// The processes that were started.
    pub fn ledger(&self) -> PathBuf {
        self.stage.join("processes.json")
    }

    /// Ports that were used last, so that addresses stay the same.
    pub fn ports(&self) -> PathBuf {
        self.stage.join("ports.json")
    }

    /// The plan, until the manager has taken it.
    pub fn plan(&self) -> PathBuf {
        self.stage.join("plan.json")
    }

    /// Parameters of resources as they run here, for hooks of the config; holds passwords.
    pub fn params(&self) -> PathBuf {
        self.stage.join("params.json")
    }

    /// Those parameters; none where the session did not start.
    pub fn read_params(&self) -> LocalParams {
        let bytes = fs_err::read(self.params()).ok();
        bytes
            .and_then(|bytes| serde_json::from_slice(&bytes).ok())
            .unwrap_or_default()
    }

    /// What the manager and its programs write by themselves.
    pub(crate) fn output(&self) -> PathBuf {
        self.stage.join("manager.out")
    }

    /// Why the manager ended, when it did not end as it was asked to.
    pub(crate) fn failure(&self) -> PathBuf {
        self.stage.join("failure.json")
    }

    /// The environment variable that marks every process of this session.
    pub(crate) fn marker(&self) -> (&'static str, String) {
        ("WINDLASS_DEV_SESSION", self.session.display().to_string())
    }
}

/// The folder of all sessions of a directory.
pub fn dev_folder(directory: &Path) -> PathBuf {
    directory.join(OWN_FOLDER).join("dev")
}

/// What is kept in a project.
const OWN_FOLDER: &str = ".windlass";

/// The opened project that a file of a session is in, and the rest of the file's path: everything
/// from `.windlass` on may have come with a clone, and no link in it is followed.
pub(crate) fn in_project(file: &Path) -> Result<(Directory, PathBuf), FileError> {
    let own = file
        .ancestors()
        .find(|above| above.file_name().is_some_and(|name| name == OWN_FOLDER));
    let project = match own {
        Some(own) => own.parent(),
        None => file.ancestors().skip(1).find(|above| above.is_dir()),
    };
    let project = project.unwrap_or(Path::new("/"));
    let below = file.strip_prefix(project).unwrap_or(file).to_owned();
    Ok((Directory::open(project)?, below))
}

/// Removes a file of a session; one that is gone is fine.
pub(crate) fn remove_file(file: &Path) -> Result<(), FileError> {
    let (project, below) = in_project(file)?;
    project.remove_file(&below).map(drop)
}

/// Makes a folder of a session.
pub(crate) fn make_folder(folder: &Path) -> Result<(), FileError> {
    let (project, below) = in_project(folder)?;
    project.make_directory(&below, Access::Usual).map(drop)
}
