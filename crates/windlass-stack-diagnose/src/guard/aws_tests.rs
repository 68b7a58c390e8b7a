//! The table: what is in it, under which names, and what is not.

use std::collections::BTreeSet;

use serde_json::json;
use windlass_ports::aws::Protocol;

use super::*;

#[test]
fn names_of_sdks_and_command_lines_are_understood() {
    for (service, command, permission) in [
        ("sts", "GetCallerIdentity", "sts:GetCallerIdentity"),
        ("lambda", "ListFunctionsCommand", "lambda:ListFunctions"),
        (
            "@aws-sdk/client-lambda",
            "ListFunctionsCommand",
            "lambda:ListFunctions",
        ),
        ("Lambda", "listFunctions", "lambda:ListFunctions"),
        ("lambda", "list-functions", "lambda:ListFunctions"),
        ("cloudwatch-logs", "FilterLogEvents", "logs:FilterLogEvents"),
        ("CloudWatchLogs", "StartQuery", "logs:StartQuery"),
        ("cloudtrail", "LookupEvents", "cloudtrail:LookupEvents"),
        ("dynamodb", "Scan", "dynamodb:Scan"),
        ("dynamodb", "Query", "dynamodb:Query"),
        ("dynamodb", "BatchGetItem", "dynamodb:BatchGetItem"),
        (
            "stepfunctions",
            "DescribeExecution",
            "states:DescribeExecution",
        ),
        ("eventbridge", "ListRules", "events:ListRules"),
        (
            "elastic-load-balancing-v2",
            "DescribeRules",
            "elasticloadbalancing:DescribeRules",
        ),
        (
            "cognito-identity-provider",
            "ListUserPools",
            "cognito-idp:ListUserPools",
        ),
        ("s3", "ListObjectsV2Command", "s3:ListObjectsV2"),
        ("ec2", "describe-vpcs", "ec2:DescribeVpcs"),
    ] {
        let allowed = allow(service, command).unwrap();
        assert_eq!(allowed.shape.permission(), permission);
    }
}

#[test]
fn writes_secrets_and_unknown_names_are_refused() {
    for (service, command) in [
        ("dynamodb", "BatchWriteItem"),
        ("dynamodb", "BatchExecuteStatement"),
        ("dynamodb", "ExecuteStatement"),
        ("dynamodb", "PutItem"),
        ("secretsmanager", "GetSecretValue"),
        ("secretsmanager", "GetSecretValueCommand"),
        ("secretsmanager", "get-secret-value"),
        ("secretsmanager", "BatchGetSecretValue"),
        ("ssm", "GetParameter"),
        ("ssm", "GetParameters"),
        ("ssm", "GetParametersByPath"),
        ("ssm", "GetParameterHistory"),
        ("ssm", "SendCommand"),
        ("kms", "Decrypt"),
        ("lambda", "GetFunction"),
        ("lambda", "Invoke"),
        ("lambda", "UpdateFunctionCode"),
        ("ecr", "GetAuthorizationToken"),
        ("ecr", "BatchDeleteImage"),
        ("cognito-idp", "DescribeUserPoolClient"),
        ("cognito-idp", "AdminGetUser"),
        ("sqs", "ReceiveMessage"),
        ("sqs", "PurgeQueue"),
        ("s3", "GetObject"),
        ("s3", "DeleteObject"),
        ("s3", "PutBucketPolicy"),
        ("cloudformation", "DeleteStack"),
        ("cloudformation", "DetectStackDrift"),
        ("iam", "CreateUser"),
        ("iam", "ListAccessKeys"),
        ("sts", "AssumeRole"),
        ("sts", "GetSessionToken"),
        ("ec2", "TerminateInstances"),
        ("ec2", "GetPasswordData"),
        ("ec2", "DescribeInstanceAttribute"),
        ("rds", "DownloadDBLogFilePortion"),
        ("logs", "DeleteLogGroup"),
        ("logs", "GetLogEventsAndDelete"),
        ("ecs", "ExecuteCommand"),
        ("nosuch", "ListThings"),
        ("", ""),
        ("lambda", ""),
        ("lambda", "Command"),
    ] {
        assert!(allow(service, command).is_err(), "{service} {command}");
    }
    insta::assert_snapshot!(allow("secretsmanager", "GetSecretValue").unwrap_err(), @"secretsmanager GetSecretValue is not allowed: it shows a secret; secret_get shows it masked (rule aws.action)");
    insta::assert_snapshot!(allow("kinesis", "PutRecord").unwrap_err(), @"PutRecord of kinesis is not among the actions that only read: ListStreams, DescribeStreamSummary, ListShards (rule aws.action)");
    assert_eq!(allow("kms", "Encrypt").unwrap_err().rule, Rule::AwsService);
}

#[test]
fn the_table_is_consistent() {
    let mut seen = BTreeSet::new();
    for allowed in actions() {
        let shape = &allowed.shape;
        assert!(
            seen.insert(shape.permission()),
            "{} stands twice",
            shape.permission()
        );
        let rest = matches!(
            shape.service.protocol,
            Protocol::RestJson | Protocol::RestXml
        );
        assert_eq!(
            rest,
            shape.path != "/" || shape.action == "ListBuckets",
            "{}",
            shape.action
        );
        if rest && shape.service.name != "batch" {
            assert!(matches!(shape.method, "GET" | "HEAD"), "{}", shape.action);
        }
        let reads = [
            "Get", "List", "Describe", "Head", "Lookup", "Scan", "Query", "Filter",
        ]
        .iter()
        .any(|verb| shape.action.starts_with(verb));
        assert!(
            reads
                || ["SimulatePrincipalPolicy", "StartQuery", "BatchGetItem"]
                    .contains(&shape.action),
            "{}",
            shape.action
        );
    }
    assert_eq!(seen.len(), 133);
}

#[test]
fn environments_are_masked() {
    let mut answer = json!({ "Environment": { "Variables": { "KEY": "canary-canary" } } });
    allow("lambda", "GetFunctionConfiguration")
        .unwrap()
        .mask(&mut answer);
    assert_eq!(answer["Environment"]["Variables"]["KEY"], "cana...nary");
    let mut answer = json!({ "taskDefinition": { "containerDefinitions": [{ "environment": [{ "name": "KEY", "value": "canary-canary" }] }] } });
    allow("ecs", "DescribeTaskDefinition")
        .unwrap()
        .mask(&mut answer);
    assert!(!answer.to_string().contains("canary-canary"));
}
