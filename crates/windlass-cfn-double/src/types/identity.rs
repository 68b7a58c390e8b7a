//! Physical ids: what `Ref` answers and which ARN belongs to it, per type.

use serde_json::Value;

use crate::ids::Ids;
use crate::template::eval::scalar;

/// Where a resource is made; goes into names and ARNs.
#[derive(Clone, Debug)]
pub struct Naming<'a> {
    pub account: &'a str,
    pub region: &'a str,
    pub stack: &'a str,
    pub logical_id: &'a str,
}

/// The identity of one physical resource.
#[derive(Clone, Debug, PartialEq)]
pub struct Physical {
    /// What `Ref` answers.
    pub id: String,
    pub name: String,
    pub arn: String,
    /// The template chose the name, so a second one cannot exist at the same time.
    pub is_named: bool,
}

/// Type, naming property, pattern of the id, pattern of the ARN.
///
/// `{name}` is the naming property or a generated name; `{Property}` is that property; `{lower}`
/// is the name in lower case; `#n` are n hexadecimal digits, `@n` n letters and digits.
type Row = (&'static str, &'static str, &'static str, &'static str);

const ROWS: &[Row] = &[
    (
        "AWS::ApiGatewayV2::Api",
        "",
        "#10",
        "arn:aws:apigateway:{region}::/apis/{id}",
    ),
    ("AWS::ApiGatewayV2::Authorizer", "", "#6", ""),
    ("AWS::ApiGatewayV2::ApiMapping", "", "#6", ""),
    (
        "AWS::ApiGatewayV2::DomainName",
        "DomainName",
        "{name}",
        "arn:aws:apigateway:{region}::/domainnames/{name}",
    ),
    ("AWS::ApiGatewayV2::Integration", "", "#7", ""),
    ("AWS::ApiGatewayV2::Route", "", "#7", ""),
    (
        "AWS::ApiGatewayV2::Stage",
        "StageName",
        "{name}",
        "arn:aws:apigateway:{region}::/apis/{ApiId}/stages/{name}",
    ),
    ("AWS::ApiGatewayV2::VpcLink", "", "#6", ""),
    (
        "AWS::Batch::ComputeEnvironment",
        "ComputeEnvironmentName",
        "{arn}",
        "arn:aws:batch:{region}:{account}:compute-environment/{name}",
    ),
    (
        "AWS::Batch::JobDefinition",
        "JobDefinitionName",
        "{arn}",
        "arn:aws:batch:{region}:{account}:job-definition/{name}:%",
    ),
    (
        "AWS::Batch::JobQueue",
        "JobQueueName",
        "{arn}",
        "arn:aws:batch:{region}:{account}:job-queue/{name}",
    ),
    (
        "AWS::CertificateManager::Certificate",
        "",
        "{arn}",
        "arn:aws:acm:{region}:{account}:certificate/#32",
    ),
    (
        "AWS::CloudFront::Distribution",
        "",
        "E@13",
        "arn:aws:cloudfront::{account}:distribution/{id}",
    ),
    (
        "AWS::CloudFront::Function",
        "Name",
        "{arn}",
        "arn:aws:cloudfront::{account}:function/{name}",
    ),
    ("AWS::CloudFront::CachePolicy", "", "#32", ""),
    ("AWS::CloudFront::OriginAccessControl", "", "E@13", ""),
    (
        "AWS::CloudFront::CloudFrontOriginAccessIdentity",
        "",
        "E@13",
        "",
    ),
    ("AWS::CloudFront::OriginRequestPolicy", "", "#32", ""),
    (
        "AWS::CloudWatch::Alarm",
        "AlarmName",
        "{name}",
        "arn:aws:cloudwatch:{region}:{account}:alarm:{name}",
    ),
    ("AWS::Cognito::IdentityPool", "", "{region}:#32", ""),
    (
        "AWS::Cognito::UserPool",
        "",
        "{region}_@9",
        "arn:aws:cognito-idp:{region}:{account}:userpool/{id}",
    ),
    ("AWS::Cognito::UserPoolClient", "", "#26", ""),
    ("AWS::Cognito::UserPoolDomain", "Domain", "{name}", ""),
    (
        "AWS::Cognito::UserPoolIdentityProvider",
        "ProviderName",
        "{name}",
        "",
    ),
    (
        "AWS::DynamoDB::GlobalTable",
        "TableName",
        "{name}",
        "arn:aws:dynamodb:{region}:{account}:table/{name}",
    ),
    (
        "AWS::DynamoDB::Table",
        "TableName",
        "{name}",
        "arn:aws:dynamodb:{region}:{account}:table/{name}",
    ),
    ("AWS::EC2::EIP", "", "203.0.113.%", ""),
    ("AWS::EC2::InternetGateway", "", "igw-#17", ""),
    ("AWS::EC2::LaunchTemplate", "", "lt-#17", ""),
    ("AWS::EC2::NatGateway", "", "nat-#17", ""),
    ("AWS::EC2::RouteTable", "", "rtb-#17", ""),
    ("AWS::EC2::SecurityGroup", "", "sg-#17", ""),
    ("AWS::EC2::Subnet", "", "subnet-#17", ""),
    (
        "AWS::EC2::SubnetRouteTableAssociation",
        "",
        "rtbassoc-#17",
        "",
    ),
    ("AWS::EC2::VPC", "", "vpc-#17", ""),
    ("AWS::EC2::VPCEndpoint", "", "vpce-#17", ""),
    (
        "AWS::ECR::Repository",
        "RepositoryName",
        "{lower}",
        "arn:aws:ecr:{region}:{account}:repository/{lower}",
    ),
    (
        "AWS::ECS::Cluster",
        "ClusterName",
        "{name}",
        "arn:aws:ecs:{region}:{account}:cluster/{name}",
    ),
    (
        "AWS::ECS::Service",
        "ServiceName",
        "{arn}",
        "arn:aws:ecs:{region}:{account}:service/{Cluster}/{name}",
    ),
    (
        "AWS::ECS::TaskDefinition",
        "",
        "{arn}",
        "arn:aws:ecs:{region}:{account}:task-definition/{Family}:%",
    ),
    (
        "AWS::EFS::AccessPoint",
        "",
        "fsap-#17",
        "arn:aws:elasticfilesystem:{region}:{account}:access-point/{id}",
    ),
    (
        "AWS::EFS::FileSystem",
        "",
        "fs-#17",
        "arn:aws:elasticfilesystem:{region}:{account}:file-system/{id}",
    ),
    ("AWS::EFS::MountTarget", "", "fsmt-#17", ""),
    (
        "AWS::ElastiCache::CacheCluster",
        "ClusterName",
        "{lower}",
        "",
    ),
    ("AWS::ElastiCache::ParameterGroup", "", "{lower}", ""),
    (
        "AWS::ElastiCache::ReplicationGroup",
        "ReplicationGroupId",
        "{lower}",
        "",
    ),
    (
        "AWS::ElastiCache::SubnetGroup",
        "CacheSubnetGroupName",
        "{lower}",
        "",
    ),
    (
        "AWS::ElasticLoadBalancingV2::Listener",
        "",
        "{arn}",
        "arn:aws:elasticloadbalancing:{region}:{account}:listener/app/{name}/#16/#16",
    ),
    (
        "AWS::ElasticLoadBalancingV2::ListenerRule",
        "",
        "{arn}",
        "arn:aws:elasticloadbalancing:{region}:{account}:listener-rule/app/{name}/#16/#16/#16",
    ),
    (
        "AWS::ElasticLoadBalancingV2::LoadBalancer",
        "Name",
        "{arn}",
        "arn:aws:elasticloadbalancing:{region}:{account}:loadbalancer/app/{name}/#16",
    ),
    (
        "AWS::ElasticLoadBalancingV2::TargetGroup",
        "Name",
        "{arn}",
        "arn:aws:elasticloadbalancing:{region}:{account}:targetgroup/{name}/#16",
    ),
    (
        "AWS::Events::Archive",
        "ArchiveName",
        "{name}",
        "arn:aws:events:{region}:{account}:archive/{name}",
    ),
    (
        "AWS::Events::EventBus",
        "Name",
        "{name}",
        "arn:aws:events:{region}:{account}:event-bus/{name}",
    ),
    (
        "AWS::Events::Rule",
        "Name",
        "{name}",
        "arn:aws:events:{region}:{account}:rule/{name}",
    ),
    (
        "AWS::IAM::Group",
        "GroupName",
        "{name}",
        "arn:aws:iam::{account}:group/{name}",
    ),
    (
        "AWS::IAM::InstanceProfile",
        "InstanceProfileName",
        "{name}",
        "arn:aws:iam::{account}:instance-profile/{name}",
    ),
    (
        "AWS::IAM::ManagedPolicy",
        "ManagedPolicyName",
        "{arn}",
        "arn:aws:iam::{account}:policy/{name}",
    ),
    (
        "AWS::IAM::Role",
        "RoleName",
        "{name}",
        "arn:aws:iam::{account}:role/{name}",
    ),
    (
        "AWS::IAM::User",
        "UserName",
        "{name}",
        "arn:aws:iam::{account}:user/{name}",
    ),
    ("AWS::KMS::Alias", "AliasName", "{name}", ""),
    (
        "AWS::KMS::Key",
        "",
        "#32",
        "arn:aws:kms:{region}:{account}:key/{id}",
    ),
    (
        "AWS::Kinesis::Stream",
        "Name",
        "{name}",
        "arn:aws:kinesis:{region}:{account}:stream/{name}",
    ),
    (
        "AWS::Kinesis::StreamConsumer",
        "ConsumerName",
        "{arn}",
        "{StreamARN}/consumer/{name}:#10",
    ),
    (
        "AWS::Lambda::Alias",
        "",
        "{arn}",
        "arn:aws:lambda:{region}:{account}:function:{FunctionName}:{Name}",
    ),
    (
        "AWS::Lambda::EventSourceMapping",
        "",
        "#32",
        "arn:aws:lambda:{region}:{account}:event-source-mapping:{id}",
    ),
    (
        "AWS::Lambda::Function",
        "FunctionName",
        "{name}",
        "arn:aws:lambda:{region}:{account}:function:{name}",
    ),
    (
        "AWS::Lambda::LayerVersion",
        "",
        "{arn}",
        "arn:aws:lambda:{region}:{account}:layer:{LayerName}:%",
    ),
    (
        "AWS::Lambda::Url",
        "",
        "{arn}",
        "arn:aws:lambda:{region}:{account}:function:{TargetFunctionArn}",
    ),
    (
        "AWS::Lambda::Version",
        "",
        "{arn}",
        "arn:aws:lambda:{region}:{account}:function:{FunctionName}:%",
    ),
    (
        "AWS::Logs::LogGroup",
        "LogGroupName",
        "{name}",
        "arn:aws:logs:{region}:{account}:log-group:{name}:*",
    ),
    (
        "AWS::OpenSearchService::Domain",
        "DomainName",
        "{lower}",
        "arn:aws:es:{region}:{account}:domain/{lower}",
    ),
    (
        "AWS::RDS::DBCluster",
        "DBClusterIdentifier",
        "{lower}",
        "arn:aws:rds:{region}:{account}:cluster:{lower}",
    ),
    (
        "AWS::RDS::DBClusterParameterGroup",
        "DBClusterParameterGroupName",
        "{lower}",
        "",
    ),
    (
        "AWS::RDS::DBInstance",
        "DBInstanceIdentifier",
        "{lower}",
        "arn:aws:rds:{region}:{account}:db:{lower}",
    ),
    (
        "AWS::RDS::DBParameterGroup",
        "DBParameterGroupName",
        "{lower}",
        "",
    ),
    (
        "AWS::RDS::DBSubnetGroup",
        "DBSubnetGroupName",
        "{lower}",
        "",
    ),
    ("AWS::RDS::OptionGroup", "OptionGroupName", "{lower}", ""),
    ("AWS::Route53::RecordSet", "", "{Name}", ""),
    (
        "AWS::S3::Bucket",
        "BucketName",
        "{lower}",
        "arn:aws:s3:::{lower}",
    ),
    ("AWS::S3::BucketPolicy", "", "{Bucket}", ""),
    ("AWS::SNS::Subscription", "", "{TopicArn}:#32", ""),
    (
        "AWS::SNS::Topic",
        "TopicName",
        "{arn}",
        "arn:aws:sns:{region}:{account}:{name}",
    ),
    (
        "AWS::SQS::Queue",
        "QueueName",
        "https://sqs.{region}.amazonaws.com/{account}/{name}",
        "arn:aws:sqs:{region}:{account}:{name}",
    ),
    ("AWS::SSM::Document", "Name", "{name}", ""),
    (
        "AWS::SSM::Parameter",
        "Name",
        "{name}",
        "arn:aws:ssm:{region}:{account}:parameter/{name}",
    ),
    (
        "AWS::SecretsManager::Secret",
        "Name",
        "{arn}",
        "arn:aws:secretsmanager:{region}:{account}:secret:{name}-@6",
    ),
    (
        "AWS::ServiceDiscovery::PrivateDnsNamespace",
        "",
        "ns-#16",
        "arn:aws:servicediscovery:{region}:{account}:namespace/{id}",
    ),
    (
        "AWS::ServiceDiscovery::Service",
        "",
        "srv-#16",
        "arn:aws:servicediscovery:{region}:{account}:service/{id}",
    ),
    (
        "AWS::StepFunctions::StateMachine",
        "StateMachineName",
        "{arn}",
        "arn:aws:states:{region}:{account}:stateMachine:{name}",
    ),
    (
        "AWS::AutoScaling::AutoScalingGroup",
        "AutoScalingGroupName",
        "{name}",
        "arn:aws:autoscaling:{region}:{account}:autoScalingGroup:#32:autoScalingGroupName/{name}",
    ),
    (
        "AWS::CodeDeploy::Application",
        "ApplicationName",
        "{name}",
        "",
    ),
    (
        "AWS::CodeDeploy::DeploymentGroup",
        "DeploymentGroupName",
        "{name}",
        "",
    ),
    (
        "AWS::ECS::CapacityProvider",
        "Name",
        "{name}",
        "arn:aws:ecs:{region}:{account}:capacity-provider/{name}",
    ),
];

/// Types whose names live in a scope of their own, so that equal names may stand side by side.
const SCOPED: [&str; 4] = [
    "AWS::ApiGatewayV2::Stage",
    "AWS::ECS::Service",
    "AWS::Kinesis::StreamConsumer",
    "AWS::Cognito::UserPoolIdentityProvider",
];

/// The identity of a new physical resource.
pub fn physical(kind: &str, properties: &Value, naming: &Naming<'_>, ids: &mut Ids) -> Physical {
    let row = ROWS.iter().find(|row| row.0 == kind);
    let generated = || format!("{}-{}-", naming.stack, naming.logical_id);
    let chosen = row
        .filter(|row| !row.1.is_empty())
        .and_then(|row| properties.get(row.1))
        .map(scalar);
    let is_named = chosen.is_some() && !SCOPED.contains(&kind);
    let name = chosen.unwrap_or_else(|| generated() + &ids.code(12));
    let service = kind
        .split("::")
        .nth(1)
        .unwrap_or("custom")
        .to_ascii_lowercase();
    let fallback = format!("arn:aws:{service}:{{region}}:{{account}}:{{id}}");
    let (id_pattern, arn_pattern) = match row {
        Some((_, _, id, "")) => (*id, fallback.as_str()),
        Some((_, _, id, arn)) => (*id, *arn),
        None => ("{name}", fallback.as_str()),
    };
    let mut fill = |pattern: &str, id: &str, arn: &str| {
        let text = random(pattern, ids);
        substitute(&text, &|field| match field {
            "name" => Some(name.clone()),
            "lower" => Some(name.to_ascii_lowercase()),
            "region" => Some(naming.region.to_owned()),
            "account" => Some(naming.account.to_owned()),
            "id" => Some(id.to_owned()),
            "arn" => Some(arn.to_owned()),
            "Cluster" => Some(last_part(properties, "Cluster", "default")),
            "FunctionName" | "TargetFunctionArn" => Some(last_part(properties, field, "function")),
            property => properties.get(property).map(scalar),
        })
    };
    let (id, arn) = if id_pattern == "{arn}" {
        let arn = fill(arn_pattern, "", "");
        (arn.clone(), arn)
    } else {
        let id = fill(id_pattern, "", "");
        let arn = fill(arn_pattern, &id, "");
        (id, arn)
    };
    Physical {
        id,
        name,
        arn,
        is_named,
    }
}

/// A name, also where a whole ARN is given.
fn last_part(properties: &Value, property: &str, otherwise: &str) -> String {
    let text = properties.get(property).map(scalar).unwrap_or_default();
    let part = text.rsplit([':', '/']).next().unwrap_or_default();
    if part.is_empty() { otherwise } else { part }.to_owned()
}

/// Replaces `#n`, `@n` and `%`.
fn random(pattern: &str, ids: &mut Ids) -> String {
    let mut text = String::new();
    let mut rest = pattern.chars().peekable();
    while let Some(character) = rest.next() {
        match character {
            '%' => text.push_str(&(ids.serial() % 250 + 1).to_string()),
            '#' | '@' => {
                let mut digits = String::new();
                while let Some(digit) = rest.next_if(char::is_ascii_digit) {
                    digits.push(digit);
                }
                let length = digits.parse().unwrap_or(8);
                text.push_str(&match character {
                    '#' => ids.hex(length),
                    _ => ids.code(length),
                });
            }
            other => text.push(other),
        }
    }
    text
}

/// Replaces `{field}`; an unknown one becomes empty.
fn substitute(pattern: &str, value: &dyn Fn(&str) -> Option<String>) -> String {
    let mut text = String::new();
    let mut rest = pattern;
    while let Some((before, after)) = rest.split_once('{') {
        text.push_str(before);
        let (field, after) = after.split_once('}').unwrap_or((after, ""));
        text.push_str(&value(field).unwrap_or_default());
        rest = after;
    }
    text + rest
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn ids_have_the_form_of_their_type() {
        let naming = Naming {
            account: "123456789012",
            region: "eu-west-1",
            stack: "shop",
            logical_id: "Thing",
        };
        let mut ids = Ids::new(1);
        let mut id =
            |kind: &str, properties: Value| physical(kind, &properties, &naming, &mut ids).id;
        assert_eq!(
            id("AWS::Lambda::Function", json!({"FunctionName": "f"})),
            "f"
        );
        assert!(id("AWS::Lambda::Function", json!({})).starts_with("shop-Thing-"));
        assert!(id("AWS::S3::Bucket", json!({})).starts_with("shop-thing-"));
        assert_eq!(
            id("AWS::SQS::Queue", json!({"QueueName": "q"})),
            "https://sqs.eu-west-1.amazonaws.com/123456789012/q"
        );
        assert_eq!(
            id("AWS::SNS::Topic", json!({"TopicName": "t"})),
            "arn:aws:sns:eu-west-1:123456789012:t"
        );
        assert_eq!(id("AWS::EC2::VPC", json!({})).len(), "vpc-".len() + 17);
        assert_eq!(
            id(
                "AWS::Lambda::Alias",
                json!({"FunctionName": "arn:aws:lambda:eu-west-1:1:function:f", "Name": "live"})
            ),
            "arn:aws:lambda:eu-west-1:123456789012:function:f:live"
        );
        assert!(id("AWS::Unheard::Of", json!({})).starts_with("shop-Thing-"));
    }
}
