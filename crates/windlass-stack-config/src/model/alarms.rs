//! Alarms of a resource.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::defaults::{number, yes};
use crate::tagged::tagged;
use crate::value::Text;

/// An alarm of a resource.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Alarm {
    /// What the alarm watches.
    pub trigger: AlarmTrigger,
    /// Over which time.
    #[serde(default)]
    pub evaluation: AlarmEvaluation,
    /// Who is notified.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notification_targets: Vec<NotificationTarget>,
    /// Keep the alarm in the history.
    #[serde(default = "yes")]
    pub include_in_history: bool,
    /// What the alarm means.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
}

/// Over which time a trigger is measured.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct AlarmEvaluation {
    /// The length of a period in seconds: 10, 30 or a multiple of 60.
    #[serde(default = "number::<60>")]
    #[schemars(range(min = 10, max = 86_400))]
    pub period: u32,
    /// How many periods count.
    #[serde(default = "number::<1>")]
    #[schemars(range(min = 1))]
    pub evaluation_periods: u32,
    /// In how many of them the threshold must be crossed.
    #[serde(default = "number::<1>")]
    #[schemars(range(min = 1))]
    pub breached_periods: u32,
}

impl Default for AlarmEvaluation {
    fn default() -> Self {
        Self {
            period: 60,
            evaluation_periods: 1,
            breached_periods: 1,
        }
    }
}

tagged! {
    /// Who is notified of an alarm.
    pub enum NotificationTarget {
        /// An e-mail address, by a topic with an e-mail subscription.
        Email(EmailTarget) = "email",
    }
    rejected {
        "slack" => "it needs a notifier function",
        "ms-teams" => "it needs a notifier function",
        "discord" => "it needs a notifier function",
        "webhook" => "it needs a notifier function",
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct EmailTarget {
    /// Not used: AWS sends from its own address. Reported as unused.
    pub sender: Text,
    /// Who receives the e-mail.
    pub recipient: Text,
}

tagged! {
    /// What an alarm watches.
    pub enum AlarmTrigger {
        /// Functions: the share of failed calls.
        LambdaErrorRate(PercentThreshold) = "lambda-error-rate",
        /// Functions: how long calls take.
        LambdaDuration(MillisecondsThreshold) = "lambda-duration",
        /// Databases: processor use.
        DatabaseCpuUtilization(PercentThreshold) = "database-cpu-utilization",
        /// Databases: free storage.
        DatabaseFreeStorage(MegabytesThreshold) = "database-free-storage",
        /// Databases: free memory.
        DatabaseFreeMemory(MegabytesThreshold) = "database-free-memory",
        /// Databases: open connections.
        DatabaseConnectionCount(CountThreshold) = "database-connection-count",
        /// Databases: how long reads take.
        DatabaseReadLatency(SecondsThreshold) = "database-read-latency",
        /// Databases: how long writes take.
        DatabaseWriteLatency(SecondsThreshold) = "database-write-latency",
        /// HTTP APIs: the share of failed requests.
        HttpApiGatewayErrorRate(PercentThreshold) = "http-api-gateway-error-rate",
        /// HTTP APIs: how long requests take.
        HttpApiGatewayLatency(MillisecondsThreshold) = "http-api-gateway-latency",
        /// Load balancers: the share of failed requests.
        LoadBalancerErrorRate(PercentThreshold) = "application-load-balancer-error-rate",
        /// Load balancers: the share of unhealthy targets.
        LoadBalancerUnhealthyTargets(UnhealthyTargets) = "application-load-balancer-unhealthy-targets",
        /// Load balancers: any metric of theirs.
        LoadBalancerCustom(CustomMetric) = "application-load-balancer-custom",
        /// Queues: received messages.
        SqsReceivedMessages(CountThreshold) = "sqs-queue-received-messages-count",
        /// Queues: messages are waiting.
        SqsNotEmpty(NotEmpty) = "sqs-queue-not-empty",
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct PercentThreshold {
    /// The threshold in percent.
    #[schemars(range(min = 0, max = 100))]
    pub threshold_percent: f64,
    /// How the values of a period become one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub statistic: Option<Statistic>,
    /// How the value is compared.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub comparison_operator: Option<Comparison>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct MillisecondsThreshold {
    /// The threshold in milliseconds.
    #[schemars(range(min = 0))]
    pub threshold_milliseconds: f64,
    /// How the values of a period become one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub statistic: Option<Statistic>,
    /// How the value is compared.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub comparison_operator: Option<Comparison>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SecondsThreshold {
    /// The threshold in seconds.
    #[schemars(range(min = 0))]
    pub threshold_seconds: f64,
    /// How the values of a period become one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub statistic: Option<Statistic>,
    /// How the value is compared.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub comparison_operator: Option<Comparison>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct MegabytesThreshold {
    /// The threshold in megabytes.
    #[serde(rename = "thresholdMB")]
    #[schemars(range(min = 0))]
    pub threshold_mb: f64,
    /// How the values of a period become one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub statistic: Option<Statistic>,
    /// How the value is compared.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub comparison_operator: Option<Comparison>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct CountThreshold {
    /// The threshold.
    #[schemars(range(min = 0))]
    pub threshold_count: f64,
    /// How the values of a period become one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub statistic: Option<Statistic>,
    /// How the value is compared.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub comparison_operator: Option<Comparison>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct UnhealthyTargets {
    /// The threshold in percent.
    #[schemars(range(min = 0, max = 100))]
    pub threshold_percent: f64,
    /// The services whose containers count; all without.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub only_include_targets: Option<Vec<String>>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct CustomMetric {
    /// The metric's name, such as `HTTPCode_Target_5XX_Count`.
    pub metric: String,
    /// The threshold.
    pub threshold: f64,
    /// How the values of a period become one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub statistic: Option<Statistic>,
    /// How the value is compared.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub comparison_operator: Option<Comparison>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct NotEmpty {}

/// How the values of a period become one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Statistic {
    Avg,
    Max,
    Min,
    P90,
    P95,
    P99,
    Sum,
}

/// How a value is compared with a threshold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum Comparison {
    GreaterThanOrEqualToThreshold,
    GreaterThanThreshold,
    LessThanOrEqualToThreshold,
    LessThanThreshold,
}
