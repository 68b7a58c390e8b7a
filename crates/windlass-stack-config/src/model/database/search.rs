//! OpenSearch domains.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::defaults::number;
use crate::model::common::{DevSettings, Logging};

/// An OpenSearch domain.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct OpenSearchDomain {
    /// The engine's version.
    #[serde(default = "open_search_version")]
    pub version: String,
    /// The machines.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cluster_config: Option<OpenSearchCluster>,
    /// Disk of each data node.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub storage: Option<OpenSearchStorage>,
    /// The user pool of this config whose users may sign in to the dashboards.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user_pool: Option<String>,
    /// Logs.
    #[serde(default)]
    pub logging: OpenSearchLogging,
    /// Who can reach it.
    #[serde(default)]
    pub accessibility: OpenSearchAccessibility,
    /// How it behaves in local development.
    #[serde(default)]
    pub dev: DevSettings,
}

fn open_search_version() -> String {
    "2.17".to_owned()
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct OpenSearchCluster {
    /// The type of data nodes, such as `t3.small.search`.
    pub instance_type: String,
    /// How many data nodes.
    #[schemars(range(min = 1))]
    pub instance_count: u32,
    /// The type of nodes that only lead.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dedicated_master_type: Option<String>,
    /// How many nodes only lead.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dedicated_master_count: Option<u32>,
    /// The type of nodes for rarely used data.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub warm_type: Option<String>,
    /// How many nodes for rarely used data.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub warm_count: Option<u32>,
    /// Stay in one zone.
    #[serde(default)]
    pub multi_az_disabled: bool,
    /// Keep a standby in another zone.
    #[serde(default)]
    pub standby_enabled: bool,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct OpenSearchStorage {
    /// Gigabytes.
    #[schemars(range(min = 10))]
    pub size: u32,
    /// Operations per second.
    #[serde(default = "number::<3000>")]
    pub iops: u32,
    /// Megabytes per second.
    #[serde(default = "number::<125>")]
    pub throughput: u32,
}

/// Logs of an OpenSearch domain.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct OpenSearchLogging {
    /// Errors.
    #[serde(default)]
    pub error_logs: Logging<14>,
    /// Slow searches.
    #[serde(default)]
    pub search_slow_logs: Logging<14>,
    /// Slow writes.
    #[serde(default)]
    pub index_slow_logs: Logging<14>,
}

/// Who can reach an OpenSearch domain.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct OpenSearchAccessibility {
    /// From where.
    pub accessibility_mode: OpenSearchAccessibilityMode,
}

/// From where an OpenSearch domain can be reached.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum OpenSearchAccessibilityMode {
    #[default]
    Internet,
    Vpc,
    ScopingWorkloadsInVpc,
}
