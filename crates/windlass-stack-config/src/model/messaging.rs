//! Queues, topics, buses, streams and state machines.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::alarms::Alarm;
use super::common::{DevSettings, ResourcePolicyStatement};
use super::events::QueueEvent;
use crate::defaults::number;
use crate::value::{DataMap, Text};

/// An SQS queue.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SqsQueue {
    /// For how many seconds a new message waits before it can be received.
    #[serde(default)]
    #[schemars(range(max = 900))]
    pub delay_messages_second: u32,
    /// The most bytes of a message.
    #[serde(default = "number::<262_144>")]
    #[schemars(range(min = 1024, max = 1_048_576))]
    pub max_message_size_bytes: u32,
    /// For how many seconds a message is kept.
    #[serde(default = "number::<345_600>")]
    #[schemars(range(min = 60, max = 1_209_600))]
    pub message_retention_period_seconds: u32,
    /// For how many seconds a receiver waits for messages.
    #[serde(default)]
    #[schemars(range(max = 20))]
    pub long_polling_seconds: u32,
    /// For how many seconds a received message is hidden from others.
    #[serde(default = "number::<30>")]
    #[schemars(range(max = 43_200))]
    pub visibility_timeout_seconds: u32,
    /// Keep the order, deliver once.
    #[serde(default)]
    pub fifo_enabled: bool,
    /// Order by group only, for more messages at once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fifo_high_throughput: Option<bool>,
    /// Take messages with the same contents for the same message.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content_based_deduplication: Option<bool>,
    /// Where messages go that could not be worked on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub redrive_policy: Option<RedrivePolicy>,
    /// Further statements of the queue's policy.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub policy_statements: Vec<ResourcePolicyStatement>,
    /// Events of a bus that are sent into the queue.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub events: Vec<QueueEvent>,
    /// Alarms.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub alarms: Vec<Alarm>,
    /// Alarms of the account that do not apply here. There are none in Windlass.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub disabled_global_alarms: Vec<String>,
    /// How it behaves in local development.
    #[serde(default)]
    pub dev: DevSettings,
}

/// Either the name of a queue of this config or the ARN of another.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct RedrivePolicy {
    /// The queue's name in this config.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target_sqs_queue_name: Option<String>,
    /// The ARN of another queue.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target_sqs_queue_arn: Option<Text>,
    /// After how many failed receipts.
    #[schemars(range(min = 1, max = 1000))]
    pub max_receive_count: u32,
}

/// An SNS topic.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SnsTopic {
    /// The sender shown in text messages.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 11))]
    pub sms_display_name: Option<String>,
    /// Keep the order, deliver once.
    #[serde(default)]
    pub fifo_enabled: bool,
    /// Take messages with the same contents for the same message.
    #[serde(default)]
    pub content_based_deduplication: bool,
    /// How it behaves in local development.
    #[serde(default)]
    pub dev: DevSettings,
}

/// An event bus.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct EventBus {
    /// The partner event source of the bus.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub event_source_name: Option<Text>,
    /// Keep events, to send them again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub archivation: Option<Archivation>,
    /// How it behaves in local development.
    #[serde(default)]
    pub dev: DevSettings,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Archivation {
    /// Keep events.
    pub enabled: bool,
    /// For how many days; without it, forever.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retention_days: Option<u32>,
}

/// A Kinesis stream.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct KinesisStream {
    /// Capacity by demand, or by shards.
    #[serde(default)]
    pub capacity_mode: CapacityMode,
    /// How many shards, with provisioned capacity.
    #[serde(default = "number::<1>")]
    #[schemars(range(min = 1))]
    pub shard_count: u32,
    /// For how many hours records are kept.
    #[serde(default = "number::<24>")]
    #[schemars(range(min = 24, max = 8760))]
    pub retention_period_hours: u32,
    /// Encryption of records.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub encryption: Option<StreamEncryption>,
    /// Give each consumer its own throughput.
    #[serde(default)]
    pub enable_enhanced_fan_out: bool,
    /// How it behaves in local development.
    #[serde(default)]
    pub dev: DevSettings,
}

/// Whether a stream's capacity follows the demand.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum CapacityMode {
    #[default]
    OnDemand,
    Provisioned,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct StreamEncryption {
    /// Encrypt records.
    pub enabled: bool,
    /// A key of yours; AWS's own without.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kms_key_arn: Option<Text>,
}

/// A Step Functions state machine.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct StateMachine {
    /// The definition, in the Amazon States Language.
    pub definition: StateMachineDefinition,
    /// How it behaves in local development.
    #[serde(default)]
    pub dev: DevSettings,
}

/// A definition in the Amazon States Language.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "PascalCase", deny_unknown_fields)]
pub struct StateMachineDefinition {
    /// The state it begins with.
    pub start_at: String,
    /// The states.
    pub states: DataMap,
    /// What it does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub comment: Option<String>,
    /// The language's version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// For how many seconds an execution may take.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout_seconds: Option<u32>,
    /// The language of expressions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub query_language: Option<String>,
}
