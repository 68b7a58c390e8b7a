//! What the operations need from outside, passed in by the composition root.

use std::path::PathBuf;
use std::sync::Arc;

use serde::Serialize;
use serde_json::Value;
use windlass_ports::aws::Cloud;
use windlass_ports::database::{AllowedFunction, DatabasePort};
use windlass_ports::{BoxFuture, Clock, Entropy, MessageSockets};
use windlass_secrets::Redactor;
use windlass_types::{Problem, Timestamp};

/// Everything outside.
#[derive(Clone)]
pub struct Outside {
    /// AWS.
    pub cloud: Arc<dyn Cloud>,
    /// Databases.
    pub databases: Arc<dyn DatabasePort>,
    /// What was done from this machine.
    pub journal: Arc<dyn OperationJournal>,
    /// The project a config belongs to.
    pub projects: Arc<dyn ProjectNames>,
    /// Message sockets for remote sessions; none where none are built in.
    pub sockets: Option<Arc<dyn MessageSockets>>,
    /// The time.
    pub clock: Arc<dyn Clock>,
    /// Randomness.
    pub entropy: Arc<dyn Entropy>,
    /// Takes secrets out of every answer; passwords that are read are made known to it.
    pub redactor: Redactor,
    /// Settings of the installation and of the caller.
    pub settings: Settings,
}

/// Settings of the installation and of the caller.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    /// A role to ask as, named in policy. If it cannot be assumed, nothing is asked.
    pub role_arn: Option<String>,
    /// A PEM file with the roots that RDS and ElastiCache certificates are verified against;
    /// none for those of the operating system.
    pub database_roots: Option<PathBuf>,
    /// Functions that SQL may call beyond those known to read.
    pub allowed_functions: Vec<AllowedFunction>,
    /// Redis commands that may be sent beyond those known to read, if the server agrees.
    pub allowed_redis_commands: Vec<String>,
    /// Nothing but reading: the server was started so.
    pub read_only: bool,
    /// Who asks, as Windlass knows them: `local:ada/mcp`.
    pub principal: String,
    /// What policy says of the caller, for people.
    pub policy: Value,
    /// Where relative paths of arguments begin.
    pub working_directory: PathBuf,
    /// What makes every try of one write the same write, 32 to 64 characters; without, every call
    /// is one of its own.
    pub request_token: Option<String>,
}

/// Which operations are wanted from the local journal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JournalAsk {
    /// Only of this stack.
    pub stack_name: Option<String>,
    /// Only in this region.
    pub region: Option<String>,
    /// Only of this principal.
    pub principal: Option<String>,
    /// How many at most, newest first.
    pub limit: usize,
}

/// One operation of the local journal.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct JournalRecord {
    /// The run.
    pub run_id: String,
    /// `deploy`, `delete`, …
    pub operation: String,
    /// The stack, where it is known.
    pub stack_name: Option<String>,
    /// The token its CloudFormation events carry.
    #[serde(skip)]
    pub client_request_token: Option<String>,
    /// Who asked for it.
    pub principal: String,
    /// `running`, `succeeded`, `failed`, …
    pub state: String,
    /// The contract's code, once it has ended.
    pub code: Option<String>,
    /// When it began.
    pub started_at: Timestamp,
    /// When it ended.
    pub ended_at: Option<Timestamp>,
    /// The digest of its plan.
    pub plan_digest: Option<String>,
}

/// What was done from this machine.
pub trait OperationJournal: Send + Sync {
    /// The newest operations, newest first.
    fn recent<'a>(
        &'a self,
        ask: &'a JournalAsk,
    ) -> BoxFuture<'a, Result<Vec<JournalRecord>, Problem>>;
}

/// The name a config gives its project.
pub trait ProjectNames: Send + Sync {
    /// `serviceName` of the config at this path, or of the one found in the directory; `None`
    /// without a config or without a name in it.
    fn project_name(
        &self,
        config_path: Option<&str>,
        directory: &std::path::Path,
    ) -> Result<Option<String>, Problem>;
}
