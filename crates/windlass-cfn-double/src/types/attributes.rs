//! Values of `Fn::GetAtt`: plausible, of the right form, the same on every question.

use serde_json::Value;

use super::Physical;
use crate::template::eval::scalar;

/// Attributes that exist besides the read-only properties of the schemas: `Ref` under another name,
/// or parts of an attribute that the schemas show whole.
const ADDITIONAL: &[(&str, &str)] = &[
    ("AWS::AutoScaling::AutoScalingGroup", "AutoScalingGroupName"),
    ("AWS::DynamoDB::Table", "TableName"),
    ("AWS::EC2::SecurityGroup", "GroupId"),
    ("AWS::EC2::VPC", "CidrBlock"),
    ("AWS::EC2::Subnet", "AvailabilityZone"),
    ("AWS::ECS::Service", "Name"),
    ("AWS::OpenSearchService::Domain", "Arn"),
    ("AWS::OpenSearchService::Domain", "DomainArn"),
    ("AWS::OpenSearchService::Domain", "DomainEndpoint"),
    ("AWS::RDS::DBCluster", "Endpoint.Address"),
    ("AWS::RDS::DBCluster", "Endpoint.Port"),
    ("AWS::RDS::DBCluster", "ReadEndpoint.Address"),
    ("AWS::SNS::Topic", "TopicName"),
    ("AWS::SQS::Queue", "QueueName"),
    ("AWS::SSM::Parameter", "Type"),
    ("AWS::SSM::Parameter", "Value"),
    ("AWS::StepFunctions::StateMachine", "Name"),
];

pub fn is_additional(kind: &str, attribute: &str) -> bool {
    ADDITIONAL.contains(&(kind, attribute))
}

/// The value of one attribute of a resource that exists.
pub fn attribute(
    kind: &str,
    physical: &Physical,
    properties: &Value,
    region: &str,
    attribute: &str,
) -> Value {
    let Physical { id, name, arn, .. } = physical;
    let lower = name.to_ascii_lowercase();
    let port = |otherwise: &str| {
        properties
            .get("Port")
            .map_or_else(|| otherwise.to_owned(), scalar)
    };
    let text = match (kind, attribute) {
        ("AWS::S3::Bucket", "DomainName") => format!("{id}.s3.amazonaws.com"),
        ("AWS::S3::Bucket", "RegionalDomainName") => format!("{id}.s3.{region}.amazonaws.com"),
        ("AWS::S3::Bucket", "DualStackDomainName") => {
            format!("{id}.s3.dualstack.{region}.amazonaws.com")
        }
        ("AWS::S3::Bucket", "WebsiteURL") => {
            format!("http://{id}.s3-website-{region}.amazonaws.com")
        }
        ("AWS::ApiGatewayV2::Api", "ApiEndpoint") => {
            format!("https://{id}.execute-api.{region}.amazonaws.com")
        }
        ("AWS::Lambda::Url", "FunctionUrl") => format!(
            "https://{}.lambda-url.{region}.on.aws/",
            lower.replace('-', "")
        ),
        ("AWS::Lambda::Version", "Version") => id.rsplit(':').next().unwrap_or_default().to_owned(),
        ("AWS::SQS::Queue", "QueueUrl") => id.clone(),
        ("AWS::SQS::Queue", "QueueName") | ("AWS::SNS::Topic", "TopicName") => name.clone(),
        ("AWS::DynamoDB::Table" | "AWS::DynamoDB::GlobalTable", "StreamArn") => {
            format!("{arn}/stream/2026-01-01T00:00:00.000")
        }
        ("AWS::Cognito::UserPool", "ProviderName") => {
            format!("cognito-idp.{region}.amazonaws.com/{id}")
        }
        ("AWS::Cognito::UserPool", "ProviderURL") => {
            format!("https://cognito-idp.{region}.amazonaws.com/{id}")
        }
        ("AWS::ElasticLoadBalancingV2::LoadBalancer", "DNSName") => {
            format!("{lower}.{region}.elb.amazonaws.com")
        }
        ("AWS::ElasticLoadBalancingV2::LoadBalancer", "LoadBalancerFullName") => arn
            .split_once("loadbalancer/")
            .map(|(_, rest)| rest.to_owned())
            .unwrap_or_default(),
        ("AWS::ElasticLoadBalancingV2::TargetGroup", "TargetGroupFullName") => {
            arn.rsplit(':').next().unwrap_or_default().to_owned()
        }
        ("AWS::CloudFront::Distribution", "DomainName") => {
            format!("{}.cloudfront.net", id.to_ascii_lowercase())
        }
        ("AWS::RDS::DBInstance" | "AWS::RDS::DBCluster", "Endpoint.Port") => {
            let engine = properties.get("Engine").map(scalar).unwrap_or_default();
            port(if engine.contains("mysql") || engine.contains("mariadb") {
                "3306"
            } else {
                "5432"
            })
        }
        ("AWS::RDS::DBInstance", "Endpoint.Address") => {
            format!("{id}.double.{region}.rds.amazonaws.com")
        }
        ("AWS::RDS::DBCluster", "Endpoint.Address") => {
            format!("{id}.cluster-double.{region}.rds.amazonaws.com")
        }
        ("AWS::RDS::DBCluster", "ReadEndpoint.Address") => {
            format!("{id}.cluster-ro-double.{region}.rds.amazonaws.com")
        }
        ("AWS::OpenSearchService::Domain", "DomainEndpoint") => {
            format!("search-{id}.{region}.es.amazonaws.com")
        }
        ("AWS::EC2::SecurityGroup", "VpcId") | ("AWS::EC2::Subnet", "VpcId") => properties
            .get("VpcId")
            .map_or_else(|| "vpc-default".to_owned(), scalar),
        (kind, name) if kind.starts_with("AWS::ElastiCache::") && name.ends_with("Port") => {
            port("6379")
        }
        (kind, name) if kind.starts_with("AWS::ElastiCache::") && name.ends_with("Address") => {
            format!("{id}.double.{region}.cache.amazonaws.com")
        }
        (_, name) if name == "Arn" || name.ends_with("Arn") || name.ends_with("ARN") => arn.clone(),
        (_, name) if name.ends_with("Id") || name == "Ref" => id.clone(),
        (_, wanted) if wanted == "Name" || wanted.ends_with("Name") => name.clone(),
        (_, other) => match properties.get(other) {
            Some(value) => return value.clone(),
            None => format!("{lower}-{}", other.to_ascii_lowercase()),
        },
    };
    Value::String(text)
}
