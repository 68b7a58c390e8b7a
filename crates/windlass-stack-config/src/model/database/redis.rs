//! Redis clusters.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::defaults::number;
use crate::model::common::{DevSettings, LogForwarding, RETENTION_DAYS};
use crate::value::Text;

/// A Redis cluster.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct RedisCluster {
    /// The node type, such as `cache.t4g.micro`.
    #[schemars(regex(pattern = "^cache\\."))]
    pub instance_size: String,
    /// The password of the default user: 16 to 128 characters; give it as a secret.
    pub default_user_password: Text,
    /// Spread keys over shards.
    #[serde(default)]
    pub enable_sharding: bool,
    /// How many shards.
    #[serde(default = "number::<1>")]
    #[schemars(range(min = 1, max = 500))]
    pub num_shards: u32,
    /// How many copies of each shard's primary.
    #[serde(default)]
    #[schemars(range(max = 5))]
    pub num_replica_nodes: u32,
    /// Let a copy take over when the primary fails.
    #[serde(default)]
    pub enable_automatic_failover: bool,
    /// The port.
    #[serde(default = "redis_port")]
    pub port: u16,
    /// The engine's version.
    #[serde(default = "redis_version")]
    pub engine_version: String,
    /// For how many days backups are kept.
    #[serde(default)]
    #[schemars(range(max = 35))]
    pub automated_backup_retention_days: u32,
    /// Who can reach it.
    #[serde(default)]
    pub accessibility: RedisAccessibility,
    /// Logs.
    #[serde(default)]
    pub logging: RedisLogging,
    /// How it behaves in local development.
    #[serde(default)]
    pub dev: DevSettings,
}

fn redis_port() -> u16 {
    6379
}

fn redis_version() -> String {
    "6.2".to_owned()
}

/// Who can reach a Redis cluster.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct RedisAccessibility {
    /// From where.
    pub accessibility_mode: RedisAccessibilityMode,
}

/// From where a Redis cluster can be reached.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum RedisAccessibilityMode {
    #[default]
    Vpc,
    ScopingWorkloadsInVpc,
}

/// Logs of a Redis cluster.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct RedisLogging {
    /// Keep no logs.
    #[serde(default)]
    pub disabled: bool,
    /// The form of a line.
    #[serde(default)]
    pub format: RedisLogFormat,
    /// For how many days logs are kept.
    #[serde(default = "number::<90>")]
    #[schemars(extend("enum" = RETENTION_DAYS))]
    pub retention_days: u32,
    /// Send a copy of the logs elsewhere.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub log_forwarding: Option<LogForwarding>,
}

impl Default for RedisLogging {
    fn default() -> Self {
        Self {
            disabled: false,
            format: RedisLogFormat::default(),
            retention_days: 90,
            log_forwarding: None,
        }
    }
}

/// The form of a line in a Redis log.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum RedisLogFormat {
    #[default]
    Json,
    Text,
}
