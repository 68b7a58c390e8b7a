//! Tables, buckets and queues of a config at emulators of AWS, as they are when a session starts:
//! created where they are absent, brought to the config's settings where they are there.
//!
//! Not here: which services have an emulator (windlass-stack-dev), the AWS of a deployment.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use futures::future::join_all;
use serde_json::{Value, json};
use windlass_ports::BoxFuture;
use windlass_ports::aws::{
    ActionShape, AwsFailure, Cloud, Place, ServiceShape, SignedCall, Target, services,
};
use windlass_stack_config::model::ResourceKind;
use windlass_stack_config::model::database::{DynamoDbTable, KeyAttribute, KeyType, StreamType};
use windlass_stack_config::model::messaging::{RedrivePolicy, SqsQueue};
use windlass_stack_config::model::storage::Bucket;
use windlass_stack_dev::{DevPlan, Emulated, Provisioned};
use windlass_types::{Digest, Problem, code};

/// How long everything at the emulators may take.
const TIME: Duration = Duration::from_secs(30);

type Params = BTreeMap<String, String>;

/// Emulators, called with the credentials that workloads call them with.
pub(super) struct AtEmulators {
    pub cloud: Arc<dyn Cloud>,
    pub target: Target,
}

impl Emulated for AtEmulators {
    fn provision<'a>(&'a self, plan: &'a DevPlan) -> BoxFuture<'a, Provisioned> {
        Box::pin(async move {
            let resources = plan.config.resources.iter();
            let wanted = resources.filter(|(name, resource)| {
                plan.is_chosen(name)
                    && !plan.is_remote(name)
                    && service(&resource.kind).is_some_and(|it| plan.emulator(it.name).is_some())
            });
            let work = wanted.map(|(name, resource)| async move {
                let work = self.resource(plan, name, &resource.kind);
                let outcome = match tokio::time::timeout(TIME, work).await {
                    Ok(outcome) => outcome.map_err(|failure| explained(&failure)),
                    Err(_) => Err(format!("it did not answer within {} s", TIME.as_secs())),
                };
                (name.clone(), outcome)
            });
            let mut outcomes: BTreeMap<_, _> = join_all(work).await.into_iter().collect();
            // Once all queues are there: two may leave their failures in each other.
            for (name, resource) in &plan.config.resources {
                if let ResourceKind::SqsQueue(queue) = &resource.kind
                    && let Some(redrive) = &queue.redrive_policy
                    && let Some(Ok(params)) = outcomes.get(name)
                    && let Err(why) = self.redrive(params, redrive, &outcomes).await
                {
                    outcomes.insert(name.clone(), Err(why));
                }
            }
            let named = outcomes.into_iter().map(|(name, outcome)| {
                let endpoint = plan.config.resources.get(&name);
                let endpoint = endpoint.and_then(|it| plan.emulator(service(&it.kind)?.name));
                let endpoint = endpoint.unwrap_or_default().to_owned();
                let outcome = outcome.map_err(|why| {
                    let message = format!("{name} could not be created at {endpoint}: {why}");
                    Problem::new(&code::UPSTREAM_ERROR, message).with("reason", "emulator")
                });
                (name, outcome)
            });
            named.collect()
        })
    }
}

/// The service of a resource that can be created.
fn service(kind: &ResourceKind) -> Option<&'static ServiceShape> {
    match kind {
        ResourceKind::DynamoDbTable(_) => Some(&services::DYNAMODB),
        ResourceKind::Bucket(_) => Some(&services::S3),
        ResourceKind::SqsQueue(_) => Some(&services::SQS),
        _ => None,
    }
}

fn explained(failure: &AwsFailure) -> String {
    match failure.status {
        Some(_) => failure.to_string(),
        None => format!("it does not answer ({})", failure.message),
    }
}

impl AtEmulators {
    async fn call(
        &self,
        service: &'static ServiceShape,
        action: &'static str,
        input: Value,
    ) -> Result<Value, AwsFailure> {
        self.send(ActionShape::new(service, action), input).await
    }

    async fn send(&self, shape: ActionShape, input: Value) -> Result<Value, AwsFailure> {
        self.cloud
            .call(&self.target, SignedCall::new(shape, input))
            .await
    }

    async fn resource(
        &self,
        plan: &DevPlan,
        name: &str,
        kind: &ResourceKind,
    ) -> Result<Params, AwsFailure> {
        let stack = format!("{}-{}", plan.project_name, plan.stage);
        match kind {
            ResourceKind::DynamoDbTable(table) => {
                self.table(bounded(format!("{stack}-{name}"), 255), table)
                    .await
            }
            ResourceKind::Bucket(bucket) => {
                self.bucket(bucket_name(&stack, name), &plan.region, bucket)
                    .await
            }
            ResourceKind::SqsQueue(queue) => {
                self.queue(queue_name(&stack, name, queue), queue).await
            }
            _ => Ok(Params::new()),
        }
    }

    async fn table(&self, name: String, table: &DynamoDbTable) -> Result<Params, AwsFailure> {
        let wanted = table_input(&name, table);
        let made = self
            .call(&services::DYNAMODB, "CreateTable", wanted.clone())
            .await;
        let described = match made {
            Ok(answer) => answer["TableDescription"].clone(),
            Err(failure) if failure.code == "ResourceInUseException" => {
                let asked = json!({ "TableName": name });
                let answer = self.call(&services::DYNAMODB, "DescribeTable", asked);
                let found = answer.await?["Table"].take();
                if !same_keys(&found, &wanted) {
                    return Err(AwsFailure {
                        message: format!(
                            "the table {name} is there with other keys; delete it and start again"
                        ),
                        ..failure
                    });
                }
                self.missing_indexes(&name, &found, &wanted).await?;
                found
            }
            Err(failure) => return Err(failure),
        };
        Ok(params([
            ("name", Some(name.as_str())),
            ("arn", described["TableArn"].as_str()),
            ("streamArn", described["LatestStreamArn"].as_str()),
        ]))
    }

    /// An index that the config has since the table was made.
    async fn missing_indexes(
        &self,
        name: &str,
        found: &Value,
        wanted: &Value,
    ) -> Result<(), AwsFailure> {
        let has = |index: &Value| {
            let known = found["GlobalSecondaryIndexes"].as_array();
            known
                .into_iter()
                .flatten()
                .any(|it| it["IndexName"] == index["IndexName"])
        };
        let indexes = wanted["GlobalSecondaryIndexes"].as_array();
        for index in indexes.into_iter().flatten().filter(|index| !has(index)) {
            let update = json!({
                "TableName": name,
                "AttributeDefinitions": wanted["AttributeDefinitions"],
                "GlobalSecondaryIndexUpdates": [{ "Create": index }],
            });
            self.call(&services::DYNAMODB, "UpdateTable", update)
                .await?;
        }
        Ok(())
    }

    async fn bucket(
        &self,
        name: String,
        region: &str,
        bucket: &Bucket,
    ) -> Result<Params, AwsFailure> {
        const CREATE: ActionShape = ActionShape::rest(
            &services::S3,
            "CreateBucket",
            "PUT",
            "/{Bucket}",
            &[("CreateBucketConfiguration", Place::Payload)],
        );
        const VERSION: ActionShape = ActionShape::rest(
            &services::S3,
            "PutBucketVersioning",
            "PUT",
            "/{Bucket}?versioning",
            &[("VersioningConfiguration", Place::Payload)],
        );
        let mut input = json!({ "Bucket": name });
        // The one region that must not be named.
        if region != "us-east-1" {
            input["CreateBucketConfiguration"] = json!({ "LocationConstraint": region });
        }
        match self.send(CREATE, input).await {
            Err(failure)
                if ["BucketAlreadyOwnedByYou", "BucketAlreadyExists"]
                    .contains(&failure.code.as_str()) => {}
            other => drop(other?),
        }
        if bucket.versioning {
            let input = json!({
                "Bucket": name, "VersioningConfiguration": { "Status": "Enabled" },
            });
            self.send(VERSION, input).await?;
        }
        let arn = format!("arn:aws:s3:::{name}");
        Ok(params([("name", Some(&*name)), ("arn", Some(&*arn))]))
    }

    async fn queue(&self, name: String, queue: &SqsQueue) -> Result<Params, AwsFailure> {
        // A queue that is there may have other settings; with none named it is found, not refused.
        let mut input = json!({ "QueueName": name });
        if queue.fifo_enabled {
            input["Attributes"] = json!({ "FifoQueue": "true" });
        }
        let mut made = self.call(&services::SQS, "CreateQueue", input).await?;
        let url = made["QueueUrl"].take();
        let settings = json!({ "QueueUrl": url, "Attributes": queue_settings(queue) });
        self.call(&services::SQS, "SetQueueAttributes", settings)
            .await?;
        let asked = json!({ "QueueUrl": url, "AttributeNames": ["QueueArn"] });
        let about = self
            .call(&services::SQS, "GetQueueAttributes", asked)
            .await?;
        Ok(params([
            ("name", Some(&*name)),
            ("url", url.as_str()),
            ("arn", about["Attributes"]["QueueArn"].as_str()),
        ]))
    }

    async fn redrive(
        &self,
        params: &Params,
        redrive: &RedrivePolicy,
        outcomes: &BTreeMap<String, Result<Params, String>>,
    ) -> Result<(), String> {
        let target = match (
            &redrive.target_sqs_queue_name,
            &redrive.target_sqs_queue_arn,
        ) {
            (Some(name), _) => match outcomes.get(name) {
                Some(Ok(target)) => target.get("arn").cloned(),
                _ => None,
            },
            (None, Some(arn)) => arn.literal().map(str::to_owned),
            (None, None) => None,
        };
        let Some(target) = target else {
            return Err("the queue for failed messages is not at the emulator".to_owned());
        };
        let policy = json!({
            "deadLetterTargetArn": target, "maxReceiveCount": redrive.max_receive_count,
        });
        let input = json!({
            "QueueUrl": params.get("url"), "Attributes": { "RedrivePolicy": policy.to_string() },
        });
        let set = self.call(&services::SQS, "SetQueueAttributes", input);
        set.await.map(drop).map_err(|failure| explained(&failure))
    }
}

fn params<const COUNT: usize>(pairs: [(&str, Option<&str>); COUNT]) -> Params {
    let known = pairs
        .into_iter()
        .filter_map(|(name, value)| Some((name, value?)));
    known
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .collect()
}

/// A name that is no longer than it may be, and different for different texts.
fn bounded(name: String, most: usize) -> String {
    if name.len() <= most {
        return name;
    }
    let hash = Digest::of(name.as_bytes()).to_string();
    let kept: String = name.chars().take(most - 9).collect();
    format!("{kept}-{}", &hash[..8])
}

fn bucket_name(stack: &str, name: &str) -> String {
    let plain = format!("{stack}-{name}").to_ascii_lowercase();
    let plain: String = plain
        .chars()
        .map(|letter| match letter {
            'a'..='z' | '0'..='9' => letter,
            _ => '-',
        })
        .collect();
    bounded(plain, 63).trim_matches('-').to_owned()
}

fn queue_name(stack: &str, name: &str, queue: &SqsQueue) -> String {
    let name = format!("{stack}-{name}");
    match queue.fifo_enabled {
        true => format!("{}.fifo", bounded(name, 75)),
        false => bounded(name, 80),
    }
}

fn key_schema(partition: &KeyAttribute, sort: Option<&KeyAttribute>) -> Vec<Value> {
    let sort = sort.map(|sort| json!({ "AttributeName": sort.name, "KeyType": "RANGE" }));
    [json!({ "AttributeName": partition.name, "KeyType": "HASH" })]
        .into_iter()
        .chain(sort)
        .collect()
}

/// What creates a table. Throughput is nothing an emulator has.
fn table_input(name: &str, table: &DynamoDbTable) -> Value {
    let primary = &table.primary_key;
    let of_indexes = table
        .secondary_indexes
        .iter()
        .flat_map(|index| [Some(&index.partition_key), index.sort_key.as_ref()]);
    let keys = [Some(&primary.partition_key), primary.sort_key.as_ref()];
    let attributes: BTreeMap<&str, &str> = keys
        .into_iter()
        .chain(of_indexes)
        .flatten()
        .map(|key| {
            let kind = match key.kind {
                KeyType::Binary => "B",
                KeyType::Number => "N",
                KeyType::String => "S",
            };
            (key.name.as_str(), kind)
        })
        .collect();
    let attributes: Vec<Value> = attributes
        .into_iter()
        .map(|(name, kind)| json!({ "AttributeName": name, "AttributeType": kind }))
        .collect();
    let mut input = json!({
        "TableName": name,
        "AttributeDefinitions": attributes,
        "KeySchema": key_schema(&primary.partition_key, primary.sort_key.as_ref()),
        "BillingMode": "PAY_PER_REQUEST",
    });
    let indexes: Vec<Value> = table
        .secondary_indexes
        .iter()
        .map(|index| {
            let projection = match &index.projections {
                Some(names) => json!({ "ProjectionType": "INCLUDE", "NonKeyAttributes": names }),
                None => json!({ "ProjectionType": "ALL" }),
            };
            json!({
                "IndexName": index.name,
                "KeySchema": key_schema(&index.partition_key, index.sort_key.as_ref()),
                "Projection": projection,
            })
        })
        .collect();
    if !indexes.is_empty() {
        input["GlobalSecondaryIndexes"] = json!(indexes);
    }
    if let Some(kind) = table.stream_type {
        let view = match kind {
            StreamType::KeysOnly => "KEYS_ONLY",
            StreamType::NewAndOldImages => "NEW_AND_OLD_IMAGES",
            StreamType::NewImage => "NEW_IMAGE",
            StreamType::OldImage => "OLD_IMAGE",
        };
        input["StreamSpecification"] = json!({ "StreamEnabled": true, "StreamViewType": view });
    }
    input
}

/// Whether a table that is there has the keys of the config, with their types.
fn same_keys(found: &Value, wanted: &Value) -> bool {
    let keys = |table: &Value| -> Vec<(Value, Value, Value)> {
        let schema = table["KeySchema"].as_array();
        let mut keys: Vec<_> = schema
            .into_iter()
            .flatten()
            .map(|key| {
                let attributes = table["AttributeDefinitions"].as_array();
                let mut attributes = attributes.into_iter().flatten();
                let about = attributes.find(|it| it["AttributeName"] == key["AttributeName"]);
                let kind = about.map_or(Value::Null, |it| it["AttributeType"].clone());
                (key["KeyType"].clone(), key["AttributeName"].clone(), kind)
            })
            .collect();
        keys.sort_by_key(|(role, ..)| role.to_string());
        keys
    };
    keys(found) == keys(wanted)
}

/// The attributes of a queue that can be set at any time.
fn queue_settings(queue: &SqsQueue) -> BTreeMap<&'static str, String> {
    let mut settings = BTreeMap::from([
        ("DelaySeconds", queue.delay_messages_second.to_string()),
        (
            "MaximumMessageSize",
            queue.max_message_size_bytes.to_string(),
        ),
        (
            "MessageRetentionPeriod",
            queue.message_retention_period_seconds.to_string(),
        ),
        (
            "ReceiveMessageWaitTimeSeconds",
            queue.long_polling_seconds.to_string(),
        ),
        (
            "VisibilityTimeout",
            queue.visibility_timeout_seconds.to_string(),
        ),
    ]);
    if queue.fifo_enabled {
        let by_content = queue.content_based_deduplication.unwrap_or_default();
        settings.insert("ContentBasedDeduplication", by_content.to_string());
        if queue.fifo_high_throughput == Some(true) {
            settings.insert("DeduplicationScope", "messageGroup".to_owned());
            settings.insert("FifoThroughputLimit", "perMessageGroupId".to_owned());
        }
    }
    settings
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_bounded_and_stay_different() {
        let queue: SqsQueue = serde_json::from_value(json!({ "fifoEnabled": true })).unwrap();
        assert_eq!(queue_name("shop-dev", "jobs", &queue), "shop-dev-jobs.fifo");
        let (one, other) = ("a".repeat(90), format!("{}b", "a".repeat(89)));
        let names = [&one, &other].map(|it| queue_name("shop-dev", it, &queue));
        assert!(names.iter().all(|it| it.len() == 80) && names[0] != names[1]);
        assert_eq!(bucket_name("shop-dev", "userFiles"), "shop-dev-userfiles");
    }

    #[test]
    fn a_table_with_other_keys_is_another_table() {
        let table = |kind: &str, sort: Option<&str>| -> Value {
            let sort = sort.map(|name| json!({ "name": name, "type": "number" }));
            let table = json!({ "primaryKey": {
                "partitionKey": { "name": "id", "type": kind }, "sortKey": sort,
            } });
            table_input("t", &serde_json::from_value(table).unwrap())
        };
        let wanted = table("string", Some("at"));
        assert!(same_keys(&table("string", Some("at")), &wanted));
        assert!(!same_keys(&table("number", Some("at")), &wanted));
        assert!(!same_keys(&table("string", Some("time")), &wanted));
        assert!(!same_keys(&table("string", None), &wanted));
    }
}
