//! JSON services: an action is its name, so there is nothing more to say about most.
//!
//! Facts of AWS's public API. A line here is a permission: nothing that writes or shows a secret.

use windlass_ports::aws::ActionShape;
use windlass_ports::aws::services::{
    ACM, CLOUDTRAIL, COGNITO_IDP, DYNAMODB, ECR, ECS, EVENTS, KINESIS, LOGS, SECRETSMANAGER,
    SERVICE_QUOTAS, SFN, SQS, SSM,
};

use super::{Allowed, masked, masks, plain};

pub(super) static ACTIONS: &[Allowed] = &[
    plain(ActionShape::new(&LOGS, "DescribeLogGroups")),
    plain(ActionShape::new(&LOGS, "DescribeLogStreams")),
    plain(ActionShape::new(&LOGS, "FilterLogEvents")),
    plain(ActionShape::new(&LOGS, "GetLogEvents")),
    plain(ActionShape::new(&LOGS, "StartQuery")),
    plain(ActionShape::new(&LOGS, "GetQueryResults")),
    plain(ActionShape::new(&CLOUDTRAIL, "LookupEvents")),
    plain(ActionShape::new(&DYNAMODB, "ListTables")),
    plain(ActionShape::new(&DYNAMODB, "DescribeTable")),
    plain(ActionShape::new(&DYNAMODB, "DescribeTimeToLive")),
    plain(ActionShape::new(&DYNAMODB, "DescribeContinuousBackups")),
    plain(ActionShape::new(&DYNAMODB, "GetItem")),
    plain(ActionShape::new(&DYNAMODB, "BatchGetItem")),
    plain(ActionShape::new(&DYNAMODB, "Query")),
    plain(ActionShape::new(&DYNAMODB, "Scan")),
    plain(ActionShape::new(&SQS, "ListQueues")),
    plain(ActionShape::new(&SQS, "GetQueueUrl")),
    plain(ActionShape::new(&SQS, "GetQueueAttributes")),
    plain(ActionShape::new(&EVENTS, "ListEventBuses")),
    plain(ActionShape::new(&EVENTS, "ListRules")),
    plain(ActionShape::new(&EVENTS, "DescribeRule")),
    masked(
        ActionShape::new(&EVENTS, "ListTargetsByRule"),
        masks::TARGET_PARAMETERS,
    ),
    plain(ActionShape::new(&KINESIS, "ListStreams")),
    plain(ActionShape::new(&KINESIS, "DescribeStreamSummary")),
    plain(ActionShape::new(&KINESIS, "ListShards")),
    plain(ActionShape::new(&SFN, "ListStateMachines")),
    plain(ActionShape::new(&SFN, "DescribeStateMachine")),
    plain(ActionShape::new(&SFN, "ListExecutions")),
    plain(ActionShape::new(&SFN, "DescribeExecution")),
    plain(ActionShape::new(&SFN, "GetExecutionHistory")),
    plain(ActionShape::new(&ECS, "ListClusters")),
    plain(ActionShape::new(&ECS, "DescribeClusters")),
    plain(ActionShape::new(&ECS, "ListServices")),
    plain(ActionShape::new(&ECS, "DescribeServices")),
    plain(ActionShape::new(&ECS, "ListTasks")),
    masked(ActionShape::new(&ECS, "DescribeTasks"), masks::CONTAINERS),
    masked(
        ActionShape::new(&ECS, "DescribeTaskDefinition"),
        masks::CONTAINERS,
    ),
    plain(ActionShape::new(&ECR, "DescribeRepositories")),
    plain(ActionShape::new(&ECR, "DescribeImages")),
    plain(ActionShape::new(&COGNITO_IDP, "ListUserPools")),
    plain(ActionShape::new(&COGNITO_IDP, "DescribeUserPool")),
    plain(ActionShape::new(&COGNITO_IDP, "ListUserPoolClients")),
    plain(ActionShape::new(&SECRETSMANAGER, "ListSecrets")),
    plain(ActionShape::new(&SECRETSMANAGER, "DescribeSecret")),
    plain(ActionShape::new(&SSM, "DescribeParameters")),
    plain(ActionShape::new(&ACM, "ListCertificates")),
    plain(ActionShape::new(&ACM, "DescribeCertificate")),
    plain(ActionShape::new(&SERVICE_QUOTAS, "ListServiceQuotas")),
    plain(ActionShape::new(&SERVICE_QUOTAS, "GetServiceQuota")),
];
