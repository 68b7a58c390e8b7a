//! Which metrics a resource has: the namespace and the dimensions, by its type.

use serde_json::{Map, Value, json};
use windlass_ports::aws::{Stack, StackResource};
use windlass_types::Problem;

use crate::call::Call;
use crate::ecs;
use crate::failure::aws_problem;
use crate::names::{self, Found};
use crate::shapes::{list, reading};

/// Where a resource's metrics are.
#[derive(Debug)]
pub(super) struct Of {
    pub(super) namespace: String,
    pub(super) dimensions: Vec<(String, String)>,
    /// The region they are kept in, where that is not the stack's.
    pub(super) region: Option<&'static str>,
}

impl Of {
    fn new(namespace: &str, dimensions: &[(&str, &str)]) -> Self {
        Self {
            namespace: namespace.to_owned(),
            dimensions: dimensions
                .iter()
                .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
                .collect(),
            region: None,
        }
    }

    pub(super) fn raw(namespace: &str, dimensions: &Map<String, Value>) -> Self {
        Self {
            namespace: namespace.to_owned(),
            dimensions: dimensions
                .iter()
                .map(|(name, value)| (name.clone(), value.as_str().unwrap_or_default().to_owned()))
                .collect(),
            region: None,
        }
    }
}

/// Types with metrics; where a config's resource makes several, the first is meant.
const TYPES: &[&str] = &[
    "AWS::Lambda::Function",
    ecs::SERVICE,
    "AWS::ApiGatewayV2::Api",
    "AWS::RDS::DBCluster",
    "AWS::RDS::DBInstance",
    "AWS::DynamoDB::GlobalTable",
    "AWS::DynamoDB::Table",
    "AWS::ElastiCache::ReplicationGroup",
    "AWS::SQS::Queue",
    "AWS::SNS::Topic",
    "AWS::Events::EventBus",
    "AWS::Events::Rule",
    "AWS::Kinesis::Stream",
    "AWS::StepFunctions::StateMachine",
    "AWS::OpenSearchService::Domain",
    "AWS::ElasticLoadBalancingV2::LoadBalancer",
    "AWS::S3::Bucket",
    "AWS::CloudFront::Distribution",
    "AWS::Cognito::UserPool",
];

pub(super) async fn find(
    call: &Call<'_>,
    resources: &[StackResource],
    stack: &Stack,
    name: &str,
    metric: &str,
) -> Result<Of, Problem> {
    let found = names::find(resources, &stack.stack_name, name, TYPES)?;
    match found.kind.as_str() {
        ecs::SERVICE => {
            let service = ecs::service(&found, resources)?;
            Ok(Of::new(
                "AWS/ECS",
                &[
                    ("ClusterName", &service.cluster),
                    ("ServiceName", &service.name),
                ],
            ))
        }
        // Its metrics are those of its nodes; the first is the primary unless it failed over.
        "AWS::ElastiCache::ReplicationGroup" => {
            let described = call
                .aws(
                    reading("elasticache", "DescribeReplicationGroups")?,
                    json!({ "ReplicationGroupId": found.physical_id }),
                )
                .await
                .map_err(|failure| aws_problem(&failure))?;
            let member = list(&described, "ReplicationGroups")
                .first()
                .and_then(|group| list(group, "MemberClusters").first())
                .and_then(Value::as_str)
                .unwrap_or(&found.physical_id);
            Ok(Of::new("AWS/ElastiCache", &[("CacheClusterId", member)]))
        }
        _ => Ok(plain(&found, stack, metric)),
    }
}

fn plain(found: &Found, stack: &Stack, metric: &str) -> Of {
    let id = found.physical_id.as_str();
    let last = |separator: char| id.rsplit(separator).next().unwrap_or(id);
    match found.kind.as_str() {
        "AWS::Lambda::Function" => Of::new("AWS/Lambda", &[("FunctionName", id)]),
        "AWS::ApiGatewayV2::Api" => Of::new("AWS/ApiGateway", &[("ApiId", id)]),
        "AWS::RDS::DBCluster" => Of::new("AWS/RDS", &[("DBClusterIdentifier", id)]),
        "AWS::RDS::DBInstance" => Of::new("AWS/RDS", &[("DBInstanceIdentifier", id)]),
        "AWS::SQS::Queue" => Of::new("AWS/SQS", &[("QueueName", last('/'))]),
        "AWS::SNS::Topic" => Of::new("AWS/SNS", &[("TopicName", last(':'))]),
        "AWS::Events::EventBus" => Of::new("AWS/Events", &[("EventBusName", id)]),
        "AWS::Events::Rule" => Of::new("AWS/Events", &[("RuleName", last('|'))]),
        "AWS::Kinesis::Stream" => Of::new("AWS/Kinesis", &[("StreamName", id)]),
        "AWS::StepFunctions::StateMachine" => Of::new("AWS/States", &[("StateMachineArn", id)]),
        "AWS::OpenSearchService::Domain" => {
            let account = stack.stack_id.split(':').nth(4).unwrap_or_default();
            Of::new("AWS/ES", &[("DomainName", id), ("ClientId", account)])
        }
        "AWS::ElasticLoadBalancingV2::LoadBalancer" => {
            let name = id.split_once(":loadbalancer/").map_or(id, |(_, name)| name);
            Of::new("AWS/ApplicationELB", &[("LoadBalancer", name)])
        }
        "AWS::S3::Bucket" => {
            let storage = if metric == "BucketSizeBytes" {
                "StandardStorage"
            } else {
                "AllStorageTypes"
            };
            Of::new("AWS/S3", &[("BucketName", id), ("StorageType", storage)])
        }
        "AWS::CloudFront::Distribution" => Of {
            region: Some("us-east-1"),
            ..Of::new(
                "AWS/CloudFront",
                &[("DistributionId", id), ("Region", "Global")],
            )
        },
        "AWS::Cognito::UserPool" => Of::new("AWS/Cognito", &[("UserPool", id)]),
        _ => Of::new("AWS/DynamoDB", &[("TableName", id)]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dimensions_by_type() {
        let stack = Stack {
            stack_id: "arn:aws:cloudformation:eu-west-1:123456789012:stack/shop-dev/1".to_owned(),
            ..Stack::default()
        };
        for (kind, physical, expected) in [
            (
                "AWS::SQS::Queue",
                "https://sqs/1/jobs",
                "AWS/SQS QueueName=jobs",
            ),
            (
                "AWS::SNS::Topic",
                "arn:aws:sns:r:1:news",
                "AWS/SNS TopicName=news",
            ),
            ("AWS::Events::Rule", "bus|rule", "AWS/Events RuleName=rule"),
            ("AWS::DynamoDB::Table", "t", "AWS/DynamoDB TableName=t"),
            (
                "AWS::OpenSearchService::Domain",
                "d",
                "AWS/ES DomainName=d ClientId=123456789012",
            ),
            (
                "AWS::ElasticLoadBalancingV2::LoadBalancer",
                "arn:aws:elasticloadbalancing:r:1:loadbalancer/app/web/50dc",
                "AWS/ApplicationELB LoadBalancer=app/web/50dc",
            ),
            (
                "AWS::S3::Bucket",
                "b",
                "AWS/S3 BucketName=b StorageType=AllStorageTypes",
            ),
        ] {
            let found = Found {
                logical_id: "X".to_owned(),
                physical_id: physical.to_owned(),
                kind: kind.to_owned(),
            };
            let of = plain(&found, &stack, "NumberOfObjects");
            let dimensions: Vec<String> = of
                .dimensions
                .iter()
                .map(|(name, value)| format!("{name}={value}"))
                .collect();
            assert_eq!(
                format!("{} {}", of.namespace, dimensions.join(" ")),
                expected
            );
        }
    }
}
