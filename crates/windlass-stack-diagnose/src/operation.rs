//! The operations: names, effects, arguments.

use windlass_stack_config::arguments::ArgumentSpec;
use windlass_stack_config::arguments::ArgumentType::{Any, Bool, NumberOrText, ObjectOrText, Text};

/// What an operation may do, for policy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// It reads.
    Read,
    /// It changes something that can be changed back.
    Write,
    /// It can destroy something.
    Destructive,
}

macro_rules! operations {
    ($($variant:ident = $name:literal, $effect:ident, $doc:literal;)*) => {
        /// An operation.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Operation {
            $(#[doc = $doc] $variant,)*
        }

        impl Operation {
            /// Every operation.
            pub const ALL: &'static [Self] = &[$(Self::$variant),*];

            /// Its name in the contract.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)* }
            }

            /// What it is for, in a sentence.
            pub const fn purpose(self) -> &'static str {
                match self { $(Self::$variant => $doc,)* }
            }

            /// What it may do at most.
            pub const fn effect(self) -> Effect {
                match self { $(Self::$variant => Effect::$effect,)* }
            }
        }
    };
}

operations! {
    InfoStack = "info_stack", Read, "A stack: status, outputs, resources, drift, what is stuck.";
    InfoStacks = "info_stacks", Read, "The stacks of a region.";
    InfoOperations = "info_operations", Read, "What was done to stacks, from here and elsewhere.";
    InfoWhoami = "info_whoami", Read, "The caller's AWS identity.";
    Logs = "logs", Read, "Log lines of a resource.";
    Metrics = "metrics", Read, "A metric of a resource.";
    Alarms = "alarms", Read, "The alarms of a stack.";
    ContainerExec = "container_exec", Destructive, "A command in a running container.";
    Sql = "sql", Read, "A query of a relational database.";
    DynamoDb = "dynamodb", Read, "Items of a table.";
    Redis = "redis", Read, "Keys of a Redis.";
    OpenSearch = "opensearch", Read, "Documents of a search domain.";
    AwsSdk = "aws_sdk", Read, "An AWS action that reads.";
    SecretCreate = "secret_create", Write, "Creates a secret or a new version of it.";
    SecretGet = "secret_get", Read, "Shows a secret, masked.";
    SecretDelete = "secret_delete", Write, "Schedules a secret's deletion.";
}

impl Operation {
    /// The operation of a name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|known| known.name() == name)
    }

    /// The arguments it takes.
    pub fn arguments(self) -> Vec<ArgumentSpec> {
        COMMON.iter().chain(self.own_arguments()).copied().collect()
    }

    const fn own_arguments(self) -> &'static [ArgumentSpec] {
        match self {
            Self::InfoStack | Self::InfoStacks | Self::InfoWhoami => &[],
            Self::InfoOperations => {
                const {
                    &[
                        ArgumentSpec::optional("currentUserOnly", Bool),
                        ArgumentSpec::optional("limit", NumberOrText),
                    ]
                }
            }
            Self::Logs => LOGS,
            Self::Metrics => METRICS,
            Self::Alarms => {
                const {
                    &[
                        ArgumentSpec::optional("resourceName", Text),
                        ArgumentSpec::optional("state", Text),
                    ]
                }
            }
            Self::ContainerExec => {
                const {
                    &[
                        ArgumentSpec::required("resourceName", Text),
                        ArgumentSpec::required("command", Text),
                        ArgumentSpec::optional("container", Text),
                        ArgumentSpec::optional("taskArn", Text),
                        ArgumentSpec::optional("confirm", Bool),
                    ]
                }
            }
            Self::Sql => {
                const {
                    &[
                        ArgumentSpec::required("resourceName", Text),
                        ArgumentSpec::required("sql", Text),
                        ArgumentSpec::optional("limit", NumberOrText),
                        ArgumentSpec::optional("timeout", NumberOrText),
                        ArgumentSpec::optional("bastionResource", Text),
                        ArgumentSpec::optional("port", NumberOrText),
                    ]
                }
            }
            Self::DynamoDb => {
                const {
                    &[
                        ArgumentSpec::required("resourceName", Text),
                        ArgumentSpec::optional("operation", Text),
                        ArgumentSpec::optional("pk", Any),
                        ArgumentSpec::optional("sk", Any),
                        ArgumentSpec::optional("key", ObjectOrText),
                        ArgumentSpec::optional("index", Text),
                        ArgumentSpec::optional("limit", NumberOrText),
                    ]
                }
            }
            Self::Redis => REDIS,
            Self::OpenSearch => {
                const {
                    &[
                        ArgumentSpec::required("resourceName", Text),
                        ArgumentSpec::optional("operation", Text),
                        ArgumentSpec::optional("index", Text),
                        ArgumentSpec::optional("id", Text),
                        ArgumentSpec::optional("query", ObjectOrText),
                        ArgumentSpec::optional("limit", NumberOrText),
                    ]
                }
            }
            Self::AwsSdk => {
                const {
                    &[
                        ArgumentSpec::required("service", Text),
                        ArgumentSpec::required("command", Text),
                        ArgumentSpec::optional("input", ObjectOrText),
                    ]
                }
            }
            Self::SecretCreate => {
                const {
                    &[
                        ArgumentSpec::required("secretName", Text),
                        ArgumentSpec::optional("secretValue", Text),
                        ArgumentSpec::optional("secretFile", Text),
                        ArgumentSpec::optional("forceUpdate", Bool),
                    ]
                }
            }
            Self::SecretGet => const { &[ArgumentSpec::required("secretName", Text)] },
            Self::SecretDelete => {
                const {
                    &[
                        ArgumentSpec::required("secretName", Text),
                        ArgumentSpec::optional("force", Bool),
                        ArgumentSpec::optional("recoveryDays", NumberOrText),
                        ArgumentSpec::optional("confirm", Bool),
                    ]
                }
            }
        }
    }
}

/// Arguments of every operation: which stack, where, as whom, for how long.
const COMMON: &[ArgumentSpec] = &[
    ArgumentSpec::optional("projectName", Text),
    ArgumentSpec::optional("stage", Text),
    ArgumentSpec::optional("stackName", Text),
    ArgumentSpec::optional("region", Text),
    ArgumentSpec::optional("profile", Text),
    ArgumentSpec::optional("configPath", Text),
    ArgumentSpec::optional("currentWorkingDirectory", Text),
    ArgumentSpec::optional("timeoutSeconds", NumberOrText),
];

const LOGS: &[ArgumentSpec] = &[
    ArgumentSpec::required("resourceName", Text),
    ArgumentSpec::optional("container", Text),
    ArgumentSpec::optional("startTime", Text),
    ArgumentSpec::optional("endTime", Text),
    ArgumentSpec::optional("filter", Text),
    ArgumentSpec::optional("query", Text),
    ArgumentSpec::optional("limit", NumberOrText),
    ArgumentSpec::optional("raw", Bool),
    ArgumentSpec::optional("cursor", Text),
];

const METRICS: &[ArgumentSpec] = &[
    ArgumentSpec::required("resourceName", Text),
    ArgumentSpec::required("metric", Text),
    ArgumentSpec::optional("period", NumberOrText),
    ArgumentSpec::optional("stat", Text),
    ArgumentSpec::optional("startTime", Text),
    ArgumentSpec::optional("endTime", Text),
    ArgumentSpec::optional("namespace", Text),
    ArgumentSpec::optional("dimensions", ObjectOrText),
];

const REDIS: &[ArgumentSpec] = &[
    ArgumentSpec::required("resourceName", Text),
    ArgumentSpec::optional("operation", Text),
    ArgumentSpec::optional("key", Text),
    ArgumentSpec::optional("pattern", Text),
    ArgumentSpec::optional("field", Text),
    ArgumentSpec::optional("section", Text),
    ArgumentSpec::optional("command", Text),
    ArgumentSpec::optional("limit", NumberOrText),
    ArgumentSpec::optional("bastionResource", Text),
];
