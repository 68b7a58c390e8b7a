//! One resource: its type, its properties, and changes to what CloudFormation gets.

use std::borrow::Cow;
use std::collections::BTreeMap;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use serde_json::{Map, Value, json};

use super::auth::UserAuthPool;
use super::common::{EnvironmentVariable, IamRoleStatement};
use super::container::{
    BatchJob, ContainerService, MultiContainerWorkload, PrivateService, WebService, WorkerService,
};
use super::database::{DynamoDbTable, OpenSearchDomain, RedisCluster, RelationalDatabase};
use super::function::{
    CustomResourceDefinition, CustomResourceInstance, DeploymentScript, Function,
};
use super::messaging::{EventBus, KinesisStream, SnsTopic, SqsQueue, StateMachine};
use super::network::{ApplicationLoadBalancer, Bastion, HttpApiGateway};
use super::storage::{Bucket, HostingBucket};
use crate::tagged::tagged;
use crate::value::DataMap;

/// Changes to CloudFormation resources: logical id → path → value.
pub type Overrides = BTreeMap<String, DataMap>;

/// One resource of a stack.
#[derive(Clone, Debug, PartialEq)]
pub struct Resource {
    /// Its type and properties.
    pub kind: ResourceKind,
    /// Changes to the CloudFormation resources made from it.
    pub overrides: Overrides,
}

tagged! {
    /// The type and properties of a resource.
    pub enum ResourceKind {
        /// A Lambda function.
        Function(Function) = "function",
        /// An HTTP API.
        HttpApiGateway(HttpApiGateway) = "http-api-gateway",
        /// A container that serves the internet.
        WebService(WebService) = "web-service",
        /// A container that serves other resources of the stack.
        PrivateService(PrivateService) = "private-service",
        /// A container that works without being called.
        WorkerService(WorkerService) = "worker-service",
        /// Several containers that run together.
        MultiContainerWorkload(MultiContainerWorkload) = "multi-container-workload",
        /// A container that runs to its end.
        BatchJob(BatchJob) = "batch-job",
        /// A DynamoDB table.
        DynamoDbTable(DynamoDbTable) = "dynamo-db-table",
        /// A relational database.
        RelationalDatabase(RelationalDatabase) = "relational-database",
        /// A Redis cluster.
        RedisCluster(RedisCluster) = "redis-cluster",
        /// An S3 bucket.
        Bucket(Bucket) = "bucket",
        /// A website: files in a bucket behind a content delivery network.
        HostingBucket(HostingBucket) = "hosting-bucket",
        /// An SQS queue.
        SqsQueue(SqsQueue) = "sqs-queue",
        /// An SNS topic.
        SnsTopic(SnsTopic) = "sns-topic",
        /// An event bus.
        EventBus(EventBus) = "event-bus",
        /// A Kinesis stream.
        KinesisStream(KinesisStream) = "kinesis-stream",
        /// A Step Functions state machine.
        StateMachine(StateMachine) = "state-machine",
        /// A Cognito user pool with a client.
        UserAuthPool(UserAuthPool) = "user-auth-pool",
        /// An OpenSearch domain.
        OpenSearchDomain(OpenSearchDomain) = "open-search-domain",
        /// An application load balancer.
        ApplicationLoadBalancer(ApplicationLoadBalancer) = "application-load-balancer",
        /// A small machine through which what is only inside the network can be reached.
        Bastion(Bastion) = "bastion",
        /// A function that runs during a deploy or a delete.
        DeploymentScript(DeploymentScript) = "deployment-script",
        /// A function that creates, updates and deletes things CloudFormation does not know.
        CustomResourceDefinition(CustomResourceDefinition) = "custom-resource-definition",
        /// One resource that a custom resource definition handles.
        CustomResourceInstance(CustomResourceInstance) = "custom-resource-instance",
    }
    rejected {
        "edge-lambda-function" => "functions at the edge are not supported yet",
        "nextjs-web" => "use a web-service, or a hosting-bucket for a static export",
        "astro-web" => "use a web-service, or a hosting-bucket for a static build",
        "nuxt-web" => "use a web-service, or a hosting-bucket for a static build",
        "sveltekit-web" => "use a web-service, or a hosting-bucket for a static build",
        "solidstart-web" => "use a web-service, or a hosting-bucket for a static build",
        "tanstack-web" => "use a web-service, or a hosting-bucket for a static build",
        "remix-web" => "use a web-service",
        "mongo-db-atlas-cluster" => "other providers' databases are not supported yet",
        "upstash-redis" => "use a redis-cluster",
        "efs-filesystem" => "file systems are not supported yet",
        "network-load-balancer" => "use an application-load-balancer",
        "web-app-firewall" => "firewalls are not supported yet",
        "aws-cdk-construct" => "use cloudformationResources",
        "convex" => "Convex is not supported yet",
        "agentcore-runtime" => "Bedrock AgentCore is not supported yet",
        "agentcore-memory" => "Bedrock AgentCore is not supported yet",
        "agentcore-gateway" => "Bedrock AgentCore is not supported yet",
        "agentcore-browser" => "Bedrock AgentCore is not supported yet",
        "agentcore-code-interpreter" => "Bedrock AgentCore is not supported yet",
    }
}

impl Resource {
    /// The type as it is written.
    pub fn type_name(&self) -> &'static str {
        self.kind.type_name()
    }
}

impl ResourceKind {
    /// What a service is, whichever kind it is.
    pub fn as_service(&self) -> Option<&dyn ContainerService> {
        match self {
            Self::WebService(service) => Some(&**service),
            Self::PrivateService(service) => Some(&**service),
            Self::WorkerService(service) => Some(&**service),
            _ => None,
        }
    }

    /// Resources it uses.
    pub fn connect_to(&self) -> &[String] {
        match self {
            Self::Function(function) => &function.connect_to,
            Self::WebService(service) => &service.connect_to,
            Self::PrivateService(service) => &service.connect_to,
            Self::WorkerService(service) => &service.connect_to,
            Self::MultiContainerWorkload(workload) => &workload.connect_to,
            Self::BatchJob(job) => &job.connect_to,
            Self::DeploymentScript(script) => &script.connect_to,
            Self::CustomResourceDefinition(definition) => &definition.connect_to,
            _ => &[],
        }
    }

    /// Further permissions it asks for.
    pub fn iam_role_statements(&self) -> &[IamRoleStatement] {
        match self {
            Self::Function(function) => &function.iam_role_statements,
            Self::WebService(service) => &service.iam_role_statements,
            Self::PrivateService(service) => &service.iam_role_statements,
            Self::WorkerService(service) => &service.iam_role_statements,
            Self::MultiContainerWorkload(workload) => &workload.iam_role_statements,
            Self::BatchJob(job) => &job.iam_role_statements,
            Self::DeploymentScript(script) => &script.iam_role_statements,
            Self::CustomResourceDefinition(definition) => &definition.iam_role_statements,
            _ => &[],
        }
    }

    /// Environment variables, where the resource has one set of them.
    pub fn environment(&self) -> &[EnvironmentVariable] {
        match self {
            Self::Function(function) => &function.environment,
            Self::WebService(service) => &service.environment,
            Self::PrivateService(service) => &service.environment,
            Self::WorkerService(service) => &service.environment,
            Self::BatchJob(job) => &job.container.environment,
            Self::DeploymentScript(script) => &script.environment,
            Self::CustomResourceDefinition(definition) => &definition.environment,
            _ => &[],
        }
    }

    /// Whether it keeps data that is lost with it.
    pub fn is_stateful(&self) -> bool {
        matches!(
            self,
            Self::RelationalDatabase(_)
                | Self::DynamoDbTable(_)
                | Self::RedisCluster(_)
                | Self::Bucket(_)
                | Self::HostingBucket(_)
                | Self::UserAuthPool(_)
                | Self::OpenSearchDomain(_)
        )
    }

    /// Whether local development uses the deployed resource.
    pub fn is_remote_in_dev(&self) -> bool {
        match self {
            Self::Function(it) => it.dev.remote,
            Self::WebService(it) => it.dev.remote,
            Self::PrivateService(it) => it.dev.remote,
            Self::WorkerService(it) => it.dev.remote,
            Self::MultiContainerWorkload(it) => it.dev.remote,
            Self::BatchJob(it) => it.dev.remote,
            Self::DynamoDbTable(it) => it.dev.remote,
            Self::RelationalDatabase(it) => it.dev.remote,
            Self::RedisCluster(it) => it.dev.remote,
            Self::Bucket(it) => it.dev.remote,
            Self::SqsQueue(it) => it.dev.remote,
            Self::SnsTopic(it) => it.dev.remote,
            Self::EventBus(it) => it.dev.remote,
            Self::KinesisStream(it) => it.dev.remote,
            Self::StateMachine(it) => it.dev.remote,
            Self::UserAuthPool(it) => it.dev.remote,
            Self::OpenSearchDomain(it) => it.dev.remote,
            Self::HttpApiGateway(_)
            | Self::HostingBucket(_)
            | Self::ApplicationLoadBalancer(_)
            | Self::Bastion(_)
            | Self::DeploymentScript(_)
            | Self::CustomResourceDefinition(_)
            | Self::CustomResourceInstance(_) => false,
        }
    }
}

impl Serialize for Resource {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        use serde::ser::Error as _;
        let mut value = serde_json::to_value(&self.kind).map_err(S::Error::custom)?;
        if let (Value::Object(object), false) = (&mut value, self.overrides.is_empty()) {
            object.insert("overrides".to_owned(), json!(self.overrides));
        }
        value.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Resource {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut object: Map<String, Value> = Deserialize::deserialize(deserializer)?;
        let overrides = match object.remove("overrides") {
            Some(value) => serde_json::from_value(value).map_err(de::Error::custom)?,
            None => Overrides::new(),
        };
        let kind = serde_json::from_value(Value::Object(object)).map_err(de::Error::custom)?;
        Ok(Self { kind, overrides })
    }
}

impl JsonSchema for Resource {
    fn schema_name() -> Cow<'static, str> {
        "Resource".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let mut schema = <ResourceKind as JsonSchema>::json_schema(generator);
        let alternatives = schema.get_mut("oneOf").and_then(Value::as_array_mut);
        for alternative in alternatives.into_iter().flatten() {
            alternative["properties"]["overrides"] = json!({
                "description": "Changes to the CloudFormation resources created from this one: \
                    logical id, then path of a property, then value.",
                "type": "object",
                "additionalProperties": {
                    "type": "object",
                    "additionalProperties": { crate::value::TAKES_RUNTIME: true },
                },
            });
        }
        schema
    }
}
