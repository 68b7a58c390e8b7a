//! What starts a function, a batch job or a container.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::defaults::number;
use crate::tagged::tagged;
use crate::value::{Data, DataMap, Text};

tagged! {
    /// What starts a function or a batch job.
    pub enum Event {
        /// A request to an HTTP API.
        HttpApiGateway(HttpApiEvent) = "http-api-gateway",
        /// A request to a load balancer.
        ApplicationLoadBalancer(LoadBalancerEvent) = "application-load-balancer",
        /// Messages in a queue.
        Sqs(SqsEvent) = "sqs",
        /// A time or an interval.
        Schedule(ScheduleEvent) = "schedule",
        /// A change in a bucket.
        S3(S3Event) = "s3",
        /// A message to a topic.
        Sns(SnsEvent) = "sns",
        /// Changes of a DynamoDB table.
        DynamoDbStream(DynamoDbStreamEvent) = "dynamo-db-stream",
        /// Records of a Kinesis stream.
        KinesisStream(KinesisStreamEvent) = "kinesis-stream",
        /// An event on an event bus.
        EventBus(EventBusEvent) = "event-bus",
        /// A line in a log group.
        CloudwatchLog(CloudwatchLogEvent) = "cloudwatch-log",
        /// An alarm that changes its state.
        CloudwatchAlarm(CloudwatchAlarmEvent) = "cloudwatch-alarm",
    }
    rejected {
        "kafka-topic" => "Kafka topics are not supported yet",
        "iot" => "IoT rules are not supported yet",
    }
}

tagged! {
    /// What reaches a container of a workload.
    pub enum ContainerEvent {
        /// A request to an HTTP API.
        HttpApiGateway(ContainerHttpApiEvent) = "http-api-gateway",
        /// A request to a load balancer.
        ApplicationLoadBalancer(ContainerLoadBalancerEvent) = "application-load-balancer",
        /// Another container of the same workload.
        WorkloadInternal(WorkloadInternalEvent) = "workload-internal",
        /// Another workload of the same stack.
        ServiceConnect(ServiceConnectEvent) = "service-connect",
    }
    rejected {
        "network-load-balancer" => "it needs network-load-balancer",
    }
}

tagged! {
    /// What starts a queue's messages: events of a bus sent into the queue.
    pub enum QueueEvent {
        /// An event on an event bus.
        EventBus(EventBusEvent) = "event-bus",
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct HttpApiEvent {
    /// The API's name in this config.
    pub http_api_gateway_name: String,
    /// The method, or `*` for all.
    pub method: RouteMethod,
    /// The path, such as `/orders/{id}`, or `*` for everything else.
    pub path: String,
    /// Who may call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub authorizer: Option<Authorizer>,
    /// The form of the event the function receives.
    #[serde(default)]
    pub payload_format: PayloadFormat,
}

/// A method of a route.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "UPPERCASE")]
pub enum RouteMethod {
    #[serde(rename = "*")]
    Any,
    Delete,
    Get,
    Head,
    Options,
    Patch,
    Post,
    Put,
}

impl RouteMethod {
    /// As it is written: `GET`, or `*`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Any => "*",
            Self::Delete => "DELETE",
            Self::Get => "GET",
            Self::Head => "HEAD",
            Self::Options => "OPTIONS",
            Self::Patch => "PATCH",
            Self::Post => "POST",
            Self::Put => "PUT",
        }
    }
}

/// The form of the event of an HTTP API.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
pub enum PayloadFormat {
    #[default]
    #[serde(rename = "1.0")]
    V1,
    #[serde(rename = "2.0")]
    V2,
}

tagged! {
    /// Who may call a route.
    pub enum Authorizer {
        /// Users of a user pool, by their token.
        Cognito(CognitoAuthorizer) = "cognito",
        /// Callers that a function accepts.
        Lambda(LambdaAuthorizer) = "lambda",
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct CognitoAuthorizer {
    /// The user pool's name in this config.
    pub user_pool_name: String,
    /// Where the token is: the `Authorization` header without.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub identity_sources: Option<Vec<String>>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct LambdaAuthorizer {
    /// The function's name in this config.
    pub function_name: String,
    /// The function answers with an IAM policy instead of yes or no.
    #[serde(default)]
    pub iam_response: bool,
    /// What the function is asked about: the `Authorization` header without.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub identity_sources: Option<Vec<String>>,
    /// For how many seconds an answer is remembered.
    #[serde(default)]
    pub cache_result_seconds: u32,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ContainerHttpApiEvent {
    /// The container's port.
    pub container_port: u16,
    /// The API's name in this config.
    pub http_api_gateway_name: String,
    /// The method, or `*` for all.
    pub method: RouteMethod,
    /// The path, such as `/orders/{id}`, or `*` for everything else.
    pub path: String,
    /// Who may call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub authorizer: Option<Authorizer>,
    /// The form of the event.
    #[serde(default)]
    pub payload_format: PayloadFormat,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct LoadBalancerEvent {
    /// The load balancer's name in this config.
    pub load_balancer_name: String,
    /// Rules are tried from the lowest number up.
    #[schemars(range(min = 1, max = 50_000))]
    pub priority: u32,
    /// The listener's port; needed when the load balancer has its own listeners.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub listener_port: Option<u16>,
    /// Paths, with `*` and `?`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub paths: Option<Vec<String>>,
    /// Methods.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub methods: Option<Vec<String>>,
    /// Host names, with `*` and `?`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hosts: Option<Vec<String>>,
    /// Headers that must have one of these values.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub headers: Option<Vec<HeaderCondition>>,
    /// Query parameters that must have one of these values.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub query_params: Option<Vec<QueryCondition>>,
    /// Address ranges of callers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source_ips: Option<Vec<String>>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ContainerLoadBalancerEvent {
    /// The container's port.
    pub container_port: u16,
    /// The load balancer's name in this config.
    pub load_balancer_name: String,
    /// Rules are tried from the lowest number up.
    #[schemars(range(min = 1, max = 50_000))]
    pub priority: u32,
    /// The listener's port; needed when the load balancer has its own listeners.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub listener_port: Option<u16>,
    /// Paths, with `*` and `?`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub paths: Option<Vec<String>>,
    /// Methods.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub methods: Option<Vec<String>>,
    /// Host names, with `*` and `?`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hosts: Option<Vec<String>>,
    /// Headers that must have one of these values.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub headers: Option<Vec<HeaderCondition>>,
    /// Query parameters that must have one of these values.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub query_params: Option<Vec<QueryCondition>>,
    /// Address ranges of callers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source_ips: Option<Vec<String>>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct HeaderCondition {
    /// The header's name.
    pub header_name: String,
    /// Values, with `*` and `?`.
    pub values: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct QueryCondition {
    /// The parameter's name.
    pub param_name: String,
    /// Values, with `*` and `?`.
    pub values: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct WorkloadInternalEvent {
    /// The container's port.
    pub container_port: u16,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ServiceConnectEvent {
    /// The container's port.
    pub container_port: u16,
    /// The name others call it by: the workload's and container's names without.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub alias: Option<String>,
    /// The protocol, for metrics.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub protocol: Option<ServiceProtocol>,
}

/// A protocol between services.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ServiceProtocol {
    Http,
    Http2,
    Grpc,
}

/// Either the name of a queue of this config or the ARN of another.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SqsEvent {
    /// The queue's name in this config.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sqs_queue_name: Option<String>,
    /// The ARN of another queue.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sqs_queue_arn: Option<Text>,
    /// The most messages at once.
    #[serde(default = "number::<10>")]
    #[schemars(range(min = 1, max = 10_000))]
    pub batch_size: u32,
    /// For how many seconds messages are gathered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(max = 300))]
    pub max_batch_window_seconds: Option<u32>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ScheduleEvent {
    /// `rate(5 minutes)` or `cron(0 12 * * ? *)`.
    #[schemars(length(min = 1))]
    pub schedule_rate: String,
    /// What the function receives instead of the event.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input: Option<Data>,
    /// The part of the event the function receives.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input_path: Option<String>,
    /// How the function's input is built from the event.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input_transformer: Option<InputTransformer>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct InputTransformer {
    /// Names for parts of the event.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input_paths_map: Option<std::collections::BTreeMap<String, String>>,
    /// The input, with `<name>` where a part goes.
    pub input_template: Data,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct S3Event {
    /// The bucket's ARN: `$ResourceParam('bucketName', 'arn')`.
    pub bucket_arn: Text,
    /// The kind of change, such as `s3:ObjectCreated:*`.
    #[schemars(regex(pattern = "^s3:"))]
    pub s3_event_type: String,
    /// Which keys.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub filter_rule: Option<S3Filter>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct S3Filter {
    /// The prefix of the key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prefix: Option<String>,
    /// What the key ends with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub suffix: Option<String>,
}

/// Either the name of a topic of this config or the ARN of another.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SnsEvent {
    /// The topic's name in this config.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sns_topic_name: Option<String>,
    /// The ARN of another topic.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sns_topic_arn: Option<Text>,
    /// Which messages, by their attributes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub filter_policy: Option<Data>,
    /// Where messages go that could not be delivered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub on_delivery_failure: Option<DeliveryFailure>,
}

/// Either the name of a queue of this config or the ARN of another.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct DeliveryFailure {
    /// The queue's name in this config.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sqs_queue_name: Option<String>,
    /// The ARN of another queue.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sqs_queue_arn: Option<Text>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct DynamoDbStreamEvent {
    /// The stream's ARN: `$ResourceParam('tableName', 'streamArn')`.
    pub stream_arn: Text,
    /// The most records at once.
    #[serde(default = "number::<100>")]
    #[schemars(range(min = 1, max = 10_000))]
    pub batch_size: u32,
    /// Where reading starts.
    #[serde(default)]
    pub starting_position: StartingPosition,
    /// For how many seconds records are gathered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(max = 300))]
    pub max_batch_window_seconds: Option<u32>,
    /// How often a failed batch is tried again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(max = 10_000))]
    pub maximum_retry_attempts: Option<u32>,
    /// Where batches go that failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub on_failure: Option<StreamFailure>,
    /// How many batches of one shard at once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 10))]
    pub parallelization_factor: Option<u32>,
    /// Split a failed batch in two.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bisect_batch_on_function_error: Option<bool>,
}

/// Either the name of a stream of this config or the ARN of another.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct KinesisStreamEvent {
    /// The stream's name in this config.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kinesis_stream_name: Option<String>,
    /// The ARN of another stream.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stream_arn: Option<Text>,
    /// A consumer that exists.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub consumer_arn: Option<Text>,
    /// Create a consumer with its own throughput.
    #[serde(default)]
    pub auto_create_consumer: bool,
    /// The most records at once.
    #[serde(default = "number::<10>")]
    #[schemars(range(min = 1, max = 10_000))]
    pub batch_size: u32,
    /// Where reading starts.
    #[serde(default)]
    pub starting_position: StartingPosition,
    /// For how many seconds records are gathered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(max = 300))]
    pub max_batch_window_seconds: Option<u32>,
    /// How often a failed batch is tried again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(max = 10_000))]
    pub maximum_retry_attempts: Option<u32>,
    /// Where batches go that failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub on_failure: Option<StreamFailure>,
    /// How many batches of one shard at once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 10))]
    pub parallelization_factor: Option<u32>,
    /// Split a failed batch in two.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bisect_batch_on_function_error: Option<bool>,
}

/// Where reading of a stream starts.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
pub enum StartingPosition {
    #[serde(rename = "LATEST")]
    Latest,
    #[default]
    #[serde(rename = "TRIM_HORIZON")]
    TrimHorizon,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct StreamFailure {
    /// The ARN of the queue or topic.
    pub arn: Text,
    /// Which of the two it is.
    #[serde(rename = "type")]
    pub kind: StreamFailureKind,
}

/// Where failed batches of a stream may go.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum StreamFailureKind {
    Sns,
    Sqs,
}

/// Exactly one of a bus of this config, the ARN of another, or the account's default bus.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct EventBusEvent {
    /// The bus's name in this config.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub event_bus_name: Option<String>,
    /// The ARN of another bus.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub event_bus_arn: Option<Text>,
    /// Use the account's default bus.
    #[serde(default)]
    pub use_default_bus: bool,
    /// Which events.
    pub event_pattern: DataMap,
    /// Where events go that could not be delivered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub on_delivery_failure: Option<DeliveryFailure>,
    /// What the target receives instead of the event.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input: Option<Data>,
    /// The part of the event the target receives.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input_path: Option<String>,
    /// How the target's input is built from the event.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input_transformer: Option<InputTransformer>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct CloudwatchLogEvent {
    /// The log group's ARN.
    pub log_group_arn: Text,
    /// Which lines; all without.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub filter: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct CloudwatchAlarmEvent {
    /// The alarm's name.
    pub alarm_name: Text,
}
