//! DynamoDB tables.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::model::common::DevSettings;

/// A DynamoDB table.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct DynamoDbTable {
    /// What identifies an item.
    pub primary_key: PrimaryKey,
    /// Fixed throughput; pay per request without.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provisioned_throughput: Option<ProvisionedThroughput>,
    /// Keep point-in-time backups of the last 35 days.
    #[serde(default)]
    pub enable_point_in_time_recovery: bool,
    /// What of a changed item the table's stream has; no stream without.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stream_type: Option<StreamType>,
    /// Further keys to ask by.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 20))]
    pub secondary_indexes: Vec<SecondaryIndex>,
    /// How it behaves in local development.
    #[serde(default)]
    pub dev: DevSettings,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct PrimaryKey {
    /// The attribute that spreads items.
    pub partition_key: KeyAttribute,
    /// The attribute that orders items with the same partition key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sort_key: Option<KeyAttribute>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct KeyAttribute {
    /// The attribute's name.
    #[schemars(length(min = 1, max = 255))]
    pub name: String,
    /// The attribute's type.
    #[serde(rename = "type")]
    pub kind: KeyType,
}

/// The type of a key attribute.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum KeyType {
    Binary,
    Number,
    String,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ProvisionedThroughput {
    /// Read units.
    #[schemars(range(min = 1))]
    pub read_units: u32,
    /// Write units.
    #[schemars(range(min = 1))]
    pub write_units: u32,
    /// How read units follow the load.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read_scaling: Option<ThroughputScaling>,
    /// How write units follow the load.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub write_scaling: Option<ThroughputScaling>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ThroughputScaling {
    /// The minimum number of units.
    #[schemars(range(min = 1))]
    pub min_units: u32,
    /// The maximum number of units.
    #[schemars(range(min = 1))]
    pub max_units: u32,
    /// Add units above this use, in percent.
    #[schemars(range(min = 20, max = 90))]
    pub keep_utilization_under: u32,
}

/// What of a changed item a table's stream has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum StreamType {
    KeysOnly,
    NewAndOldImages,
    NewImage,
    OldImage,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SecondaryIndex {
    /// The index's name.
    #[schemars(length(min = 3, max = 255))]
    pub name: String,
    /// The attribute that spreads items.
    pub partition_key: KeyAttribute,
    /// The attribute that orders items with the same partition key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sort_key: Option<KeyAttribute>,
    /// Attributes the index has besides the keys; all without.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub projections: Option<Vec<String>>,
}
