//! The services Windlass calls: hosts, signing names, protocols.
//!
//! Facts of AWS's public API, one line each. Not here: which of their actions may be called.

use super::shape::{Protocol, Reach, ServiceShape};
use Protocol::{Ec2Query, Json10, Json11, Query, RestJson, RestXml};

const fn json(
    name: &'static str,
    env_suffix: &'static str,
    protocol: Protocol,
    target_prefix: &'static str,
) -> ServiceShape {
    ServiceShape {
        name,
        endpoint_prefix: name,
        signing_name: name,
        permission_prefix: name,
        env_suffix,
        protocol,
        target_prefix,
        api_version: "",
        xml_namespace: "",
        reach: Reach::Regional,
    }
}

const fn query(
    name: &'static str,
    env_suffix: &'static str,
    api_version: &'static str,
) -> ServiceShape {
    ServiceShape {
        api_version,
        ..json(name, env_suffix, Query, "")
    }
}

const fn rest_json(name: &'static str, env_suffix: &'static str) -> ServiceShape {
    json(name, env_suffix, RestJson, "")
}

const fn rest_xml(
    name: &'static str,
    env_suffix: &'static str,
    xml_namespace: &'static str,
) -> ServiceShape {
    ServiceShape {
        xml_namespace,
        ..json(name, env_suffix, RestXml, "")
    }
}

const fn at(shape: ServiceShape, endpoint_prefix: &'static str) -> ServiceShape {
    ServiceShape {
        endpoint_prefix,
        ..shape
    }
}

/// Signed and permitted under another name than users say.
const fn signed(shape: ServiceShape, signing_name: &'static str) -> ServiceShape {
    ServiceShape {
        signing_name,
        permission_prefix: signing_name,
        ..shape
    }
}

const fn permitted(shape: ServiceShape, permission_prefix: &'static str) -> ServiceShape {
    ServiceShape {
        permission_prefix,
        ..shape
    }
}

const fn global(shape: ServiceShape) -> ServiceShape {
    ServiceShape {
        reach: Reach::Global,
        ..shape
    }
}

macro_rules! services {
    ($($(#[doc = $doc:literal])* $constant:ident = $shape:expr;)*) => {
        $($(#[doc = $doc])* pub static $constant: ServiceShape = $shape;)*
        /// Every service, by the name users say.
        pub static ALL: &[&ServiceShape] = &[$(&$constant),*];
    };
}

services! {
    /// Certificate Manager.
    ACM = json("acm", "ACM", Json11, "CertificateManager");
    /// API Gateway, HTTP and WebSocket APIs.
    APIGATEWAYV2 = at(signed(rest_json("apigatewayv2", "APIGATEWAYV2"), "apigateway"), "apigateway");
    /// Groups of machines.
    AUTOSCALING = query("autoscaling", "AUTO_SCALING", "2011-01-01");
    /// Batch.
    BATCH = rest_json("batch", "BATCH");
    /// CloudFormation.
    CLOUDFORMATION = query("cloudformation", "CLOUDFORMATION", "2010-05-15");
    /// CloudFront.
    CLOUDFRONT = global(rest_xml("cloudfront", "CLOUDFRONT", "http://cloudfront.amazonaws.com/doc/2020-05-31/"));
    /// CloudTrail.
    CLOUDTRAIL = json("cloudtrail", "CLOUDTRAIL", Json11, "com.amazonaws.cloudtrail.v20131101.CloudTrail_20131101");
    /// CloudWatch.
    CLOUDWATCH = permitted(at(signed(query("cloudwatch", "CLOUDWATCH", "2010-08-01"), "monitoring"), "monitoring"), "cloudwatch");
    /// CodeBuild.
    CODEBUILD = json("codebuild", "CODEBUILD", Json11, "CodeBuild_20161006");
    /// Cognito user pools.
    COGNITO_IDP = json("cognito-idp", "COGNITO_IDENTITY_PROVIDER", Json11, "AWSCognitoIdentityProviderService");
    /// DynamoDB.
    DYNAMODB = json("dynamodb", "DYNAMODB", Json10, "DynamoDB_20120810");
    /// EC2.
    EC2 = ServiceShape { protocol: Ec2Query, ..query("ec2", "EC2", "2016-11-15") };
    /// Container registries.
    ECR = at(json("ecr", "ECR", Json11, "AmazonEC2ContainerRegistry_V20150921"), "api.ecr");
    /// Container services.
    ECS = json("ecs", "ECS", Json11, "AmazonEC2ContainerServiceV20141113");
    /// ElastiCache.
    ELASTICACHE = query("elasticache", "ELASTICACHE", "2015-02-02");
    /// Load balancers.
    ELBV2 = at(signed(query("elbv2", "ELASTIC_LOAD_BALANCING_V2", "2015-12-01"), "elasticloadbalancing"), "elasticloadbalancing");
    /// EventBridge.
    EVENTS = json("events", "EVENTBRIDGE", Json11, "AWSEvents");
    /// Identities and permissions.
    IAM = global(query("iam", "IAM", "2010-05-08"));
    /// Kinesis streams.
    KINESIS = json("kinesis", "KINESIS", Json11, "Kinesis_20131202");
    /// Lambda.
    LAMBDA = rest_json("lambda", "LAMBDA");
    /// CloudWatch Logs.
    LOGS = json("logs", "CLOUDWATCH_LOGS", Json11, "Logs_20140328");
    /// OpenSearch domains (their management, not their data).
    OPENSEARCH = at(signed(rest_json("opensearch", "OPENSEARCH"), "es"), "es");
    /// Relational databases.
    RDS = query("rds", "RDS", "2014-10-31");
    /// Resource tags across services.
    TAGGING = permitted(json("tagging", "RESOURCE_GROUPS_TAGGING_API", Json11, "ResourceGroupsTaggingAPI_20170126"), "tag");
    /// DNS.
    ROUTE53 = global(rest_xml("route53", "ROUTE_53", "https://route53.amazonaws.com/doc/2013-04-01/"));
    /// Object storage; buckets are in the path.
    S3 = rest_xml("s3", "S3", "http://s3.amazonaws.com/doc/2006-03-01/");
    /// Secrets.
    SECRETSMANAGER = json("secretsmanager", "SECRETS_MANAGER", Json11, "secretsmanager");
    /// Quotas.
    SERVICE_QUOTAS = at(signed(json("service-quotas", "SERVICE_QUOTAS", Json11, "ServiceQuotasV20190624"), "servicequotas"), "servicequotas");
    /// Step Functions.
    SFN = at(signed(json("sfn", "SFN", Json10, "AWSStepFunctions"), "states"), "states");
    /// Topics.
    SNS = query("sns", "SNS", "2010-03-31");
    /// Queues.
    SQS = json("sqs", "SQS", Json10, "AmazonSQS");
    /// Systems Manager.
    SSM = json("ssm", "SSM", Json11, "AmazonSSM");
    /// Security tokens.
    STS = query("sts", "STS", "2011-06-15");
}

/// A service by the name users say.
pub fn named(name: &str) -> Option<&'static ServiceShape> {
    ALL.iter().copied().find(|service| service.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_service_has_the_facts_its_protocol_needs() {
        for service in ALL {
            let json = matches!(service.protocol, Json10 | Json11);
            let query = matches!(service.protocol, Query | Ec2Query);
            assert_eq!(!service.target_prefix.is_empty(), json, "{}", service.name);
            assert_eq!(!service.api_version.is_empty(), query, "{}", service.name);
            assert_eq!(
                named(service.name).map(|found| found.name),
                Some(service.name)
            );
        }
    }
}
