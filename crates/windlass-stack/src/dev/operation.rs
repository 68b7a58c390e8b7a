//! The operations and the arguments they take.

use windlass_stack_config::arguments::{ArgumentSpec, ArgumentType};

/// An operation of local development.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DevOperation {
    Start,
    Status,
    Logs,
    Rebuild,
    RebuildAll,
    Stop,
}

impl DevOperation {
    /// All of them.
    pub const ALL: [Self; 6] = [
        Self::Start,
        Self::Status,
        Self::Logs,
        Self::Rebuild,
        Self::RebuildAll,
        Self::Stop,
    ];

    /// Its name in the catalogue, without the toolset.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Start => "dev_start",
            Self::Status => "dev_status",
            Self::Logs => "dev_logs",
            Self::Rebuild => "dev_rebuild",
            Self::RebuildAll => "dev_rebuild_all",
            Self::Stop => "dev_stop",
        }
    }

    /// A few words for people.
    pub const fn title(self) -> &'static str {
        match self {
            Self::Start => "Start local development",
            Self::Status => "Show the session's state",
            Self::Logs => "Read the session's log",
            Self::Rebuild => "Build a workload again",
            Self::RebuildAll => "Build all workloads again",
            Self::Stop => "End the session",
        }
    }

    /// What it does and when to use it.
    pub const fn description(self) -> &'static str {
        match self {
            Self::Start => {
                "Runs the stack of a config on this machine: functions, gateways, services and \
                 databases, on loopback and without AWS. Answers when everything runs, with the \
                 addresses; a session that runs already is used again. Deployed resources are used \
                 only where the config or `remote` says so. Tables, buckets and queues are created \
                 at an emulator that AWS_ENDPOINT_URL, or AWS_ENDPOINT_URL_DYNAMODB, _S3 or _SQS \
                 names; without one, `elsewhere` says that they do not run locally. Values of \
                 $Secret and $SsmParam come from variables of the environment or from .env.local."
            }
            Self::Status => {
                "Tells the phase of the session of this directory, whether it is ready, and each \
                 workload's address or failure; also after its manager was killed."
            }
            Self::Logs => {
                "Reads lines of the session's log: the newest ones of this session, or those from a \
                 cursor on. The cursor that starting a session returned is its first line; \
                 following nextCursor shows every line once."
            }
            Self::Rebuild => {
                "Rebuilds one workload and replaces the running one. If the build fails, the old one keeps running and the answer has the output of the build."
            }
            Self::RebuildAll => "Builds every workload again and reports on each of them.",
            Self::Stop => {
                "Ends the session and every process and container of it, also those that a killed \
                 manager left behind. The data of local databases stays."
            }
        }
    }

    /// The arguments it takes.
    pub fn arguments(self) -> Vec<ArgumentSpec> {
        let mut specs: Vec<ArgumentSpec> = COMMON
            .iter()
            .map(|(name, kind)| ArgumentSpec::optional(name, *kind))
            .collect();
        let optional = |name, kind| ArgumentSpec::optional(name, kind);
        match self {
            Self::Start => specs.extend([
                optional("resources", ArgumentType::Texts),
                optional("remote", ArgumentType::Texts),
                optional("agentPort", ArgumentType::Number),
                optional("freshDb", ArgumentType::Bool),
                optional("wait", ArgumentType::Bool),
            ]),
            Self::Status => specs.push(optional("verbose", ArgumentType::Bool)),
            Self::Logs => specs.extend([
                optional("limit", ArgumentType::NumberOrText),
                optional("cursor", ArgumentType::NumberOrText),
                optional("workload", ArgumentType::Text),
            ]),
            Self::Rebuild => {
                specs.push(ArgumentSpec::required("workload", ArgumentType::Text));
            }
            Self::RebuildAll | Self::Stop => {}
        }
        specs
    }
}

/// What every operation takes: which session is meant.
const COMMON: [(&str, ArgumentType); 7] = [
    ("projectName", ArgumentType::Text),
    ("stage", ArgumentType::Text),
    ("region", ArgumentType::Text),
    ("profile", ArgumentType::Text),
    ("configPath", ArgumentType::Text),
    ("currentWorkingDirectory", ArgumentType::Text),
    ("timeoutSeconds", ArgumentType::NumberOrText),
];
